// How many requests an account has in a window: PARLEY_RATE_LIMIT, and a tenth of it more for each
// settled swap of late that counts, up to ten times as many. The reason is decision 0036.
//
// It is counted beside requests and kept for minutes: until it is known, and where it cannot be
// read, the limit stays what it was.

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
/** Accounts that are being counted: others keep their limit until they ask again. */
const mostAsked = 1_000;
const batches = { queriesAtOnce: 1, questionsOfQuery: 100 } as const;

/** Requests in a window of an account with so many settled swaps that count. */
export function grownLimit(rateLimit: number, settled: number): number {
  return Math.floor((rateLimit * Math.min(leastTenths + settled, mostTenths)) / 10);
}

/** As far as it is known. */
export function createGrownLimits({
  settings: { rateLimit },
  db,
  now,
}: Pick<Deps, 'settings' | 'db' | 'now'>): LimitOf {
  const known = new Map<string, { readonly limit: number; readonly until: number }>();
  const asked = new Set<string>();
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
    known.set(accountId, { limit, until: performance.now() + ms });
  };
  const ask = (accountId: string, limit: number) => {
    if (asked.has(accountId) || asked.size >= mostAsked) return;
    asked.add(accountId);
    void count(accountId)
      .then(
        (settled) => keep(accountId, grownLimit(rateLimit, settled), keptMs),
        () => keep(accountId, limit, againMs),
      )
      .finally(() => asked.delete(accountId));
  };
  return (accountId) => {
    const entry = known.get(accountId);
    const limit = entry?.limit ?? rateLimit;
    if (entry === undefined || performance.now() >= entry.until) ask(accountId, limit);
    return limit;
  };
}
