// Jobs whose escrow is settled by a transaction of another job: who leads, and who rides on it.

import type { GasFate } from '../../chains/gas/account.ts';
import type { ChainKey } from '../../core/families.ts';
import type { Secret } from '../../core/hashlock.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { Tx } from './database.ts';
import { type StoredTerms, termsOf } from './escrows.ts';
import { partOf } from './keeper-attempts.ts';
import type { Job } from './keeper-jobs.ts';

const isLive = (attempt: string) => `${attempt}.fate in ('unknown', 'pending', 'mined')`;
/** Nothing may settle it any more, but for what $1, the leader, has signed. */
const isIdle = `not exists (select 1 from keeper_attempts a where a.job_id = j.id
          and ${isLive('a')})
        and not exists (select 1 from keeper_rides k join keeper_attempts a on a.id = k.attempt_id
          where k.job_id = j.id and a.job_id <> $1 and ${isLive('a')})`;

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
export type Rideable = {
  readonly id: number;
  readonly accountId: string;
  readonly createdAt: Date;
  readonly terms: EscrowTerms;
  /** Of a claim: public. */
  readonly secret: Secret | null;
};

type Row = Omit<Rideable, 'terms'> & { readonly terms: StoredTerms };

/**
 * Jobs as `lead`, of other escrows that hold money by what is stored and that nobody's transaction
 * is known to settle. Soonest timelock first. `clock`: of the chain.
 */
export async function rideable(
  tx: Tx,
  lead: Pick<Job, 'id' | 'chain' | 'verb' | 'purpose'>,
  of: { readonly dueBy: Date; readonly clock: number; readonly limit: number },
): Promise<Rideable[]> {
  const rows = await tx.rows<Row>({
    name: 'keeper_rideable',
    text: `select j.id, j.account_id as "accountId", j.created_at as "createdAt", e.terms, s.secret
      from keeper_jobs j join escrows e on e.chain = j.chain and e.address = j.escrow
        join swaps s on s.id = j.swap_id
      where j.chain = $2 and j.verb = $3 and j.purpose = $4 and j.state = 'open' and j.id <> $1
        and not j.alone and coalesce(j.last_failure, 'cap') = any($8)
        and j.due_at <= $5 and ${isIdle}
        and not exists (select 1 from keeper_attempts a
          where a.job_id = j.id and a.fate = 'failed' and a.legs > 1)
        and not exists (select 1 from keeper_rides k join keeper_attempts a on a.id = k.attempt_id
          where k.job_id = j.id and a.fate = 'failed')
        and (e.facts ->> 'balance')::numeric >= (e.terms ->> 'amount')::numeric
        and e.facts ->> 'claimed' is null and e.facts ->> 'refunded' is null
        and case $3 when 'claim' then s.secret is not null and (e.terms ->> 'timelock')::bigint > $6
          else (e.terms ->> 'timelock')::bigint <= $6 end
      order by (e.terms ->> 'timelock')::bigint, j.id limit $7`,
    values: [lead.id, lead.chain, lead.verb, lead.purpose, of.dueBy, of.clock, of.limit, harmless],
  });
  return rows.map((row) => ({ ...row, terms: termsOf(row.terms) }));
}

/** A job that waits for a transaction of another. */
export type Rider = Rideable & {
  readonly attemptId: number;
  /** It is in no batch any more, so in none that takes the place of this one. */
  readonly alone: boolean;
};

/**
 * What waits for anything live of this leader, once for each transaction, and is open still by what
 * is stored: its money is there, and nothing but the leader's is known to take it. `clock`: of the
 * chain; no claim past its timelock is in it.
 */
export async function ridersOf(
  tx: Tx,
  { leaderId, clock }: { readonly leaderId: number; readonly clock: number },
): Promise<Rider[]> {
  const rows = await tx.rows<Row & Pick<Rider, 'attemptId' | 'alone'>>({
    name: 'keeper_riders_of',
    text: `select k.attempt_id as "attemptId", j.alone, j.id, j.account_id as "accountId",
        j.created_at as "createdAt", e.terms, s.secret
      from keeper_attempts a join keeper_rides k on k.attempt_id = a.id
        join keeper_jobs j on j.id = k.job_id
        join escrows e on e.chain = j.chain and e.address = j.escrow
        join swaps s on s.id = j.swap_id
        cross join lateral (
          select coalesce(e.facts #>> '{claimed,txid}', e.facts #>> '{refunded,txid}') as txid
        ) settled
      where a.job_id = $1 and ${isLive('a')} and j.state = 'open'
        and (e.facts ->> 'balance')::numeric >= (e.terms ->> 'amount')::numeric
        and (settled.txid is null
          or settled.txid in (select txid from keeper_attempts where job_id = $1))
        and (j.verb <> 'claim' or (e.terms ->> 'timelock')::bigint > $2)
      order by k.attempt_id, j.id`,
    values: [leaderId, clock],
  });
  return rows.map((row) => ({ ...row, terms: termsOf(row.terms) }));
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
  const rows = await tx.rows({
    name: 'keeper_put_on',
    text: `with riding as (
        update keeper_jobs j set due_at = $4
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

/** What counts against each of these accounts since then, as `keeperSums` has it for one. */
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
