// Jobs of the watchtower: found, taken in hand, put off and ended.

import type { ChainKey } from '@parley/core/families.ts';
import type { LegName } from '@parley/core/trade.ts';
import { columns, did, many, none, one, only } from '@parley/host/postgres/statements.ts';
import type { Database, Tx } from '../port.ts';

export type JobVerb = 'claim' | 'refund' | 'fund';
/** The most urgent first. */
export const purposes = ['relay', 'secret', 'refund', 'fund'] as const;
export type Purpose = (typeof purposes)[number];

export type Job = {
  readonly id: number;
  readonly chain: ChainKey;
  readonly escrow: string;
  readonly verb: JobVerb;
  readonly swapId: string;
  readonly leg: LegName;
  readonly purpose: Purpose;
  readonly state: 'open' | 'done' | 'dropped';
  readonly reserve: bigint;
  readonly secret: Buffer | null;
  readonly secretVersion: number | null;
  /** The funder's, of a funding. */
  readonly signature: string | null;
  readonly failures: number;
  readonly createdAt: Date;
};

/** A row of attempts that may still be mined, or be taken back by a reorganisation. */
export const live = (of = '') => `${of}fate in ('unknown', 'pending', 'mined')`;

const own = columns(`id chain escrow verb swapId leg purpose state reserve
  secret secretVersion signature failures createdAt`);

export type DueKind = 'relays' | 'others';

type Due = {
  readonly chain: ChainKey;
  readonly what: DueKind;
  /** Those that wait for what is in flight, or all others. */
  readonly isBusy: boolean;
  readonly now: Date;
  readonly again: Date;
};

/** A job that something in flight keeps from being signed. */
const waits = `last_failure is not distinct from 'busy'`;

/** Takes due jobs in hand: until `again` they are due for nobody else. */
export const takeDueJobs = many<[due: Due, limit: number], Job>('keeper_take_due')`
  update keeper_jobs set due_at = :again
    where id in (
      select id from keeper_jobs
      where chain = :chain and state = 'open' and (purpose = 'relay') = (:what = 'relays')
        and due_at <= :now and (${waits}) = :isBusy
      order by due_at limit $2 for update skip locked)
    returning ${own}`;

export type NextDue = { readonly chain: ChainKey; readonly isRelay: boolean; readonly at: Date };

/** When the next open jobs of these chains are due, of each kind that has any. */
export const nextDue = many<[chains: readonly ChainKey[]], NextDue>('keeper_next_due')`
  select c.chain, k.relay as "isRelay", j.due_at as at
    from unnest($1::text[]) as c (chain)
      cross join (values (true), (false)) as k (relay)
      cross join lateral (
        select due_at from keeper_jobs
        where chain = c.chain and state = 'open' and (purpose = 'relay') = k.relay
        order by due_at limit 1) j`;

type Waiting = {
  readonly chain: ChainKey;
  readonly except: number | null;
  readonly purposes: readonly Purpose[];
  readonly dueBy: Date;
};

/** Whether one of these purposes, of another job than this, waits for what is in flight. */
export const isWaiting = did<[of: Waiting]>('keeper_is_waiting')`
  select 1 from keeper_jobs j
    where chain = :chain and state = 'open' and last_failure = 'busy'
      and id is distinct from :except and purpose = any(:purposes) and due_at <= :dueBy limit 1`;

export const findJob = one<
  [of: { readonly chain: ChainKey; readonly escrow: string; readonly verb: JobVerb }],
  Job
>('keeper_find_job')`
  select ${own} from keeper_jobs where chain = :chain and escrow = :escrow and verb = :verb`;

export type NewAsked = Pick<
  Job,
  'chain' | 'escrow' | 'swapId' | 'leg' | 'reserve' | 'signature'
> & {
  readonly verb: 'claim' | 'fund';
  readonly purpose: 'relay' | 'fund';
  readonly secret: Uint8Array | null;
  readonly secretVersion: number | null;
  readonly at: Date;
};

/**
 * A request, due now: a job of its own, or the one there is made to land. A funding that
 * is asked for again is as new.
 */
export const insertAsked = only<[job: NewAsked], { readonly id: number }>('keeper_insert_asked')`
  insert into keeper_jobs as job
      (chain, escrow, verb, purpose, swap_id, leg, reserve, secret,
       secret_version, signature, state, due_at, created_at)
    values (:chain, :escrow, :verb, :purpose, :swapId, :leg, :reserve,
      :secret, :secretVersion, :signature, 'open', :at, :at)
    on conflict (chain, escrow, verb) do update
      set purpose = :purpose, reserve = :reserve, secret = :secret,
        secret_version = :secretVersion, signature = :signature, state = 'open', due_at = :at,
        created_at = case when :purpose = 'fund' then :at else job.created_at end,
        failures = 0, last_failure = null
    returning id`;

/** `failure` null: it did not fail. Waiting for what is in flight counts as no failure. */
export const putOffJobs = none<
  [ids: readonly number[], again: { readonly dueAt: Date; readonly failure: string | null }]
>('keeper_put_off')`
  update keeper_jobs set due_at = :dueAt, last_failure = :failure,
      failures = case when :failure::text is null then 0 when :failure = 'busy' then failures
        else failures + 1 end
    where id = any($1) and state = 'open'`;

/**
 * Kept no more for it from here on: neither coins nor its secret. False: it stays open, since
 * something signed for it has not left, that nobody else would send; or `may` says so.
 */
export function endJob(
  db: Pick<Database, 'transaction'>,
  id: number,
  state: 'done' | 'dropped',
  may: (tx: Tx) => Promise<boolean> = async () => true,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await may(tx))) return false;
    await lock(tx, id);
    return endUnlessKept(tx, id, state);
  });
}

/** A process that keeps something for a job locks its row `for key share`, and is waited for. */
const lock = none<[id: number]>('keeper_lock_job')`
  select id from keeper_jobs where id = $1 for update`;

const endUnlessKept = did<[id: number, state: 'done' | 'dropped']>('keeper_end_job')`
  update keeper_jobs set state = $2, reserve = 0, secret = null, secret_version = null
    where id = $1 and state = 'open' and not exists (
      select 1 from keeper_attempts where job_id = $1 and sent_at is null and ${live()})
    returning id`;

/**
 * For what was just signed, and beside other that may be mined no less than before. Without such,
 * what nobody asked for held nothing: others may have been promised it meanwhile. False: it has
 * ended, and nothing is kept for it any more.
 */
export const keepReserve = did<
  [id: number, of: { readonly reserve: bigint; readonly attemptId: number }]
>('keeper_keep_reserve')`
  update keeper_jobs set reserve = case
        when purpose in ('relay', 'fund') or exists (select 1 from keeper_attempts
          where job_id = $1 and id <> :attemptId and ${live()})
        then greatest(reserve, :reserve) else :reserve end
    where id = $1 and state = 'open' returning id`;

/** The swap knows the secret by now. */
export const forgetSecret = none<[id: number]>('keeper_forget_secret')`
  update keeper_jobs set secret = null, secret_version = null where id = $1`;

/** Open jobs of a chain by purpose. */
export const countOpenJobs = many<[chain: ChainKey], { purpose: Purpose; count: number }>(
  'keeper_count_open',
)`
  select purpose, count(*)::int as count from keeper_jobs
    where chain = $1 and state = 'open' group by purpose`;
