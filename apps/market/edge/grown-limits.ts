// How many requests an account has in a window: PARLEY_RATE_LIMIT, and a tenth of it more for each
// settled swap of late that counts, up to ten times as many. The reason is decision 0036.
//
// A process that meets an account waits for its first count, briefly: a maker that comes back at
// full speed after a deploy is refused nothing. From then on it is read beside requests, kept for
// minutes, and where it cannot be read the limit stays what it was.

import { setTimeout } from 'node:timers/promises';
import { settledCounts } from '../db/settled.ts';
import type { Deps } from '../ports/deps.ts';
import { inBatches } from './batches.ts';
import type { LimitOf } from './budgets.ts';

/**
 * A swap that settled in these days raises the limit of its account by a tenth, each counterparty
 * once a UTC day.
 */
export const settledDays = 30;
/**
 * Tenths of the limit: the least is of an account without a settled swap, the other one the most.
 */
const leastTenths = 10;
const mostTenths = 100;
const keptMs = 600_000;
/** After a failure. */
const againMs = 60_000;
/** Accounts whose count is remembered: as many as keys. The one read longest ago goes first. */
const mostKnown = 20_000;
/** Longest that requests of an account wait for its first count: it takes a few milliseconds. */
const firstCountMs = 250;
/** Accounts that are being counted: others keep their limit until they ask again. */
const mostAsked = 1_000;
const batches = { queriesAtOnce: 1, questionsOfQuery: 100 } as const;

/** Requests in a window of an account with so many settled swaps that count. */
export function grownLimit(rateLimit: number, settled: number): number {
  return Math.floor((rateLimit * Math.min(leastTenths + settled, mostTenths)) / 10);
}

export type GrownTimes = {
  readonly clock: () => number;
  /** Over after so many milliseconds, or when it is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

const realTimes: GrownTimes = {
  clock: () => performance.now(),
  wait: (ms, signal) => setTimeout(ms, undefined, { signal, ref: false }).catch(() => {}),
};

/** As far as it is known; waits for an account's first count, at most 250 ms. */
export function createGrownLimits(
  { settings: { rateLimit }, db, now }: Pick<Deps, 'settings' | 'db' | 'now'>,
  { clock, wait }: GrownTimes = realTimes,
): LimitOf {
  const known = new Map<string, { readonly limit: number; readonly until: number }>();
  /** Over when the count is known, or has been waited for. */
  const asked = new Map<string, Promise<unknown>>();
  const count = inBatches(batches, async (accountIds: readonly string[]) => {
    const until = Math.floor(now() / 1_000);
    const rows = await settledCounts(db, accountIds, { from: until - settledDays * 86_400, until });
    const settled = new Map(rows.map((each) => [each.accountId, each.settled]));
    return accountIds.map((id) => settled.get(id) ?? 0);
  });
  const keep = (accountId: string, limit: number, ms: number) => {
    known.delete(accountId);
    const [oldest] = known.keys();
    if (known.size >= mostKnown && oldest !== undefined) known.delete(oldest);
    known.set(accountId, { limit, until: clock() + ms });
  };
  const ask = (accountId: string, limit: number) => {
    if (asked.has(accountId) || asked.size >= mostAsked) return;
    const counted = new AbortController();
    const counting = count(accountId)
      .then(
        (settled) => keep(accountId, grownLimit(rateLimit, settled), keptMs),
        () => keep(accountId, limit, againMs),
      )
      .finally(() => {
        asked.delete(accountId);
        counted.abort();
      });
    asked.set(accountId, Promise.race([counting, wait(firstCountMs, counted.signal)]));
  };
  return (accountId) => {
    const entry = known.get(accountId);
    const limit = entry?.limit ?? rateLimit;
    if (entry === undefined || clock() >= entry.until) ask(accountId, limit);
    if (entry !== undefined) return limit;
    const counting = asked.get(accountId);
    return counting?.then(() => known.get(accountId)?.limit ?? rateLimit) ?? limit;
  };
}
