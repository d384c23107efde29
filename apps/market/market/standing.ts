// How accounts kept what they agreed to. Told with RFQs and threads, of whole days that are over. A
// count that moved with every swap would say who traded with whom.

import { ParleyError } from '@parley/core/errors.ts';
import { countStandings, findStanding, type Standing } from '../db/agreements.ts';
import type { Database, Tx } from '../db/database.ts';
import { followSettled, type Rfq } from '../db/rfqs.ts';
import { endedDays, leastFundings, mostRecorded, standingSeconds } from './bounds.ts';

const daySeconds = 86_400;
/** Accounts that a process remembers to have counted today. */
const mostRemembered = 20_000;

const counted = new WeakMap<Database, Map<string, number>>();

/**
 * Counts for these accounts up to the beginning of today (UTC), where that was not done. Returns
 * whether it was now.
 */
export async function recount(
  db: Database,
  accountIds: readonly string[],
  nowMs: number,
): Promise<boolean> {
  const until = todayOf(nowMs);
  const known = counted.get(db) ?? new Map<string, number>();
  counted.set(db, known);
  const due = [...new Set(accountIds)].filter((id) => known.get(id) !== until);
  if (due.length === 0) return false;
  const found = await countStandings(db, due, windowTo(until));
  await followSettled(db, due);
  if (known.size + due.length > mostRemembered) known.clear();
  for (const id of due) known.set(id, until);
  return found.length > 0;
}

/** The beginning of its day (UTC), Unix seconds. */
const todayOf = (nowMs: number) => Math.floor(nowMs / 1_000 / daySeconds) * daySeconds;

const windowTo = (until: number) => ({
  from: until - standingSeconds,
  until,
  limit: mostRecorded,
  leastFundings,
});

/**
 * Throws `too_few_settled` where the RFQ wants more settled swaps of its makers, of whole days that
 * are over, as it is shown. `whose`: the maker's in a sentence.
 */
export function assertSettled(
  { id: rfqId, minSettled }: Pick<Rfq, 'id' | 'minSettled'>,
  settled: number,
  whose: 'yours' | 'the maker’s',
): void {
  if (minSettled === null || settled >= minSettled) return;
  throw new ParleyError(
    'too_few_settled',
    `this RFQ takes quotes of accounts with at least ${minSettled} settled swaps; ${whose} has ` +
      `${settled} of the ${endedDays - 1} days before today (UTC), a counterparty once a day`,
    { rfqId, minSettled, settled },
  );
}

/** The same at an acceptance, which may come days after the quote. */
export async function assertStillSettled(
  tx: Tx,
  rfq: Rfq,
  maker: { readonly id: string; readonly isCaller: boolean },
  nowMs: number,
): Promise<void> {
  if (rfq.minSettled === null) return;
  await countStandings(tx, [maker.id], windowTo(todayOf(nowMs)));
  const standing = await findStanding(tx, maker.id);
  assertSettled(rfq, standing?.settled ?? 0, maker.isCaller ? 'yours' : 'the maker’s');
}

/** The result of `read`, with the standings of these accounts as of today. */
export async function withStandings<Found>(
  { db, now }: { readonly db: Database; readonly now: () => number },
  read: () => Promise<Found>,
  accountsOf: (found: Found) => readonly string[],
): Promise<Found> {
  const found = await read();
  return (await recount(db, accountsOf(found), now())) ? read() : found;
}

const at = (unixSeconds: number) => new Date(unixSeconds * 1_000).toISOString();

export function standingView({ from, until, ...counts }: Standing) {
  return { ...counts, countedFrom: at(from), countedUntil: at(until) };
}
