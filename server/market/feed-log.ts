// Brings what the feed tells into one order: appends to its log what waits in the outbox, then what
// has expired. Any process may do it; one at a time does.

import { appendExpired, appendFromOutbox, lockFeedLog, tellAppended } from '../db/feed-log.ts';
import type { Deps } from '../ports/deps.ts';

/** Rows of a kind in one transaction: some 10 ms of work. */
const batch = 500;

export type Sequenced = {
  /** Somebody else was at it: what waits is appended by them, or by the next try. */
  readonly busy: boolean;
  readonly appended: number;
  /** More may wait. */
  readonly more: boolean;
};

/** `expiry`: also what has expired since it was looked at. */
export async function sequenceFeed(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  expiry = true,
): Promise<Sequenced> {
  const moved = await appendFromOutbox(db, batch);
  if (moved === null) return { busy: true, appended: 0, more: false };
  // No RFQ is gone before it was created.
  if (!expiry || moved === batch) return { busy: false, appended: moved, more: moved === batch };
  const ended = await db.transaction(async (tx) => {
    if (!(await lockFeedLog(tx))) return 0;
    const count = await appendExpired(tx, new Date(now()), batch);
    if (count > 0) await tellAppended(tx);
    return count;
  });
  return { busy: false, appended: moved + ended, more: ended === batch };
}
