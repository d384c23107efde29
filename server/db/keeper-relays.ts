// What claims and fundings of a day, sent for who asked for them, have taken of a gas key.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

type Taken = {
  /** How many, of this account: one that was given up and asked for again each time. */
  readonly own: number;
  /** Base units: what they have cost, and what is reserved for all that are open. */
  readonly ownTaken: bigint;
  readonly taken: bigint;
};

export type RelaySums = Taken & {
  /**
   * Solana: those that pay for their receiver's token account, and claims that nobody asked for
   * which may.
   */
  readonly ownMade: number;
  readonly made: number;
};

export type FundingSums = Taken & {
  /** Of this account, those that a block took without effect. */
  readonly ownFailed: number;
};

/**
 * `except`: a job whose reserve and token account are left out, since it is to have new ones; what
 * it has cost and how often it was taken on are not.
 */
type Asked = {
  readonly chain: ChainKey;
  readonly since: Date;
  readonly accountId: string;
  readonly except: number | null;
};

/** Of the transactions of a job. */
const costs = `coalesce(sum(a.charged) filter (where a.fate in ('deep', 'failed', 'gone')), 0)
              as past,
            coalesce(sum(a.charged) filter (where a.fate in ('unknown', 'pending', 'mined')), 0)
              as live`;
const taken = `coalesce(sum(takes) filter (where own), 0) as "ownTaken",
        coalesce(sum(takes), 0) as taken`;

async function sums<Sums extends Taken>(
  tx: Tx,
  name: string,
  text: string,
  { chain, since, accountId, except }: Asked,
): Promise<Sums> {
  const values = [chain, since, accountId, except];
  const [row] = await tx.rows<Record<'taken' | 'ownTaken', string>>({ name, text, values });
  const { ownTaken = 0, taken = 0 } = row ?? {};
  return { ...row, ownTaken: BigInt(ownTaken), taken: BigInt(taken) } as Sums;
}

/**
 * Of those taken on since then; of older ones that are open still what is reserved for them, as the
 * key has no more for relays than they may take in a day.
 */
export function relaySums(tx: Tx, of: Asked): Promise<RelaySums> {
  const text = `with relays as (
        select j.account_id = $3 as own, j.relays,
          j.makes_account and j.state <> 'dropped' and j.purpose = 'relay'
            and j.id is distinct from $4 as makes,
          costs.past + greatest(costs.live, case
            when j.purpose = 'relay' and j.id is distinct from $4 then j.reserve else 0
          end) as takes
        from keeper_jobs j cross join lateral (
          select ${costs}
          from keeper_attempts a where a.job_id = j.id and a.purpose = 'relay'
        ) costs
        where j.chain = $1 and j.relayed_at >= $2 and j.verb <> 'fund'
        union all
        select account_id = $3, 0, false, reserve from keeper_jobs
        where chain = $1 and state = 'open' and purpose = 'relay'
          and (relayed_at < $2 or relayed_at is null) and id is distinct from $4),
      claims as (
        select account_id = $3 as own from keeper_jobs
        where makes_account and purpose = 'secret' and id is distinct from $4 and id in (
          select job_id from keeper_attempts
          where chain = $1 and signed_at >= $2 and fate not in ('gone', 'failed')))
      select ${taken},
        coalesce(sum(relays) filter (where own), 0)::int as own,
        (count(*) filter (where makes) + (select count(*) from claims))::int as made,
        (count(*) filter (where makes and own)
          + (select count(*) from claims where own))::int as "ownMade"
      from relays`;
  return sums(tx, 'keeper_relay_sums', text, of);
}

/**
 * Of what was signed since then for fundings, and of all that are open what is reserved for them.
 */
export function fundingSums(tx: Tx, of: Asked): Promise<FundingSums> {
  const text = `with fundings as (
        select j.account_id = $3 as own,
          case when j.relayed_at >= $2 then j.relays else 0 end as times,
          costs.failed,
          costs.past + greatest(costs.live, case
            when j.state = 'open' and j.id is distinct from $4 then j.reserve else 0
          end) as takes
        from keeper_jobs j cross join lateral (
          select ${costs},
            count(*) filter (where a.fate = 'failed' and a.verb = 'fund') as failed
          from keeper_attempts a where a.job_id = j.id and a.signed_at >= $2
        ) costs
        where j.chain = $1 and j.verb = 'fund' and (j.relayed_at >= $2 or j.state = 'open'
          or j.id in (select job_id from keeper_attempts
            where chain = $1 and signed_at >= $2 and purpose = 'fund')))
      select ${taken},
        coalesce(sum(times) filter (where own), 0)::int as own,
        coalesce(sum(failed) filter (where own), 0)::int as "ownFailed"
      from fundings`;
  return sums(tx, 'keeper_funding_sums', text, of);
}
