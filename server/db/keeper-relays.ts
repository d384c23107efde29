// What relays of a day have taken of a gas key.

import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

export type RelaySums = {
  /** How many, of this account. */
  readonly own: number;
  /** Base units: what is reserved for those that are open, and what the others have cost. */
  readonly ownTaken: bigint;
  readonly taken: bigint;
  /** Solana: those that pay for their receiver's token account. */
  readonly ownMade: number;
  readonly made: number;
};

/** Of those taken on since then; `except`: a job that is left out. */
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
        select j.account_id = $3 as own, j.makes_account and j.state <> 'dropped' as makes,
          greatest(j.reserve, (
            select coalesce(sum(a.charged), 0) from keeper_attempts a
            where a.job_id = j.id and a.purpose = 'relay'
          )) as takes
        from keeper_jobs j
        where j.chain = $1 and j.relayed_at >= $2 and j.id is distinct from $4)
      select count(*) filter (where own) as own, coalesce(sum(takes), 0) as taken,
        coalesce(sum(takes) filter (where own), 0) as "ownTaken",
        count(*) filter (where makes) as made,
        count(*) filter (where makes and own) as "ownMade"
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
