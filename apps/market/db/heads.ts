// The heads that the followers last saw of each chain.

import type { Heads } from '@parley/chains/interface/reading.ts';
import type { ChainKey } from '@parley/core/families.ts';
import { many, none } from '@parley/host/postgres/statements.ts';

/** A block that was known keeps the time of its first sight, across restarts too. */
export const storeHeads = none<[chain: ChainKey, heads: Heads, at: Date]>('heads_store')`
  insert into chain_heads (chain, height, hash, clock, seen_at)
    values ($1, :height, :hash, :clock, $3)
    on conflict (chain) do update set height = :height, hash = :hash, clock = :clock,
      seen_at = case when chain_heads.hash = :hash then chain_heads.seen_at else $3 end`;

export const readHeads = many<
  [],
  Pick<Heads, 'height' | 'clock'> & { readonly chain: ChainKey; readonly seenAt: Date }
>('heads_read')`
  select chain, height, clock, seen_at as "seenAt" from chain_heads order by chain`;
