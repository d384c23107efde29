// Which lane of its owner each escrow has. A lane is free again when its escrow is settled for good,
// or was never funded and can no longer be: then the next one takes it. A lane that becomes free
// causes no write: a search sees it by the escrow's facts.

import type { ChainKey } from '@parley/core/families.ts';
import type { Lane } from '@parley/core/terms.ts';
import { count, many, none } from '@parley/host/postgres/statements.ts';

/** The lanes that one account uses of one owner: their numbers begin with `tag`. */
export type LaneRange = {
  readonly chain: ChainKey;
  readonly contract: string;
  readonly owner: string;
  /** 16 hex digits. */
  readonly tag: string;
};

/** Which lane of its range: the last four bytes of its number. */
const laneIndex = "('x' || right(number, 8))::bit(32)::bigint";

/** As many times a lane is used. Source: the width of the counter in the contract's word. */
const mostUses = 2 ** 30 - 1;

/** One at a time for each range, until the transaction ends. */
export const lockLanes = none<[range: LaneRange]>('lanes_lock')`
  select pg_advisory_xact_lock(hashtextextended(
    'lanes ' || :chain || ' ' || :contract || ' ' || :owner || ' ' || :tag, 0))`;

type Margin = { readonly marginSeconds: number; readonly limit: number };

/**
 * The lowest lanes that are free, each with its next counter. An escrow that was never seen to be
 * funded holds its lane until `marginSeconds` after the last moment for it, by the chain's clock.
 * Call `lockLanes` before one is taken.
 */
export const freeLanes = many<[range: LaneRange, margin: Margin], Lane>('lanes_free')`
  select l.number, l.counter + (u.settled is true)::integer as counter
    from lanes l
      left join escrows e on e.chain = l.chain and e.address = l.escrow
      left join chain_heads h on h.chain = l.chain
      cross join lateral (select (e.facts ->> 'empty')::boolean
        and (e.facts -> 'claimed' ->> 'deep' = 'true'
          or e.facts -> 'refunded' ->> 'deep' = 'true') as settled) u
    where l.chain = :chain and l.contract = :contract and l.owner = :owner
      and left(l.number, 16) = :tag
      and (e.address is null or u.settled
        or e.facts ->> 'funded' is null and e.facts ->> 'claimed' is null
          and e.facts ->> 'refunded' is null
          and (e.terms ->> 'fundBefore')::bigint + :marginSeconds < h.clock)
      and l.counter < ${String(mostUses)}
    order by l.number limit :limit`;

/** How many lanes the range has, free or not: up to the highest that was ever used. */
export const countLanes = count<[of: LaneRange]>('lanes_count')`
  select coalesce(max(${laneIndex}) + 1, 0)::integer as count from lanes
    where chain = :chain and contract = :contract and owner = :owner and left(number, 16) = :tag`;

/** Gives the lane to an escrow. */
export const holdLane = none<
  [
    row: {
      readonly chain: ChainKey;
      readonly contract: string;
      readonly owner: string;
      readonly lane: Lane;
      readonly escrow: string;
    },
  ]
>('lane_hold')`
  insert into lanes (chain, contract, owner, number, counter, escrow)
    values (:chain, :contract, :owner, :lane.number, :lane.counter, :escrow)
    on conflict (chain, contract, owner, number) do update set counter = :lane.counter,
      escrow = :escrow`;
