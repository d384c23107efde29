// How an account kept what it agreed to. Told to those who negotiate with it, of whole days that
// are over. A count that moved with every swap would say who traded with whom.

import { type Kept, keptBy } from '../db/agreements.ts';
import type { Tx } from '../db/database.ts';
import { endedDays, leastFundings, mostRecorded } from './bounds.ts';

const daySeconds = 86_400;

export type AccountRecord = Omit<Kept, 'funded'> & {
  /** Unix seconds: the swaps counted were agreed from the first and before the second. */
  readonly from: number;
  readonly until: number;
};

/** Swaps of 29 whole days: what ended with nothing at stake is kept for 30. */
export async function recordOf(tx: Tx, accountId: string, nowMs: number): Promise<AccountRecord> {
  const until = Math.floor(nowMs / 1_000 / daySeconds) * daySeconds;
  const from = until - (endedDays - 1) * daySeconds;
  const kept = await keptBy(tx, accountId, { from, until, limit: mostRecorded });
  if (kept === null) throw new Error('a count gave no row');
  const { funded, medianFundSeconds, ...counts } = kept;
  const enough = funded >= leastFundings;
  return { ...counts, medianFundSeconds: enough ? medianFundSeconds : null, from, until };
}
