// What the followers last saw of each chain.

import type { Heads } from '../../chains/interface/reading.ts';
import type { ChainKey } from '../../core/families.ts';
import type { Tx } from './database.ts';

export async function storeHeads(tx: Tx, chain: ChainKey, heads: Heads, at: Date): Promise<void> {
  await tx.rows({
    name: 'heads_store',
    text: `insert into chain_heads (chain, height, hash, clock, seen_at)
      values ($1, $2, $3, $4, $5)
      on conflict (chain) do update set height = $2, hash = $3, clock = $4, seen_at = $5`,
    values: [chain, heads.height, heads.hash, heads.clock, at],
  });
}

/** The chain's own clock as last seen, Unix seconds; null = never. */
export async function clockOfChain(tx: Tx, chain: ChainKey): Promise<number | null> {
  const [row] = await tx.rows<{ clock: number }>({
    name: 'heads_clock',
    text: 'select clock from chain_heads where chain = $1',
    values: [chain],
  });
  return row?.clock ?? null;
}
