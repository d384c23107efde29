// How accounts kept what they agreed to. Told with RFQs and threads, of whole days that are over. A
// count that moved with every swap would say who traded with whom.

import { ParleyError } from '@parley/core/errors.ts';
import { countStandings, findStanding, type Standing } from '../db/agreements.ts';
import type { Database, Tx } from '../db/database.ts';
import { followSettled, type Rfq } from '../db/rfqs.ts';
import { sharedQuestion } from '../db/shared-question.ts';
import { endedDays, leastFundings, mostRecorded, standingSeconds } from './bounds.ts';

const daySeconds = 86_400;
/** Accounts that a process remembers to have counted today, or to be counting. */
const mostRemembered = 20_000;

/** The counts up to the beginning of one day. All requests of an account wait for one promise. */
type Day = {
  readonly until: number;
  readonly counted: Set<string>;
  readonly underway: Map<string, Promise<void>>;
  readonly count: (accountId: string) => Promise<unknown>;
};

const days = new WeakMap<Database, Day>();

/**
 * Counts for these accounts up to the beginning of today (UTC), where this process did not. Returns
 * whether it was now: rows that the caller read before may show the count of another day.
 */
export async function recount(
  db: Database,
  accountIds: readonly string[],
  nowMs: number,
): Promise<boolean> {
  const day = dayOf(db, todayOf(nowMs));
  const due = accountIds.filter((id) => !day.counted.has(id));
  if (due.length === 0) return false;
  await Promise.all(due.map((id) => day.underway.get(id) ?? begin(day, id)));
  return true;
}

function dayOf(db: Database, until: number): Day {
  const known = days.get(db);
  // A request of before midnight may come after it. Further ahead the clock was wrong.
  if (known?.until === until || known?.until === until + daySeconds) return known;
  const count = sharedQuestion(async (due) => {
    await countStandings(db, due, windowTo(until));
    await followSettled(db, due);
    return new Map();
  });
  const day: Day = { until, counted: new Set(), underway: new Map(), count };
  days.set(db, day);
  return day;
}

/** A failure is the answer of all who wait for it, and the next request counts again. */
function begin({ counted, underway, count }: Day, accountId: string): Promise<void> {
  const done = () => {
    if (counted.size >= mostRemembered) counted.clear();
    counted.add(accountId);
  };
  const counting = count(accountId)
    .then(done)
    .finally(() => underway.delete(accountId));
  underway.set(accountId, counting);
  return counting;
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

/** Counts begin and end with days, of which there are few: each thread shows four times. */
const written = new Map<number, string>();
const mostWritten = 100;

function at(unixSeconds: number): string {
  const known = written.get(unixSeconds);
  if (known !== undefined) return known;
  if (written.size >= mostWritten) written.clear();
  const text = new Date(unixSeconds * 1_000).toISOString();
  written.set(unixSeconds, text);
  return text;
}

export function standingView({ from, until, ...counts }: Standing) {
  return { ...counts, countedFrom: at(from), countedUntil: at(until) };
}
