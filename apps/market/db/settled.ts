// Which settled swaps count for an account: the one definition, for its rate limit and for what is
// told of it. The reason is decision 0036 in docs/decisions/README.md.
//
// A swap counts when both chains show both claims at depth (`counterparty_claimed`), so each costs
// the fees of four transactions. A counterparty counts once a UTC day of the agreement: its
// earliest swap of that day. One other account gives 30 of them in 30 days at most. A swap in which
// the market paid for the account's own claim costs it less: an account counts one of those a week.

import { many } from '@parley/host/postgres/statements.ts';

/**
 * Swaps that are walked of each side: an account that has settled more of late counts as having so
 * many.
 */
const mostSettledWalked = 1_000;

/** The market's gas key landed this claim. */
const relayed = (swapId: string, leg: 'a' | 'b') => `exists (
      select from keeper_jobs j join keeper_attempts a on a.job_id = j.id
        where j.swap_id = ${swapId} and j.leg = '${leg}' and j.verb = 'claim'
          and a.verb = 'claim' and a.fate in ('mined', 'deep') offset 0)`;

/**
 * Rows `swap_id, counterparty, day` (days since the epoch) of the swaps that count for `account`,
 * agreed from `from` on and before `until` (Unix seconds). Each argument is SQL.
 */
export const settledThatCount = (account: string, from: string, until: string): string => {
  // The maker claims leg b, and the taker leg a.
  const side = (own: string, other: string, claims: 'a' | 'b') => `
    (select id as swap_id, ${other}_id as counterparty, agreed_at / 86400 as day,
        ${relayed('swaps.id', claims)} as relayed
      from swaps where ${own}_id = ${account} and status = 'counterparty_claimed'
        and agreed_at >= ${from} and agreed_at < ${until}
      order by agreed_at desc limit ${mostSettledWalked})`;
  const week = 'case when relayed then day / 7 end, case when relayed then null else swap_id end';
  return `(select distinct on (${week}) swap_id, counterparty, day
    from (select distinct on (counterparty, day) *
        from (${side('maker', 'taker', 'b')} union all ${side('taker', 'maker', 'a')}) both_sides
        order by counterparty, day, relayed, swap_id) once_a_day
    order by ${week}, swap_id)`;
};

/** How many swaps count for each of these accounts, none left out; Unix seconds. */
export const settledCounts = many<
  [accountIds: readonly string[], window: { from: number; until: number }],
  { accountId: string; settled: number }
>('settled_counts')`
  select account as "accountId", (select count(*)::int
      from ${settledThatCount('account', ':from::bigint', ':until::bigint')} c) as settled
    from unnest($1::uuid[]) account`;
