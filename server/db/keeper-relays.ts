// What relays of a day have taken of a gas key.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

export type RelaySums = {
  /** How many, of this account: one that was given up and asked for again each time. */
  readonly own: number;
  /** Base units: what they have cost, and what is reserved for all that are open. */
  readonly ownTaken: bigint;
  readonly taken: bigint;
  /**
   * Solana: those that pay for their receiver's token account, and claims that nobody asked for
   * which may.
   */
  readonly ownMade: number;
  readonly made: number;
};

/**
 * Of those taken on since then; of older ones that are open still what is reserved for them, as the
 * key has no more for relays than they may take in a day. `except`: a job whose reserve and token
 * account are left out, since it is to have new ones; what it has cost and how often it was taken
 * on are not.
 */
export async function relaySums(
  tx: Tx,
  of: {
    readonly chain: ChainKey;
    readonly since: Date;
    readonly accountId: string;
    readonly except: number | null;
  },
): Promise<RelaySums> {
  const rows = await tx.rows<Record<string, string>>({
    name: 'keeper_relay_sums',
    text: `with relays as (
        select j.account_id = $3 as own, j.relays,
          j.makes_account and j.state <> 'dropped' and j.purpose = 'relay'
            and j.id is distinct from $4 as makes,
          costs.past + greatest(costs.live, case
            when j.purpose = 'relay' and j.id is distinct from $4 then j.reserve else 0
          end) as takes
        from keeper_jobs j cross join lateral (
          select coalesce(sum(a.charged) filter (where a.fate in ('deep', 'failed', 'gone')), 0)
              as past,
            coalesce(sum(a.charged) filter (where a.fate in ('unknown', 'pending', 'mined')), 0)
              as live
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
      select coalesce(sum(relays) filter (where own), 0) as own, coalesce(sum(takes), 0) as taken,
        coalesce(sum(takes) filter (where own), 0) as "ownTaken",
        count(*) filter (where makes) + (select count(*) from claims) as made,
        count(*) filter (where makes and own)
          + (select count(*) from claims where own) as "ownMade"
      from relays`,
    values: [of.chain, of.since, of.accountId, of.except],
  });
  const { own = 0, ownTaken = 0, taken = 0, ownMade = 0, made = 0 } = rows[0] ?? {};
  return {
    own: Number(own),
    ownTaken: BigInt(ownTaken),
    taken: BigInt(taken),
    ownMade: Number(ownMade),
    made: Number(made),
  };
}
