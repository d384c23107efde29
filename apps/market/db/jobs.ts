// Work that any process may do. A job is added in the transaction of its cause, one process has it
// in hand for a while, and it is gone once it is done. A process that dies leaves its jobs to
// others: each is due again when its time in hand is over.

import {
  changed,
  columns,
  count,
  many,
  none,
  unlessEmpty,
} from '@parley/host/postgres/statements.ts';
import type { SealedRow } from './sealed-rows.ts';
import { notifying } from './work.ts';

/** For example `email`, or `refund bitcoin`. */
export type JobKind = string;

export type NewJob = {
  readonly id: string;
  readonly kind: JobKind;
  /** The account that it is done for; null = none. */
  readonly accountId: string | null;
  readonly about: Readonly<Record<string, unknown>>;
  readonly sealed: Buffer | null;
  readonly keyVersion: number | null;
  readonly dueAt: Date;
};

export type Job = Omit<NewJob, 'dueAt'> & {
  /** This one included. It names the lease: a later one has another number. */
  readonly attempts: number;
};

/**
 * Adds them, and wakes the processes that do them. A job of that id which is there keeps its place,
 * and the lease that a process has of it ends: it is due again when that would have run out.
 */
export const addJobs = unlessEmpty(
  none<[jobs: readonly NewJob[], at: Date]>('jobs_add')`
  with added as (insert into jobs
      (id, kind, account_id, about, sealed, key_version, due_at, made_at)
    select n.*, $2 from unnest($1.id::text[], $1.kind::text[], $1.accountId::uuid[],
      $1.about::jsonb[], $1.sealed::bytea[], $1.keyVersion::int[], $1.dueAt::timestamptz[]) n
    on conflict (id) do update set account_id = excluded.account_id, about = excluded.about,
      attempts = jobs.attempts + 1, gave_up_at = null)
    select ${notifying('jobs')}`,
  undefined,
);

const isDue = 'kind = :kind and due_at <= :now and gave_up_at is null';

type Claim = {
  readonly kind: JobKind;
  readonly now: Date;
  /** Until when no other process takes them. */
  readonly until: Date;
  readonly limit: number;
};

/** Takes those in hand that are due for the longest. */
export const claimJobs = many<[claim: Claim], Job>('jobs_claim')`
  with due as (select id from jobs where ${isDue}
      order by due_at limit :limit for update skip locked)
    update jobs set due_at = :until, attempts = attempts + 1
    where id = any(array(select id from due))
    returning ${columns('id kind accountId about sealed keyVersion attempts')}`;

type Lease = Pick<Job, 'id' | 'attempts'>;
const own = 'id = :id and attempts = :attempts and gave_up_at is null';

/** It changes nothing, here and below, where the lease is over. */
export const finishJob = none<[lease: Lease]>('jobs_finish')`
  delete from jobs where ${own}`;

export const retryJob = none<
  [lease: Lease, of: { readonly dueAt: Date; readonly failure: string | null }]
>('jobs_retry')`
  update jobs set due_at = :dueAt, failure = :failure where ${own}`;

/** It stays for operators to see, without what was sealed. */
export const giveUpJob = none<[lease: Lease, of: { readonly at: Date; readonly failure: string }]>(
  'jobs_give_up',
)`
  update jobs set gave_up_at = :at, failure = :failure, sealed = null, key_version = null
    where ${own}`;

/** When the first job of each of these kinds is due; a kind without jobs is left out. */
export const nextJobs = many<
  [kinds: readonly JobKind[]],
  { readonly kind: JobKind; readonly at: Date }
>('jobs_next')`
  select k.kind, j.due_at as at from unnest($1::text[]) k (kind)
    cross join lateral (select due_at from jobs
      where kind = k.kind and gave_up_at is null order by due_at limit 1) j`;

/** Jobs of a kind that wait, counted up to `most`. */
export const countJobs = count<[kind: JobKind, most: number]>('jobs_count')`
  select count(*) from (select from jobs where kind = $1 and gave_up_at is null limit $2) jobs`;

export const countJobsOf = many<
  [accountIds: readonly string[], kinds: readonly JobKind[]],
  { readonly accountId: string; readonly count: number }
>('jobs_count_of')`
  select account_id as "accountId", count(*) as count from jobs
    where account_id = any($1::uuid[]) and kind = any($2) and gave_up_at is null
    group by account_id`;

/** Deletes at most `limit` that were given up before `before`; returns how many. */
export const pruneJobs = changed<[before: Date, limit: number]>('jobs_prune')`
  delete from jobs where id in
      (select id from jobs where gave_up_at < $1 order by gave_up_at limit $2)
    returning id`;

/** Those that are sealed under another key, in the order of their ids; locks them. */
export const jobsNotOf = many<
  [of: { readonly version: number; readonly after: string; readonly limit: number }],
  SealedRow<string> & { readonly version: number }
>('jobs_not_of')`
  select id, sealed, key_version as version from jobs
    where key_version <> :version and id > :after order by id limit :limit for update`;

export const resealJob = none<[of: SealedRow<string>, version: number]>('jobs_reseal')`
  update jobs set sealed = :sealed, key_version = $2 where id = :id`;
