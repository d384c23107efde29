// Jobs whose escrow is settled by a transaction of another job: who leads, and who rides on it.

import type { GasOutcome } from '../../chains/gas/account.ts';
import type { ChainKey } from '../../core/families.ts';
import { changed, list, many, none } from '../../host/postgres/statements.ts';
import type { Tx } from '../port.ts';
import { type Job, live } from './jobs.ts';
import { partOf } from './sums.ts';

/** Nothing may settle it any more, but for what the leader has signed. */
const isIdle = (leader: string) => `not exists (select 1 from keeper_attempts a
          where a.job_id = j.id and ${live('a.')})
        and not exists (select 1 from keeper_rides k join keeper_attempts a on a.id = k.attempt_id
          where k.job_id = j.id and a.job_id <> ${leader} and ${live('a.')})`;

/** What put a job off and says nothing of its escrow. */
const harmless = `'cap', 'share', 'balance', 'busy', 'fee_above_limit', 'overloaded',
          'chain_timeout', 'chain_unavailable'`;

/** What may be settled beside another. */
export type Beside = Pick<Job, 'id' | 'escrow' | 'accountId' | 'createdAt'>;
const beside = `j.id, j.escrow, j.account_id as "accountId", j.created_at as "createdAt"`;

/**
 * Jobs as `lead`, of other escrows, that nobody's transaction is known to settle. `after`: the job
 * that a former page ended with.
 */
export const besides = many<
  [
    lead: Pick<Job, 'id' | 'chain' | 'verb' | 'purpose'>,
    of: { readonly dueBy: Date; readonly after: number; readonly limit: number },
  ],
  Beside
>('keeper_besides')`
  select ${beside} from keeper_jobs j
    where j.chain = :chain and j.verb = :verb and j.purpose = :purpose and j.state = 'open'
      and j.id <> :id and j.id > :after and not j.alone
      and coalesce(j.last_failure, 'cap') in (${harmless})
      and j.due_at <= :dueBy and ${isIdle(':id')}
      and not exists (select 1 from keeper_attempts a
        where a.job_id = j.id and a.fate = 'failed' and a.legs > 1)
      and not exists (select 1 from keeper_rides k join keeper_attempts a on a.id = k.attempt_id
        where k.job_id = j.id and a.fate = 'failed')
    order by j.id limit :limit`;

/** A job that waits for a transaction of another. */
export type Rider = Beside & {
  readonly attemptId: number;
  /** It is in no batch any more, so in none that takes the place of this one. */
  readonly alone: boolean;
};

/** What waits for anything live of this leader, once for each transaction. */
export const ridersOf = many<[leaderId: number], Rider>('keeper_riders_of')`
  select k.attempt_id as "attemptId", j.alone, ${beside}
    from keeper_attempts a join keeper_rides k on k.attempt_id = a.id
      join keeper_jobs j on j.id = k.job_id
    where a.job_id = $1 and ${live('a.')} and j.state = 'open'
    order by k.attempt_id, j.id`;

type Place = { readonly attemptId: number; readonly leaderId: number };

const ride = changed<[on: Place, jobIds: readonly number[], again: Date]>('keeper_put_on')`
  with riding as (
      update keeper_jobs j set due_at = $3, last_failure = null
      where j.id = any($2) and j.state = 'open' and not j.alone and ${isIdle(':leaderId')}
      returning j.id)
    insert into keeper_rides (attempt_id, job_id) select :attemptId, id from riding
    returning job_id`;

/**
 * Puts jobs on a transaction of another, and off until `again`; in the transaction that keeps it.
 * False: one of them has moved on meanwhile.
 */
export async function putOn(
  tx: Tx,
  on: Place,
  jobIds: readonly number[],
  again: Date,
): Promise<boolean> {
  return jobIds.length === 0 || (await ride(tx, on, jobIds, again)) === jobIds.length;
}

/** What became of the transactions of others that a job rides on, or has. */
export const ridesOf = list<[jobId: number], GasOutcome>('keeper_rides_of')`
  select a.fate as outcome from keeper_rides k join keeper_attempts a on a.id = k.attempt_id
    where k.job_id = $1`;

/** They are in no batch any more. */
export const goAlone = none<[jobIds: readonly number[]]>('keeper_go_alone')`
  update keeper_jobs set alone = true where id = any($1)`;

type Each = { chain: ChainKey; since: Date; accountIds: readonly string[] };
const spent = many<[of: Each], { account: string; spent: bigint }>('keeper_spent_on_each')`
  with parts as (
      select j.account_id as account, ${partOf('a')} as part
      from keeper_attempts a join keeper_jobs j on j.id = a.job_id
      where a.chain = :chain and a.signed_at >= :since and a.purpose not in ('relay', 'fund')
      union all
      select o.account_id, ${partOf('a')} from keeper_rides k
        join keeper_attempts a on a.id = k.attempt_id join keeper_jobs o on o.id = k.job_id
      where a.chain = :chain and a.signed_at >= :since)
    select account, sum(part) as spent from parts where account = any(:accountIds::uuid[])
    group by account`;

/** What counts against each of these accounts since then, as `keySums` has it for one. */
export async function spentOnEach(tx: Tx, of: Each): Promise<ReadonlyMap<string, bigint>> {
  return new Map((await spent(tx, of)).map((each) => [each.account, each.spent]));
}
