// Jobs whose escrow is settled by a transaction of another job: who leads, and who rides on it.

import type { GasFate } from '../../chains/gas/account.ts';
import type { ChainKey } from '../../core/families.ts';
import type { Tx } from '../port.ts';
import { type Job, live } from './jobs.ts';
import { partOf } from './sums.ts';

/** Nothing may settle it any more, but for what $1, the leader, has signed. */
const isIdle = `not exists (select 1 from keeper_attempts a where a.job_id = j.id
          and ${live('a.')})
        and not exists (select 1 from keeper_rides k join keeper_attempts a on a.id = k.attempt_id
          where k.job_id = j.id and a.job_id <> $1 and ${live('a.')})`;

/** What put a job off and says nothing of its escrow. */
const harmless = [
  'cap',
  'share',
  'balance',
  'busy',
  'fee_above_limit',
  'overloaded',
  'chain_timeout',
  'chain_unavailable',
];

/** What may be settled beside another. */
export type Beside = Pick<Job, 'id' | 'escrow' | 'accountId' | 'createdAt'>;

/** Jobs as `lead`, of other escrows, that nobody's transaction is known to settle. */
export async function besides(
  tx: Tx,
  lead: Pick<Job, 'id' | 'chain' | 'verb' | 'purpose'>,
  /** `after`: the job that a former page ended with. */
  of: { readonly dueBy: Date; readonly after: number; readonly limit: number },
): Promise<Beside[]> {
  return tx.rows<Beside>({
    name: 'keeper_besides',
    text: `select j.id, j.escrow, j.account_id as "accountId", j.created_at as "createdAt"
      from keeper_jobs j
      where j.chain = $2 and j.verb = $3 and j.purpose = $4 and j.state = 'open' and j.id <> $1
        and j.id > $8
        and not j.alone and coalesce(j.last_failure, 'cap') = any($7)
        and j.due_at <= $5 and ${isIdle}
        and not exists (select 1 from keeper_attempts a
          where a.job_id = j.id and a.fate = 'failed' and a.legs > 1)
        and not exists (select 1 from keeper_rides k join keeper_attempts a on a.id = k.attempt_id
          where k.job_id = j.id and a.fate = 'failed')
      order by j.id limit $6`,
    values: [
      ...[lead.id, lead.chain, lead.verb, lead.purpose, of.dueBy, of.limit, harmless, of.after],
    ],
  });
}

/** A job that waits for a transaction of another. */
export type Rider = Beside & {
  readonly attemptId: number;
  /** It is in no batch any more, so in none that takes the place of this one. */
  readonly alone: boolean;
};

/** What waits for anything live of this leader, once for each transaction. */
export async function ridersOf(tx: Tx, leaderId: number): Promise<Rider[]> {
  return tx.rows<Rider>({
    name: 'keeper_riders_of',
    text: `select k.attempt_id as "attemptId", j.alone, j.id, j.escrow,
        j.account_id as "accountId", j.created_at as "createdAt"
      from keeper_attempts a join keeper_rides k on k.attempt_id = a.id
        join keeper_jobs j on j.id = k.job_id
      where a.job_id = $1 and ${live('a.')} and j.state = 'open'
      order by k.attempt_id, j.id`,
    values: [leaderId],
  });
}

/**
 * Puts jobs on a transaction of another, and off until `again`; in the transaction that keeps it.
 * False: one of them has moved on meanwhile.
 */
export async function putOn(
  tx: Tx,
  on: { readonly attemptId: number; readonly leaderId: number },
  jobIds: readonly number[],
  again: Date,
): Promise<boolean> {
  if (jobIds.length === 0) return true;
  const rows = await tx.rows({
    name: 'keeper_put_on',
    text: `with riding as (
        update keeper_jobs j set due_at = $4, last_failure = null
        where j.id = any($3) and j.state = 'open' and not j.alone and ${isIdle}
        returning j.id)
      insert into keeper_rides (attempt_id, job_id) select $2, id from riding returning job_id`,
    values: [on.leaderId, on.attemptId, jobIds, again],
  });
  return rows.length === jobIds.length;
}

/** What became of the transactions of others that a job rides on, or has. */
export async function ridesOf(tx: Tx, jobId: number): Promise<GasFate[]> {
  const rows = await tx.rows<{ fate: GasFate }>({
    name: 'keeper_rides_of',
    text: `select a.fate from keeper_rides k join keeper_attempts a on a.id = k.attempt_id
      where k.job_id = $1`,
    values: [jobId],
  });
  return rows.map(({ fate }) => fate);
}

/** They are in no batch any more. */
export async function goAlone(tx: Tx, jobIds: readonly number[]): Promise<void> {
  await tx.rows({
    name: 'keeper_go_alone',
    text: 'update keeper_jobs set alone = true where id = any($1)',
    values: [jobIds],
  });
}

/** What counts against each of these accounts since then, as `keySums` has it for one. */
export async function spentOnEach(
  tx: Tx,
  of: { readonly chain: ChainKey; readonly since: Date; readonly accountIds: readonly string[] },
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await tx.rows<{ account: string; spent: string }>({
    name: 'keeper_spent_on_each',
    text: `with parts as (
        select j.account_id as account, ${partOf('a')} as part
        from keeper_attempts a join keeper_jobs j on j.id = a.job_id
        where a.chain = $1 and a.signed_at >= $2 and a.purpose not in ('relay', 'fund')
        union all
        select o.account_id, ${partOf('a')} from keeper_rides k
          join keeper_attempts a on a.id = k.attempt_id join keeper_jobs o on o.id = k.job_id
        where a.chain = $1 and a.signed_at >= $2)
      select account, sum(part) as spent from parts where account = any($3::uuid[])
      group by account`,
    values: [of.chain, of.since, of.accountIds],
  });
  return new Map(rows.map(({ account, spent }) => [account, BigInt(spent)]));
}
