// A swap as one of its two parties reaches it. To anybody else it does not exist.

import { ParleyError } from '@parley/core/errors.ts';
import type { Leg } from '@parley/core/swap.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import type { Tx } from '../db/database.ts';
import { sharedRows } from '../db/shared-question.ts';
import { partyOf, type Swap, swapById, swapsByIds } from '../db/swaps.ts';
import { isUuid } from '../ports/ids.ts';

type Mine = { readonly swap: Swap; readonly party: Party };

/** Throws `unknown_swap` for a malformed id, no such swap, and a stranger alike. */
export async function swapOfCaller(tx: Tx, id: string, accountId: string): Promise<Mine> {
  return mineOf(isUuid(id) ? await swapById(tx, id) : null, accountId);
}

/** The same for reads: those that wait share one question. */
export function sharedSwapsOfCallers(tx: Tx): (id: string, accountId: string) => Promise<Mine> {
  const find = sharedRows((ids) => swapsByIds(tx, ids));
  return async (id, accountId) =>
    mineOf(isUuid(id) ? await find(id.toLowerCase()) : null, accountId);
}

function mineOf(swap: Swap | null, accountId: string): Mine {
  const party = swap === null ? null : partyOf(swap, accountId);
  if (swap === null || party === null) {
    throw new ParleyError('unknown_swap', 'there is no such swap among yours', {});
  }
  return { swap, party };
}

/** Reads `{leg}` of a path. Throws `bad_leg`. */
export function legNamed(swap: Swap, text: string): Leg & { readonly leg: LegName } {
  if (text !== 'a' && text !== 'b') {
    throw new ParleyError('bad_leg', `a leg is "a" or "b", not "${text.slice(0, 20)}"`, {});
  }
  return swap.state.legs[text];
}
