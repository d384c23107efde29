// The reserve of a party of an open swap beyond its budget and its network's: neither its quotes
// nor its neighbours ever starve its claims. Requests on that swap, and broadcasts, which its
// claims need as well. It begins with the first funding that is seen, and ends with the swap:
// accounts that cost nothing would else agree with each other for it.

import type { FastifyRequest } from 'fastify';
import type { Database } from '../db/database.ts';
import { isPartyOfOpen } from '../db/swaps.ts';
import { isUuid } from '../ports/ids.ts';
import type { Budgets } from './budgets.ts';

/** Whether this request is taken although the budget is out. Fails where the database does. */
export type Reserve = (accountId: string, part: string, client: string) => Promise<boolean>;

export const broadcasts = 'broadcasts';

/** The swap that a request is about, or that it broadcasts; null where nothing is kept for it. */
export function reservedPart({ routeOptions, params }: FastifyRequest): string | null {
  const { url = '' } = routeOptions;
  if (url === '/v1/tx/broadcast') return broadcasts;
  if (!url.startsWith('/v1/swaps/:id')) return null;
  const { id } = params as { id: string };
  return isUuid(id) ? id.toLowerCase() : null;
}

export function createReserve(
  db: Database,
  budgets: Pick<Budgets, 'spendReserve' | 'spend' | 'giveBack'>,
): Reserve {
  return async (accountId, part, client) => {
    // Questions that find nothing are counted: past its budget nobody has them without end.
    if (!(await budgets.spend('strangers', accountId)).allowed) return false;
    const { allowed } = await budgets.spendReserve(accountId, part, client);
    const swapId = part === broadcasts ? null : part;
    if (allowed && !(await isPartyOfOpen(db, accountId, swapId))) return false;
    await budgets.giveBack('strangers', accountId);
    return allowed;
  };
}
