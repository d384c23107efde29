// The audience of an RFQ: everybody of a public one, the addressed maker of a private one, nobody
// of a private one that only has a link. And how that comes into one order: one process at a time
// appends to the log the waiting rows of the outbox, then the expired RFQs.

import type { Tx } from '../db/database.ts';
import { appendExpired, appendFromOutbox, lockFeedLog, nextExpiry } from '../db/feed-log.ts';
import { insertOutbox, type OutboxEntry } from '../db/outbox.ts';
import type { Rfq } from '../db/rfqs.ts';
import { notifyWork } from '../db/work.ts';
import type { Deps } from '../ports/deps.ts';
import { rfqView } from './views.ts';

/** Rows of a kind in one transaction: some 10 ms of work. */
const batch = 500;
/** RFQs that expire in one transaction: each may have `mostThreads` threads to close. */
const expiries = 25;

type Sequenced = {
  /** Somebody else was at it: they append the waiting rows, or the next try does. */
  readonly busy: boolean;
  readonly appended: number;
  /** More may wait. */
  readonly more: boolean;
  /** When the next RFQ expires; null = none, or nobody asked. */
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
    const count = await appendExpired(tx, at, expiries);
    if (count > 0) await notifyWork(tx, 'feed');
    return count;
  });
  return { busy: false, appended: moved + ended, more: ended === expiries, expiresAt };
}

const bodyAt = (at: Date) => (rfq: Rfq) => JSON.stringify(rfqView(rfq, at.getTime(), true));

/** It is on the book, or has left it. */
export function tellFeed(tx: Tx, kind: 'created' | 'cancelled', rfq: Rfq, at: Date): Promise<void> {
  return tell(tx, kind, [rfq], bodyAt(at), at);
}

/** Many have left the book with their asset, or are on it again. */
export function tellMany(
  tx: Tx,
  kind: 'created' | 'cancelled',
  rfqs: readonly Rfq[],
  at: Date,
): Promise<void> {
  return tell(tx, kind, rfqs, bodyAt(at), at, kind === 'created' ? { again: true } : {});
}

/** It has left the book in a way that only makers who asked for more are told of. */
export function tellGone(tx: Tx, rfq: Rfq, reason: 'agreed', at: Date): Promise<void> {
  return tell(tx, 'gone', [rfq], () => reason, at);
}

async function tell(
  tx: Tx,
  kind: 'created' | 'cancelled' | 'gone',
  rfqs: readonly Rfq[],
  bodyOf: (rfq: Rfq) => string,
  at: Date,
  more: { readonly again?: true } = {},
): Promise<void> {
  const entries = rfqs.flatMap((rfq): OutboxEntry[] => {
    const { id: rfqId, creatorId, visibility, targetAddress } = rfq;
    if (visibility === 'private' && targetAddress === null) return [];
    const payload = { rfqId, creatorId, targetAddress, body: bodyOf(rfq), ...more };
    return [{ topic: `feed.${kind}`, accountId: null, payload, at }];
  });
  await insertOutbox(tx, entries);
}
