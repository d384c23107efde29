// Jobs of the watchtower: what is found to be done, taken in hand, put off and ended.

import type { ChainKey } from '../../core/families.ts';
import type { LegName } from '../../core/trade.ts';
import type { Database, Tx } from '../port.ts';

export type JobVerb = 'claim' | 'refund' | 'fund';
/** The most urgent first. `close`: a refund of what a claim has left in the escrow (Solana). */
export const purposes = ['relay', 'secret', 'refund', 'fund', 'close'] as const;
export type Purpose = (typeof purposes)[number];

export type Job = {
  readonly id: number;
  readonly chain: ChainKey;
  readonly escrow: string;
  readonly verb: JobVerb;
  readonly swapId: string;
  readonly leg: LegName;
  readonly accountId: string;
  readonly purpose: Purpose;
  readonly state: 'open' | 'done' | 'dropped';
  readonly reserve: bigint;
  /** Solana: whether it may pay for its receiver's token account; a claim: or has once. */
  readonly makesAccount: boolean;
  readonly secret: Buffer | null;
  readonly secretVersion: number | null;
  /** Of a funding: its funder's. */
  readonly signature: string | null;
  /** It is in no batch any more. */
  readonly alone: boolean;
  readonly failures: number;
  readonly createdAt: Date;
};

/** Of a row of attempts: it may still be mined, or be taken back by a reorganisation. */
export const live = (of = '') => `${of}fate in ('unknown', 'pending', 'mined')`;

type Row = Omit<Job, 'reserve'> & { readonly reserve: string };

const columns = `id, chain, escrow, verb, swap_id as "swapId", leg, account_id as "accountId",
  purpose, state, reserve, makes_account as "makesAccount", secret,
  secret_version as "secretVersion", signature, alone, failures, created_at as "createdAt"`;

function jobOf(row: Row): Job {
  return { ...row, reserve: BigInt(row.reserve) };
}

/** Relays, what brings back the rest of a claim, and everything else. */
export type DueKind = 'relays' | 'closes' | 'others';

/** Takes due jobs in hand: until `again` they are due for nobody else. */
export async function takeDueJobs(
  tx: Tx,
  due: {
    readonly chain: ChainKey;
    readonly what: DueKind;
    /** Those that wait for what is in flight, or all others. */
    readonly isBusy: boolean;
    readonly now: Date;
    readonly again: Date;
  },
  limit: number,
): Promise<Job[]> {
  const { chain, what, isBusy, now, again } = due;
  const rows = await tx.rows<Row>({
    name: 'keeper_take_due',
    text: `update keeper_jobs set due_at = $4
      where id in (
        select id from keeper_jobs
        where chain = $1 and state = 'open' and (purpose = 'relay') = $2
          and (purpose = 'close') = $6 and due_at <= $3 and (${waits('keeper_jobs')}) = $7
        order by due_at limit $5 for update skip locked)
      returning ${columns}`,
    values: [chain, what === 'relays', now, again, limit, what === 'closes', isBusy],
  });
  return rows.map(jobOf);
}

/** A job that something in flight keeps from being signed. */
const waits = (job: string) => `${job}.last_failure is not distinct from 'busy'`;

export type NextDue = { readonly chain: ChainKey; readonly isRelay: boolean; readonly at: Date };

/** When the next open jobs of these chains are due, of each kind that has any. */
export function nextDue(tx: Tx, chains: readonly ChainKey[]): Promise<NextDue[]> {
  return tx.rows<NextDue>({
    name: 'keeper_next_due',
    text: `select c.chain, k.relay as "isRelay", j.due_at as at
      from unnest($1::text[]) as c (chain)
        cross join (values (true, false), (false, true), (false, false)) as k (relay, close)
        cross join lateral (
          select due_at from keeper_jobs
          where chain = c.chain and state = 'open' and (purpose = 'relay') = k.relay
            and (purpose = 'close') = k.close
          order by due_at limit 1) j`,
    values: [chains],
  });
}

/** Whether one of these purposes, of another job than this, waits for what is in flight. */
export async function isWaiting(
  tx: Tx,
  of: {
    readonly chain: ChainKey;
    readonly except: number | null;
    readonly purposes: readonly Purpose[];
    readonly dueBy: Date;
  },
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_is_waiting',
    text: `select 1 from keeper_jobs j
      where chain = $1 and state = 'open' and last_failure = 'busy'
        and id is distinct from $2 and purpose = any($3) and due_at <= $4 limit 1`,
    values: [of.chain, of.except, of.purposes, of.dueBy],
  });
  return rows.length > 0;
}

export async function findJob(
  tx: Tx,
  of: { readonly chain: ChainKey; readonly escrow: string; readonly verb: JobVerb },
): Promise<Job | null> {
  const [row] = await tx.rows<Row>({
    name: 'keeper_find_job',
    text: `select ${columns} from keeper_jobs where chain = $1 and escrow = $2 and verb = $3`,
    values: [of.chain, of.escrow, of.verb],
  });
  return row === undefined ? null : jobOf(row);
}

