// Time and depth of the TRON networks, as data. docs/timelocks.md explains the columns. Seconds and
// blocks; `settleSeconds` is the p99.9 time from broadcast to that depth.

import type { ChainPolicy } from '../../core/policy.ts';

export type TronChainSettings = {
  /** The last four bytes of the first block's id. */
  readonly chainId: number;
  readonly policy: ChainPolicy;
};

/**
 * A block every 3 s, solid when 19 of 27 witnesses built on it, which takes a minute. Nothing
 * counts before it is solid, whatever the number of confirmations; more than that is nowhere to be
 * had, so large amounts want the same.
 */
const depth = { confirmations: 19, settleSeconds: 300, outageSeconds: 3_600 } as const;

const tron: ChainPolicy = {
  floorSeconds: 4 * 3_600,
  normal: depth,
  high: depth,
  // The contract compares with the block's time, which is a slot's: never ahead of its witness.
  lateClaimSeconds: 60,
  driftSeconds: 60,
  windowSeconds: 0,
  reactSeconds: 1_800,
  signSeconds: 600,
  detectSeconds: 60,
};

/**
 * The simulator: solid a few blocks after the last one that held something. Like a dev EVM chain
 * and a dev Solana it comes to the same timelocks as the short leg and as the long one: leg `b` is
 * long.
 */
const dev: ChainPolicy = {
  ...tron,
  normal: { ...depth, confirmations: 2, settleSeconds: 30 },
  high: { ...depth, confirmations: 2, settleSeconds: 30 },
};

/** By chain key. A chain that is not here is configured with numbers of its own. */
export const tronChains = {
  tron: { chainId: 0x2b6653dc, policy: tron },
  'tron-nile': { chainId: 0xcd8690dc, policy: tron },
  'tron-shasta': { chainId: 0x94a9059e, policy: tron },
} as const satisfies Record<string, TronChainSettings>;

export const tronDevPolicy: ChainPolicy = dev;
