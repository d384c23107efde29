// Time and depth of the Solana clusters, as data. docs/timelocks.md explains the columns. Seconds;
// `settleSeconds` is the p99.9 time from broadcast, fees and repeats included, to finality.

import type { ChainPolicy } from '../../core/policy.ts';

/**
 * What a finalized transaction is said to have. Nothing counts before it is finalized, whatever the
 * amount: until then a transaction has at most one fewer.
 */
export const finalizedConfirmations = 32;

export type SolanaChainSettings = {
  /** null: not checked, on a dev chain that is made anew. */
  readonly genesisHash: string | null;
  /**
   * Its clock is measured at every funding and reveal, which are refused where it is further from
   * wall time than `driftSeconds`.
   */
  readonly policy: ChainPolicy;
};

const common = {
  floorSeconds: 4 * 3_600,
  reactSeconds: 1_800,
  signSeconds: 600,
  detectSeconds: 60,
} as const;

/**
 * Finality takes about 13 s. The longest outages on record took 17 to 19 hours: amounts below
 * `highValueFrom` are not held through those, which docs/timelocks.md says and what it may cost.
 */
const cluster: ChainPolicy = {
  ...common,
  normal: {
    confirmations: finalizedConfirmations,
    settleSeconds: 300,
    outageSeconds: 6 * 3_600,
  },
  high: {
    confirmations: finalizedConfirmations,
    settleSeconds: 300,
    outageSeconds: 24 * 3_600,
  },
  lateClaimSeconds: 1_800,
  driftSeconds: 1_800,
  // The clock goes on from where it stood, and within an epoch catches up as slots come.
  windowSeconds: null,
};

/** A simulator: nothing is ever lost, and its clock is the dev network's. */
const dev: ChainPolicy = {
  ...common,
  normal: { confirmations: finalizedConfirmations, settleSeconds: 30, outageSeconds: 3_600 },
  high: { confirmations: finalizedConfirmations, settleSeconds: 30, outageSeconds: 3_600 },
  lateClaimSeconds: 120,
  driftSeconds: 120,
  windowSeconds: null,
};

/** By chain key. */
export const solanaChains = {
  solana: {
    genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    policy: cluster,
  },
  'solana-devnet': {
    genesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
    policy: cluster,
  },
  'solana-dev': { genesisHash: null, policy: dev },
} as const satisfies Record<string, SolanaChainSettings>;

export const solanaDevPolicy: ChainPolicy = dev;
