// The watchtower as operators see it: its workers, the waiting jobs, the cost of a day, and stuck
// jobs. Reads alone, each with a limit.

import type { ChainKey } from '@parley/core/families.ts';
import { columns, many } from '@parley/host/postgres/statements.ts';

type ShownPost = {
  readonly chain: ChainKey;
  /** The address of the gas key. */
  readonly address: string;
  readonly seenAt: Date;
};

/** Where a watchtower of its own process was at work, and when last. */
export const postsShown = many<[], ShownPost>('keeper_shown_posts')`
  select ${columns('chain address seenAt')} from keeper_posts order by chain`;

type OpenJobs = {
  readonly chain: ChainKey;
  readonly purpose: string;
  readonly count: number;
  readonly failing: number;
  readonly reserve: bigint;
  readonly dueAt: Date;
};

export const openJobs = many<[limit: number], OpenJobs>('keeper_shown_jobs')`
  select chain, purpose, count(*) as count, count(*) filter (where failures > 0) as failing,
      sum(reserve)::numeric(78, 0) as reserve, min(due_at) as "dueAt"
    from (select chain, purpose, failures, reserve, due_at from keeper_jobs
      where state = 'open' limit $1) open
    group by chain, purpose order by chain, purpose`;

export type Spent = {
  readonly chain: ChainKey;
  readonly purpose: string | null;
  readonly transactions: number;
  readonly charged: bigint;
};

/** Signed from `since` on and before `until`, by what it was for; base units of the native coin. */
export const spentBetween = many<[chains: readonly ChainKey[], since: Date, until: Date], Spent>(
  'keeper_shown_spent',
)`
  select a.chain, a.purpose, count(*) as transactions,
      coalesce(sum(a.charged), 0)::numeric(78, 0) as charged
    from unnest($1::text[]) c (chain) join keeper_attempts a on a.chain = c.chain
      and a.signed_at >= $2 and a.signed_at < $3
    group by a.chain, a.purpose order by a.chain, a.purpose`;

/** Chains that a key has signed for. */
export const keeperChains = many<[], { readonly chain: ChainKey }>('keeper_shown_chains')`
  select chain from keeper_turns order by chain`;

type StuckJob = {
  readonly id: number;
  readonly chain: ChainKey;
  readonly purpose: string;
  readonly verb: string;
  readonly swapId: string;
  readonly leg: string;
  readonly failures: number;
  readonly lastFailure: string | null;
  readonly dueAt: Date;
  readonly createdAt: Date;
};

type Stuck = { readonly failures: number; readonly dueBefore: Date; readonly limit: number };

/** That failed so often, or that were due at `dueBefore` and are open. */
export const stuckJobs = many<[of: Stuck], StuckJob>('keeper_shown_stuck')`
  select ${columns(`id chain purpose verb swapId leg failures lastFailure dueAt createdAt`)}
    from keeper_jobs where state = 'open'
      and (failures >= :failures or due_at < :dueBefore)
    order by due_at limit :limit`;

type StuckAttempt = {
  readonly chain: ChainKey;
  readonly txid: string;
  readonly nonce: number | null;
  readonly outcome: string;
  readonly signedAt: Date;
};

/** Signed before then and neither mined nor given up. */
export const stuckAttempts = many<[before: Date, limit: number], StuckAttempt>(
  'keeper_shown_attempts',
)`
  select chain, txid, nonce, fate as outcome, signed_at as "signedAt" from keeper_attempts
    where fate in ('unknown', 'pending') and signed_at < $1 order by signed_at limit $2`;
