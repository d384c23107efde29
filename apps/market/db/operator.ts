// Statements of the operator's page beside the market's figures: the next deadlines, overdue swaps,
// and the costs of the gas keys. Each statement is read by an index and has a limit.

import type { ChainKey } from '@parley/core/families.ts';
import type { LegName } from '@parley/core/trade.ts';
import { many } from '@parley/host/postgres/statements.ts';

/** The steps that end by a deadline (docs/metrics.md). */
export type DeadlineStep = 'fund_first' | 'fund_second' | 'reveal' | 'refund';

export type Deadline = {
  readonly step: DeadlineStep;
  /** Unix seconds. */
  readonly at: number;
  readonly swapId: string;
  /** The leg that is to be paid, claimed or refunded. */
  readonly leg: LegName;
};

const other = `case long_leg when 'a' then 'b' else 'a' end`;
const next = (step: DeadlineStep, column: string, status: string, leg: string) =>
  `(select '${step}' as step, ${column} as at, id as "swapId", ${leg} as leg from swaps
    where status = '${status}' and ${column} > $1 order by ${column} limit $3)`;

/** The next ones of each step, so many of each, as the figures count them (gauges.ts). */
export const deadlinesAhead = many<
  [now: number, chains: readonly ChainKey[], limit: number],
  Deadline
>('operator_deadlines')`
  ${next('fund_first', 'initiator_fund_by', 'agreed', 'long_leg')}
  union all ${next('fund_second', 'counterparty_fund_by', 'initiator_funded', other)}
  union all ${next('reveal', 'reveal_by', 'counterparty_funded', other)}
  union all (select 'refund' as step, first.at, first.swap_id as "swapId", first.leg
    from unnest($2::text[]) c (chain) cross join lateral (
      select (terms ->> 'timelock')::bigint as at, swap_id, leg from escrows e
        where e.chain = c.chain and not done and facts ->> 'balance' <> '0'
          and (terms ->> 'timelock')::bigint > $1
        order by (terms ->> 'timelock')::bigint limit $3) first)`;

export type LegAmount = {
  readonly swapId: string;
  readonly leg: LegName;
  readonly chain: ChainKey;
  readonly amount: bigint;
  /** Somebody else's words where the token was listed. */
  readonly symbol: string;
  readonly decimals: number;
};

export const legAmounts = many<[swapIds: readonly string[]], LegAmount>('operator_legs')`
  select l.swap_id as "swapId", l.leg, l.chain, l.amount, a.symbol, a.decimals
    from legs l join assets a on a.id = l.asset_id where l.swap_id = any($1::uuid[])`;

export type OverdueSwap = {
  readonly swapId: string;
  readonly status: string;
  readonly at: number;
};

/** The swaps that the market should have moved on at `by`, longest first. */
export const overdueSwaps = many<[by: number, limit: number], OverdueSwap>('operator_overdue')`
  select id as "swapId", status, due_at as at from swaps where due_at <= $1
    order by due_at limit $2`;

export type GasPaid = {
  readonly chain: ChainKey;
  readonly transactions: number;
  /** The sum of them, base units of the native coin. */
  readonly charged: bigint;
};

/** The newest transactions of each gas key, so many of each chain. */
export const gasPaid = many<[chains: readonly ChainKey[], limit: number], GasPaid>('operator_gas')`
  select c.chain, count(*) as transactions, sum(a.charged)::numeric(78, 0) as charged
    from unnest($1::text[]) c (chain) cross join lateral (
      select charged from keeper_attempts where chain = c.chain order by signed_at desc limit $2) a
    group by c.chain`;

export type NativeCoin = {
  readonly chain: ChainKey;
  readonly symbol: string;
  readonly decimals: number;
};

/** The coins of chains themselves, as the settings name them. */
export const nativeCoins = many<[chains: readonly ChainKey[]], NativeCoin>('operator_coins')`
  select chain, symbol, decimals from assets where address is null and chain = any($1::text[])`;
