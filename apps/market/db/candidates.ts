// Statements about tokens that are to be listed.

import type { ChainKey } from '@parley/core/families.ts';
import {
  changed,
  columns,
  count,
  did,
  is,
  many,
  none,
  one,
} from '@parley/host/postgres/statements.ts';

export type CandidateStatus = 'pending' | 'rejected' | 'expired';

export type Candidate = {
  readonly id: string;
  readonly chain: ChainKey;
  /** Canonical. */
  readonly address: string;
  /** `api` or `launchpad:<name>`. */
  readonly source: string;
  readonly accountId: string | null;
  readonly status: CandidateStatus;
  readonly reasons: readonly string[];
  readonly createdAt: Date;
  /** When the last check that counted began; null before the first. */
  readonly checkedAt: Date | null;
  readonly nextCheckAt: Date;
  readonly givesUpAt: Date;
};

const read = columns(`id chain address source accountId status reasons createdAt checkedAt
  nextCheckAt givesUpAt`);

export const findCandidate = one<[chain: ChainKey, address: string], Candidate>('candidates_find')`
  select ${read} from candidates where chain = $1 and address = $2`;

/** Newest first. */
export const listCandidates = many<[status: CandidateStatus | null, limit: number], Candidate>(
  'candidates_list',
)`
  select ${read} from candidates
    where ($1::text is null or status = $1) order by created_at desc, id limit $2`;

/** One decision on what becomes of this token at a time. */
export const lockToken = none<[chain: ChainKey, address: string]>('candidates_lock_token')`
  select pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))`;

/** Those that an account asked for and that are still checked. */
export const countPending = count<[accountId: string]>('candidates_count')`
  select count(*) from candidates where account_id = $1 and status = 'pending'`;

/** Those of a source that are still checked. */
export const countPendingOf = count<[source: string]>('candidates_count_of')`
  select count(*) from candidates where source = $1 and status = 'pending'`;

/**
 * Adds it, or writes over the one of this chain and address, which keeps its id, its source, and
 * the next check where that is later: somebody may have it in hand until then. Under `lockToken`.
 */
export const storeCandidate = none<[candidate: Candidate]>('candidates_store')`
  insert into candidates (id, chain, address, source, account_id, status, reasons, created_at,
      checked_at, next_check_at, gives_up_at)
    values (:id, :chain, :address, :source, :accountId, :status, :reasons::jsonb, :createdAt,
      :checkedAt, :nextCheckAt, :givesUpAt)
    on conflict (chain, address) do update set account_id = excluded.account_id,
      status = excluded.status, reasons = excluded.reasons, created_at = excluded.created_at,
      checked_at = excluded.checked_at, gives_up_at = excluded.gives_up_at,
      next_check_at = greatest(candidates.next_check_at, excluded.next_check_at)`;

/**
 * Adds it where nothing is known of its token, or only that somebody asked for it in its first day
 * and was refused. Returns whether it was added.
 */
export const addCandidate = did<[candidate: Candidate]>('candidates_add')`
  insert into candidates (id, chain, address, source, account_id, status, reasons,
      created_at, next_check_at, gives_up_at)
    select :id, :chain, :address, :source, :accountId, :status, :reasons::jsonb, :createdAt,
      :nextCheckAt, :givesUpAt
    where not exists (select 1 from assets where chain = :chain and address = :address)
    on conflict (chain, address) do update set source = excluded.source,
      status = excluded.status, next_check_at = excluded.next_check_at,
      gives_up_at = excluded.gives_up_at
    where candidates.status = 'rejected' and candidates.source = 'api'
      and candidates.checked_at < candidates.created_at + interval '1 day'
    returning id`;

export const dropCandidate = none<[chain: ChainKey, address: string]>('candidates_drop')`
  delete from candidates where chain = $1 and address = $2`;

const isDue = (isAsked: string) => `status = 'pending' and (source = 'api') = ${isAsked}
        and next_check_at <= $2 and chain = any($1::text[])`;

/** Whether a candidate or an asset of these chains is due, which is rare. */
export const areTokensDue = is<[chains: readonly ChainKey[], now: Date]>('tokens_are_due')`
  select exists (select from candidates where ${isDue('true')})
    or exists (select from candidates where ${isDue('false')})
    or exists (select from assets where delisted_at is null and next_check_at <= $2
        and source <> 'curated' and chain = any($1::text[]))`;

/**
 * Pending ones that are due, of these chains, not due again before `leaseEnds`: those that somebody
 * asked for, or those of launchpads.
 */
export const takeDueCandidates = many<
  [
    chains: readonly ChainKey[],
    now: Date,
    leaseEnds: Date,
    of: 'api' | 'launchpads',
    limit: number,
  ],
  Candidate
>('candidates_due')`
  update candidates set next_check_at = $3
    where id in (
      select id from candidates
      where ${isDue("($4 = 'api')")}
      order by next_check_at limit $5 for update skip locked)
    returning ${read}`;

/** Pending ones whose time is over before the instant expire; returns how many. */
export const expireCandidates = changed<[before: Date, limit: number]>('candidates_expire')`
  update candidates set status = 'expired'
    where id in (
      select id from candidates where status = 'pending' and gives_up_at < $1
      limit $2 for update skip locked)
    returning 1`;

/** Forgets what is no longer checked, by when that began; returns how many. */
export const pruneCandidates = changed<[before: Date, limit: number]>('candidates_prune')`
  delete from candidates
    where id in (
      select id from candidates where status <> 'pending' and gives_up_at < $1
      limit $2 for update skip locked)
    returning 1`;
