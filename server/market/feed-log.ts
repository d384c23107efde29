// Brings what the feed tells into one order: appends to its log what waits in the outbox, then what
// has expired. Any process may do it; one at a time does.

import { appendExpired, appendFromOutbox, lockFeedLog, nextExpiry } from '../db/feed-log.ts';
import { notifyWork } from '../db/work.ts';
import type { Deps } from '../ports/deps.ts';

/** Rows of a kind in one transaction: some 10 ms of work. */
const batch = 500;

export type Sequenced = {
  /** Somebody else was at it: what waits is appended by them, or by the next try. */
  readonly busy: boolean;
  readonly appended: number;
  /** More may wait. */
  readonly more: boolean;
  /** When the next RFQ expires; null = none, or nobody looked. */
  readonly expiresAt: Date | null;
};

/** `expiry`: also what has expired. */
export async function sequenceFeed(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  expiry = true,
): Promise<Sequenced> {
  const moved = await appendFromOutbox(db, batch);
  const nothing = { busy: false, more: false, expiresAt: null };
  if (moved === null) return { ...nothing, busy: true, appended: 0 };
  // No RFQ is gone before it was created.
  if (!expiry || moved === batch) return { ...nothing, appended: moved, more: moved === batch };
  const expiresAt = await nextExpiry(db);
  const at = new Date(now());
  if (expiresAt === null || expiresAt > at) return { ...nothing, appended: moved, expiresAt };
  const ended = await db.transaction(async (tx) => {
    if (!(await lockFeedLog(tx))) return 0;
    const count = await appendExpired(tx, at, batch);
    if (count > 0) await notifyWork(tx, 'feed');
    return count;
  });
  return { busy: false, appended: moved + ended, more: ended === batch, expiresAt };
}
