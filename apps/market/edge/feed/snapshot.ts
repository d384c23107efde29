// The book as a maker first sees it, read once for all who come within a moment. It goes with the
// number of the log from before it was read: an entry that it may lack comes after that number.

import type { Place } from '../../db/feed-log.ts';
import { findHoldings } from '../../db/holdings.ts';
import { listAddressed, listBook, wholeBook } from '../../db/rfqs.ts';
import { bookOf, type Page } from '../../market/book.ts';
import { withStandings } from '../../market/standing.ts';
import { type RfqView, rfqView } from '../../market/views.ts';
import type { Deps } from '../../ports/deps.ts';
import type { Hub } from './hub.ts';

/**
 * RFQs of a snapshot, and private ones of an account that resumes. `GET /v1/rfqs?cursor=` has the
 * rest.
 */
const mostInSnapshot = 100;

export type Snapshot = { readonly at: Place; readonly rfqs: readonly RfqView[] };
export type Snapshots = {
  /** Without the account's own; `minSettled`: settled swaps of whoever posted, null = any. */
  for(accountId: string, minSettled: number | null): Promise<Snapshot>;
  /** Private RFQs for addresses of the account, newest first. */
  addressed(accountId: string): Promise<RfqView[]>;
};

const newest = { before: null, limit: mostInSnapshot };

export function createSnapshots(deps: Pick<Deps, 'db' | 'now'>, hub: Hub): Snapshots {
  const { db, now } = deps;
  const read = async (
    without: string | null,
    minSettled: number | null,
  ): Promise<Page<Snapshot>> => {
    const at = hub.position();
    const nowMs = now();
    const found = await withStandings(
      { db, now },
      () => listBook(db, { ...wholeBook, minSettled }, newest, new Date(nowMs), without),
      (rfqs) => rfqs.map(({ creatorId }) => creatorId),
    );
    const validUntilMs = Math.min(...found.map((each) => each.expiresAt.getTime()));
    return { value: { at, rfqs: found.map((each) => rfqView(each, nowMs, false)) }, validUntilMs };
  };

  return {
    for: async (accountId, minSettled) => {
      if (minSettled === null) {
        const shared = await bookOf(db).page('snapshot', now(), () => read(null, null));
        if (!shared.rfqs.some((each) => each.creatorId === accountId)) return shared;
      }
      return (await read(accountId, minSettled)).value;
    },
    addressed: async (accountId) => {
      const { addresses } = await findHoldings(db, accountId);
      const nowMs = now();
      const filters = { ...wholeBook, addresses, without: accountId };
      const found = await listAddressed(db, filters, newest, new Date(nowMs));
      return found.map((each) => rfqView(each, nowMs, true));
    },
  };
}
