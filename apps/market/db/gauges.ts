// The market's figures for who watches it. Each is read by an index and has a limit, so that none
// grows with what is stored; only the counts by status grow, to `mostSwaps`.

import { count, many, none, one, only } from '@parley/host/postgres/statements.ts';

/** Counted by status: past so many swaps that are not done, the rest is left out. */
export const mostSwaps = 200_000;
/** The limit of overdue steps that are counted: more is a disaster all the same. */
const most = '1000';

/** For the transaction: figures are worth no more than this of the database's time. */
export const limitFigures = none<[limit: string]>('gauges_limit')`
  select set_config('statement_timeout', $1, true)`;

type Swaps = { readonly status: string; readonly highValue: boolean; readonly count: number };

/** Those that are not done. From the index alone. */
export const swapsByStatus = many<[limit: number], Swaps>('gauges_swaps')`
  select status, high_value as "highValue", count(*) as count
    from (select status, high_value from swaps where not done limit $1) open
    group by status, high_value`;

type Deadline = { readonly step: string; readonly at: number };

const next = (step: string, column: string, status: string) =>
  `(select '${step}' as step, ${column} as at from swaps
    where status = '${status}' and ${column} > $1 order by ${column} limit 1)`;

/** The next one of each step, Unix seconds. `refund`: only for a leg that holds its payment. */
export const nextDeadlines = many<[now: number, chains: readonly string[]], Deadline>(
  'gauges_deadlines',
)`
  ${next('fund_first', 'initiator_fund_by', 'agreed')}
  union all ${next('fund_second', 'counterparty_fund_by', 'initiator_funded')}
  union all ${next('reveal', 'reveal_by', 'counterparty_funded')}
  union all (select 'refund' as step, min(at) as at
    from unnest($2::text[]) c (chain) cross join lateral (
      select (terms ->> 'timelock')::bigint as at from escrows e
        where e.chain = c.chain and not done and facts ->> 'balance' <> '0'
          and (terms ->> 'timelock')::bigint > $1
        order by (terms ->> 'timelock')::bigint limit 1) first
    having min(at) is not null)`;

type Overdue = { readonly step: string; readonly count: number; readonly at: number | null };
type About = { readonly chains: readonly string[]; readonly failures: number };

/** The steps that were due at `by` and not done, Unix seconds; `at`: the first of it. */
export const overdueSteps = many<[by: number, about: About], Overdue>('gauges_overdue')`
  select 'reconcile' as step, count(*) as count, min(due_at) as at
    from (select due_at from swaps where due_at <= $1 order by due_at limit ${most}) due
  union all select 'keeper', count(*), min(at)
    from (select case when failures >= :failures then extract(epoch from created_at)
          else extract(epoch from due_at) end::bigint as at
        from keeper_jobs where state = 'open' limit ${most}) due
    where at <= $1
  union all select 'refund', count(*), min(at)
    from unnest(:chains::text[]) c (chain) cross join lateral (
      select extract(epoch from due_at)::bigint as at from jobs
        where kind = 'refund ' || c.chain and due_at <= to_timestamp($1) and gave_up_at is null
        order by due_at limit ${most}) due`;

/** When the delivery was due that is due for longest; reads at most so many webhooks. */
export const oldestDelivery = one<[now: Date], { readonly at: Date | null }>('gauges_deliveries')`
  with recursive heads as (
      (select webhook_id, next_at, 1 as place from deliveries
        where state = 'waiting' and not behind order by webhook_id, next_at limit 1)
      union all
      select n.webhook_id, n.next_at, h.place + 1 from heads h cross join lateral
        (select webhook_id, next_at from deliveries
          where state = 'waiting' and not behind and webhook_id > h.webhook_id
          order by webhook_id, next_at limit 1) n
        where h.place < ${most}
    )
    select min(h.next_at) as at from heads h join webhooks w on w.id = h.webhook_id
      where h.next_at <= $1 and w.enabled and coalesce(w.held_until <= $1, true)`;

type Failing = {
  readonly count: number;
  readonly accounts: number;
  readonly since: Date | null;
};

export const failingWebhooks = only<[], Failing>('gauges_failing')`
  select count(*) as count, count(distinct account_id) as accounts, min(failing_since) as since
    from (select account_id, failing_since from webhooks where enabled and failing_since is not null
      order by failing_since limit ${most}) failing`;

/** As the last vacuum or analyze left it: counting them would read all. */
export const accountsAbout = count('gauges_accounts')`
  select greatest(reltuples, 0)::bigint from pg_class where oid = 'accounts'::regclass`;