export type NewAsked = Pick<
  Job,
  'chain' | 'escrow' | 'swapId' | 'leg' | 'accountId' | 'reserve' | 'makesAccount' | 'signature'
> & {
  readonly verb: 'claim' | 'fund';
  readonly purpose: 'relay' | 'fund';
  readonly secret: Uint8Array | null;
  readonly secretVersion: number | null;
  readonly at: Date;
  /** The beginning of the day that it counts for. */
  readonly since: Date;
};

/**
 * What was asked for, due now: a job of its own, or the one there is made to land. A funding that
 * is asked for again is as new.
 */
export async function insertAsked(tx: Tx, job: NewAsked): Promise<number> {
  const { chain, escrow, verb, purpose, swapId, leg, accountId, makesAccount, since } = job;
  const { reserve, secret, secretVersion, signature, at } = job;
  const [row] = await tx.rows<{ id: number }>({
    name: 'keeper_insert_asked',
    text: `insert into keeper_jobs as job
        (chain, escrow, verb, purpose, swap_id, leg, account_id, makes_account, reserve, secret,
         secret_version, signature, state, due_at, created_at, relayed_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'open', $13, $13, $13)
      on conflict (chain, escrow, verb) do update
        set purpose = $4, makes_account = $8, reserve = $9, secret = $10, secret_version = $11,
          signature = $12, state = 'open', due_at = $13, relayed_at = $13,
          created_at = case when $4 = 'fund' then $13 else job.created_at end,
          failures = 0, last_failure = null,
          relays = case when job.relayed_at >= $14 then job.relays + 1 else 1 end
      returning id`,
    values: [
      ...[chain, escrow, verb, purpose, swapId, leg, accountId, makesAccount],
      ...[reserve.toString(), secret, secretVersion, signature, at, since],
    ],
  });
  return (row as { id: number }).id;
}

/** `failure` null: it did not fail. What only waits for what is in flight did not fail more. */
export async function putOffJobs(
  tx: Tx,
  ids: readonly number[],
  again: { readonly dueAt: Date; readonly failure: string | null },
): Promise<void> {
  await tx.rows({
    name: 'keeper_put_off',
    text: `update keeper_jobs set due_at = $2, last_failure = $3,
        failures = case when $3::text is null then 0 when $3 = 'busy' then failures
          else failures + 1 end
      where id = any($1) and state = 'open'`,
    values: [ids, again.dueAt, again.failure],
  });
}

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
  return db.transaction(async (tx) => (await may(tx)) && (await endUnlessKept(tx, id, state)));
}

/** Whoever keeps something for a job locks its row, `for key share`: he is waited for here. */
async function endUnlessKept(tx: Tx, id: number, state: 'done' | 'dropped'): Promise<boolean> {
  await tx.rows({
    name: 'keeper_lock_job',
    text: 'select id from keeper_jobs where id = $1 for update',
    values: [id],
  });
  const rows = await tx.rows({
    name: 'keeper_end_job',
    text: `update keeper_jobs set state = $2, reserve = 0, secret = null, secret_version = null
      where id = $1 and state = 'open' and not exists (
        select 1 from keeper_attempts where job_id = $1 and sent_at is null and ${live()})
      returning id`,
    values: [id, state],
  });
  return rows.length === 1;
}

/**
 * For what was just signed, and beside other that may be mined no less than before. Without such,
 * what nobody asked for held nothing: others may have been promised it meanwhile. False: it has
 * ended, and nothing is kept for it any more.
 */
export async function keepReserve(
  tx: Tx,
  id: number,
  of: { readonly reserve: bigint; readonly attemptId: number; readonly makesAccount: boolean },
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keeper_keep_reserve',
    text: `update keeper_jobs set reserve = case
          when purpose in ('relay', 'fund') or exists (select 1 from keeper_attempts
            where job_id = $1 and id <> $3 and ${live()})
          then greatest(reserve, $2) else $2 end,
        makes_account = makes_account or $4
      where id = $1 and state = 'open' returning id`,
    values: [id, of.reserve.toString(), of.attemptId, of.makesAccount],
  });
  return rows.length === 1;
}

/** The swap knows the secret by now. */
export async function forgetSecret(tx: Tx, id: number): Promise<void> {
  await tx.rows({
    name: 'keeper_forget_secret',
    text: `update keeper_jobs set secret = null, secret_version = null where id = $1`,
    values: [id],
  });
}

/** Open jobs of a chain by purpose. */
export function countOpenJobs(tx: Tx, chain: ChainKey) {
  return tx.rows<{ purpose: Purpose; count: number }>({
    name: 'keeper_count_open',
    text: `select purpose, count(*)::int as count from keeper_jobs
      where chain = $1 and state = 'open' group by purpose`,
    values: [chain],
  });
}
