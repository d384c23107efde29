// Blocking an account, for abuse or by law: it begins nothing new, and what it offers leaves the
// market. Its open swaps go on in every part, for nobody else is to lose by it. Refusals are made
// where business begins: at the gate (edge/blocked.ts) and in the transactions of RFQs, quotes,
// acceptances, levels, keys, wallets and webhooks.

import type { Database } from '../db/database.ts';
import { deleteLevels } from '../db/levels.ts';
import { listOwn, lockRfqs, wholeBook } from '../db/rfqs.ts';
import { isLive } from './negotiation.ts';
import { endRfq } from './rfqs.ts';
import { type Some, withdrawAny } from './withdrawals.ts';

/** In one transaction: each may have `mostThreads` threads to close. */
const rfqsAtOnce = 25;
/** Some 10 ms of work, for which their RFQs stay locked. */
const quotesAtOnce = 100;

export type Swept = { readonly rfqs: number; readonly quotes: number; readonly levels: number };

/**
 * The offers of a blocked account leave the market, also those that it alone has accepted. Again is
 * fine: quotes that were begun before the block go with the next pass of prune.ts.
 */
export async function withdrawBlocked(db: Database, accountId: string, at: Date): Promise<Swept> {
  const levels = await deleteLevels(db, accountId, at);
  const rfqs = await cancelAll(db, accountId, at);
  let quotes = 0;
  let after: string | null = null;
  for (;;) {
    const of = { makerId: accountId, after, limit: quotesAtOnce };
    const done: Some = await db.transaction((tx) => withdrawAny(tx, of, at));
    quotes += done.withdrawn;
    if (done.next === null) return { rfqs, quotes, levels };
    after = done.next;
  }
}

async function cancelAll(db: Database, creatorId: string, at: Date): Promise<number> {
  const filters = { ...wholeBook, creatorId };
  let count = 0;
  let before: string | null = null;
  for (;;) {
    const page = { before, limit: rfqsAtOnce };
    const found = await db.transaction(async (tx) => {
      const own = await listOwn(tx, filters, page, at);
      const locked = await lockRfqs(
        tx,
        own.map(({ id }) => id),
      );
      const live = locked.filter((each) => isLive(each, at.getTime()));
      for (const each of live) await endRfq(tx, each, at);
      count += live.length;
      return own;
    });
    if (found.length < rfqsAtOnce) return count;
    before = found.at(-1)!.id;
  }
}
