// The blocks that a follower read last, as bytes by their hash. An escrow that is watched a moment
// late has its past in them, so they are not asked for again.

/** Four full blocks, or eight of the usual size. */
const mostBytes = 16 * 1024 * 1024;
/** Where blocks are nearly empty, as on regtest. */
const mostBlocks = 500;

export type RecentBlocks = {
  get(hash: string): Uint8Array | undefined;
  keep(hash: string, bytes: Uint8Array): void;
};

export function recentBlocks(limits = { bytes: mostBytes, blocks: mostBlocks }): RecentBlocks {
  const kept = new Map<string, Uint8Array>();
  let held = 0;
  return {
    get: (hash) => kept.get(hash),
    keep: (hash, bytes) => {
      if (kept.has(hash)) return;
      kept.set(hash, bytes);
      held += bytes.length;
      for (const [oldest, { length }] of kept) {
        if (held <= limits.bytes && kept.size <= limits.blocks) return;
        kept.delete(oldest);
        held -= length;
      }
    },
  };
}
