// Brings what the feed tells into one order: appends to its log what waits in the outbox, then what
// has expired. Any process may do it; one at a time does.

import { appendExpired, appendFromOutbox, lockFeedLog, tellAppended } from '../db/feed-log.ts';
import type { Deps } from '../deps.ts';

/** Rows of a kind in one transaction: some 10 ms of work. */
const batch = 500;

export type Sequenced = {
  /** Somebody else was at it: what waits is appended by them, or by the next try. */
  readonly busy: boolean;
  readonly appended: number;
  /** More may wait. */
  readonly more: boolean;
};

export function sequenceFeed(deps: Pick<Deps, 'db' | 'now'>): Promise<Sequenced> {
  return deps.db.transaction(async (tx) => {
    if (!(await lockFeedLog(tx))) return { busy: true, appended: 0, more: false };
    const moved = await appendFromOutbox(tx, batch);
    // No RFQ is gone before it was created.
    const ended = moved === batch ? 0 : await appendExpired(tx, new Date(deps.now()), batch);
    const appended = moved + ended;
    if (appended > 0) await tellAppended(tx);
    return { busy: false, appended, more: moved === batch || ended === batch };
  });
}
