// The heads that the followers last saw of each chain.

import type { Heads } from '@parley/chains/interface/reading.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { many, none } from '@parley/host/postgres/statements.ts';
import { holdsLease } from './leases.ts';

/**
 * `doneTo`: the next follower reads on from this height, as all below it is stored; null: it is what
 * it was.
 */
type Followed = Heads & { readonly doneTo: number | null };

/**
 * A block that was known keeps the time of its first sight, across restarts too. `follower`: the
 * process whose heads they are, which may have stood still since; null: it follows alone.
 */
export const storeHeads = none<
  [chain: ChainKey, heads: Followed, at: Date, follower: number | null]
>('heads_store')`
  insert into chain_heads (chain, height, hash, clock, done_to, seen_at)
    select $1, :height, :hash, :clock, :doneTo, $3
      where $4::integer is null or ${holdsLease('$1', '$4')}
    on conflict (chain) do update set height = :height, hash = :hash, clock = :clock,
      done_to = coalesce(:doneTo, chain_heads.done_to),
      seen_at = case when chain_heads.hash = :hash then chain_heads.seen_at else $3 end`;

export const readHeads = many<
  [],
  Followed & {
    readonly chain: ChainKey;
    readonly seenAt: Date;
  }
>('heads_read')`
  select chain, height, hash, clock, done_to as "doneTo", seen_at as "seenAt" from chain_heads order by chain`;
