// What fundings of a day, sent for who signed them, have taken of a gas key.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

export type FundingSums = {
  /** How many, of this account: one that was given up and asked for again each time. */
  readonly own: number;
  /** Of this account, those that a block took without effect. */
  readonly ownFailed: number;
  /** Base units: what they have cost, and what is reserved for all that are open. */
  readonly ownTaken: bigint;
  readonly taken: bigint;
};

/**
 * Of what was signed since then for fundings, and of all that are open what is reserved for them.
 * `except`: a job whose reserve is left out, since it is to have a new one; what it has cost and
 * how often it was taken on are not.
 */
export async function fundingSums(
  tx: Tx,
  of: {
    readonly chain: ChainKey;
    readonly since: Date;
    readonly accountId: string;
    readonly except: number | null;
  },
): Promise<FundingSums> {
  const rows = await tx.rows<Record<keyof FundingSums, string>>({
    name: 'keeper_funding_sums',
    text: `with fundings as (
        select j.account_id = $3 as own,
          case when j.relayed_at >= $2 then j.relays else 0 end as times,
          costs.failed,
          costs.past + greatest(costs.live, case
            when j.state = 'open' and j.id is distinct from $4 then j.reserve else 0
          end) as takes
        from keeper_jobs j cross join lateral (
          select coalesce(sum(a.charged) filter (where a.fate in ('deep', 'failed', 'gone')), 0)
              as past,
            coalesce(sum(a.charged) filter (where a.fate in ('unknown', 'pending', 'mined')), 0)
              as live,
            count(*) filter (where a.fate = 'failed' and a.verb = 'fund') as failed
          from keeper_attempts a where a.job_id = j.id and a.signed_at >= $2
        ) costs
        where j.chain = $1 and j.verb = 'fund' and (j.relayed_at >= $2 or j.state = 'open'
          or j.id in (select job_id from keeper_attempts
            where chain = $1 and signed_at >= $2 and purpose = 'fund')))
      select coalesce(sum(times) filter (where own), 0) as own,
        coalesce(sum(failed) filter (where own), 0) as "ownFailed",
        coalesce(sum(takes) filter (where own), 0) as "ownTaken",
        coalesce(sum(takes), 0) as taken
      from fundings`,
    values: [of.chain, of.since, of.accountId, of.except],
  });
  const { own = 0, ownFailed = 0, ownTaken = 0, taken = 0 } = rows[0] ?? {};
  return {
    own: Number(own),
    ownFailed: Number(ownFailed),
    ownTaken: BigInt(ownTaken),
    taken: BigInt(taken),
  };
}
