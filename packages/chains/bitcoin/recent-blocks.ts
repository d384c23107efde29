// The blocks that a follower read last, by their hash. An escrow that is watched a moment
// late has its past in them, so they are not asked for again.

import type { Block } from './block.ts';

/** Four full blocks, or eight of the usual size. */
const mostBytes = 16 * 1024 * 1024;
/** Where blocks are nearly empty, as on regtest. */
const mostBlocks = 500;

export type RecentBlocks = {
  get(hash: string): Block | undefined;
  keep(block: Block): void;
};

export function recentBlocks(limits = { bytes: mostBytes, blocks: mostBlocks }): RecentBlocks {
  const kept = new Map<string, Block>();
  let held = 0;
  return {
    get: (hash) => kept.get(hash),
    keep: (block) => {
      if (kept.has(block.hash)) return;
      kept.set(block.hash, block);
      held += block.size;
      for (const [oldest, { size }] of kept) {
        if (held <= limits.bytes && kept.size <= limits.blocks) return;
        kept.delete(oldest);
        held -= size;
      }
    },
  };
}
