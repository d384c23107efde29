// The book as a maker first sees it, read once for all who come within a moment. It goes with the
// number of the log from before it was read: an entry that it may lack comes after that number.

import type { Place } from '../../db/feed-log.ts';
import { findHoldings } from '../../db/holdings.ts';
import { listAddressed, listBook, wholeBook } from '../../db/rfqs.ts';
import { withStandings } from '../../market/standing.ts';
import { type RfqView, rfqView } from '../../market/views.ts';
import type { Deps } from '../../ports/deps.ts';
import { workOf } from '../../ports/work.ts';
import type { Hub } from './hub.ts';

/**
 * RFQs of a snapshot, and private ones of an account that resumes. `GET /v1/rfqs?cursor=` has the
 * rest.
 */
const mostInSnapshot = 100;
/** How stale a change by another process may show; it is sent after the snapshot too. */
const maxAgeMs = 250;

export type Snapshot = { readonly at: Place; readonly rfqs: readonly RfqView[] };
export type Snapshots = {
  /** Without the account's own; `minSettled`: settled swaps of whoever posted, null = any. */
  for(accountId: string, minSettled: number | null): Promise<Snapshot>;
  /** Private RFQs for addresses of the account, newest first. */
  addressed(accountId: string): Promise<RfqView[]>;
  close(): void;
};

type Kept = Snapshot & { readonly readAt: number; readonly nowMs: number; readonly until: number };

const newest = { before: null, limit: mostInSnapshot };

export function createSnapshots(deps: Pick<Deps, 'db' | 'now'>, hub: Hub): Snapshots {
  const { db, now } = deps;
  let kept: Promise<Kept> | null = null;
  const forget = () => {
    kept = null;
  };
  const close = workOf(db).on(['feed'], forget);

  const read = async (without: string | null, minSettled: number | null): Promise<Kept> => {
    const at = hub.position();
    const readAt = performance.now();
    const nowMs = now();
    const found = await withStandings(
      { db, now },
      () => listBook(db, { ...wholeBook, minSettled }, newest, new Date(nowMs), without),
      (rfqs) => rfqs.map(({ creatorId }) => creatorId),
    );
    const until = Math.min(...found.map((each) => each.expiresAt.getTime()));
    return { at, rfqs: found.map((each) => rfqView(each, nowMs, false)), readAt, nowMs, until };
  };

  const shared = async (): Promise<Kept> => {
    const before = kept;
    if (before !== null) {
      const known = await before;
      const isFresh = performance.now() - known.readAt < maxAgeMs;
      if (kept === before && isFresh && now() < known.until && now() >= known.nowMs) return known;
      if (kept === before) forget();
    }
    // A client that comes while it is read shares it, unless the book changes meanwhile.
    kept ??= read(null, null);
    const reading = kept;
    reading.catch(() => kept === reading && forget());
    return reading;
  };

  return {
    for: async (accountId, minSettled) => {
      if (minSettled !== null) return read(accountId, minSettled);
      const { at, rfqs } = await shared();
      if (rfqs.some((each) => each.creatorId === accountId)) return read(accountId, null);
      return { at, rfqs };
    },
    addressed: async (accountId) => {
      const { addresses } = await findHoldings(db, accountId);
      const nowMs = now();
      const filters = { ...wholeBook, addresses, without: accountId };
      const found = await listAddressed(db, filters, newest, new Date(nowMs));
      return found.map((each) => rfqView(each, nowMs, true));
    },
    close,
  };
}
