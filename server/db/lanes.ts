// Which lane of a funder each escrow has. A lane is free again when its escrow is settled for good,
// or was never funded and can no longer be: then the next one takes it. Nothing is written when a
// lane becomes free: whoever looks for one sees it by the escrow's facts.

import type { ChainKey } from '../../core/families.ts';
import type { Lane } from '../../core/terms.ts';
import type { Tx } from './database.ts';

/** The lanes that one account uses of one funder: their numbers begin with `tag`. */
export type LaneRange = {
  readonly chain: ChainKey;
  readonly contract: string;
  readonly funder: string;
  /** 16 hex digits. */
  readonly tag: string;
};

/** As many times a lane is used. Source: the width of the counter in the contract's word. */
const mostUses = 2 ** 30 - 1;

/** One at a time for each range, until the transaction ends. */
export async function lockLanes(
  tx: Tx,
  { chain, contract, funder, tag }: LaneRange,
): Promise<void> {
  await tx.rows({
    name: 'lanes_lock',
    text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`,
    values: [`lanes ${chain} ${contract} ${funder} ${tag}`],
  });
}

/**
 * The lowest lanes that are free, each with its next counter. What was never seen to be funded
 * holds its lane until `marginSeconds` after the last moment for it, by the chain's clock. Call
 * `lockLanes` before one is taken.
 */
export async function freeLanes(
  tx: Tx,
  { chain, contract, funder, tag }: LaneRange,
  { marginSeconds, limit }: { readonly marginSeconds: number; readonly limit: number },
): Promise<Lane[]> {
  return tx.rows<Lane>({
    name: 'lanes_free',
    text: `select l.number, l.counter + (u.settled is true)::integer as counter
      from lanes l
        left join escrows e on e.chain = l.chain and e.address = l.escrow
        left join chain_heads h on h.chain = l.chain
        cross join lateral (select (e.facts ->> 'empty')::boolean
          and (e.facts -> 'claimed' ->> 'deep' = 'true'
            or e.facts -> 'refunded' ->> 'deep' = 'true') as settled) u
      where l.chain = $1 and l.contract = $2 and l.funder = $3 and left(l.number, 16) = $4
        and (e.address is null or u.settled
          or e.facts ->> 'funded' is null and e.facts ->> 'claimed' is null
            and e.facts ->> 'refunded' is null
            and (e.terms ->> 'fundBefore')::bigint + $5 < h.clock)
        and l.counter < $6
      order by l.number limit $7`,
    values: [chain, contract, funder, tag, marginSeconds, mostUses, limit],
  });
}

/** How many lanes the range has, free or not. */
export async function countLanes(
  tx: Tx,
  { chain, contract, funder, tag }: LaneRange,
): Promise<number> {
  const [row] = await tx.rows<{ count: number }>({
    name: 'lanes_count',
    text: `select count(*)::integer as count from lanes
      where chain = $1 and contract = $2 and funder = $3 and left(number, 16) = $4`,
    values: [chain, contract, funder, tag],
  });
  return row?.count ?? 0;
}

/** Gives the lane to an escrow. */
export async function holdLane(
  tx: Tx,
  row: {
    readonly chain: ChainKey;
    readonly contract: string;
    readonly funder: string;
    readonly lane: Lane;
    readonly escrow: string;
  },
): Promise<void> {
  const { chain, contract, funder, lane, escrow } = row;
  await tx.rows({
    name: 'lane_hold',
    text: `insert into lanes (chain, contract, funder, number, counter, escrow)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (chain, contract, funder, number) do update set counter = $5, escrow = $6`,
    values: [chain, contract, funder, lane.number, lane.counter, escrow],
  });
}
