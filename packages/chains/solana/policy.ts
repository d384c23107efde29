// Time and depth of the Solana clusters, as data. docs/timelocks.md explains the columns. Seconds;
// `settleSeconds` is the p99.9 time from broadcast, fees and repeats included, to finality.

import type { ChainPolicy } from '@parley/core/policy.ts';

/** The confirmations of a finalized transaction; before that it has at most one fewer, and counts
 * for nothing. */
export const finalizedConfirmations = 32;

/** The seconds of one confirmation: 0.2 on mainnet since October 2026 (SIMD-0525), 0.4 before. */
export const solanaSlotSeconds = { usual: 0.2, most: 0.4 } as const;

/** A transaction names a block that is no older, and dies with that age: 30 s at 0.2 s a block. */
export const blockhashBlocks = 150;
export const blockhashSeconds = blockhashBlocks * solanaSlotSeconds.usual;

export type SolanaChainSettings = {
  /** null: not checked, on a dev chain that is made anew. */
  readonly genesisHash: string | null;
  /** Funding and reveal are refused where its clock is off by more than `driftSeconds`. */
  readonly policy: ChainPolicy;
};

const common = {
  floorSeconds: 4 * 3_600,
  reactSeconds: 1_800,
  signSeconds: 600,
  detectSeconds: 60,
} as const;

/** Finality takes 7 to 13 s; the longest outages took 17 to 19 h (docs/timelocks.md). */
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

/** A simulator: it never loses a block, and its clock is the dev network's, which never stops. */
const dev: ChainPolicy = {
  ...common,
  normal: { confirmations: finalizedConfirmations, settleSeconds: 30, outageSeconds: 3_600 },
  high: { confirmations: finalizedConfirmations, settleSeconds: 30, outageSeconds: 3_600 },
  lateClaimSeconds: 120,
  driftSeconds: 120,
  windowSeconds: 0,
};

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

/** The price of an operator's gas key: millionths of a lamport for each compute unit. */
export type SolanaGasPolicy = {
  /** Offered also where nobody else has offered anything of late. */
  readonly leastUnitPrice: bigint;
  /** A price that is enough 99.9 % of times. */
  readonly reserveUnitPrice: bigint;
};

/** Chosen, not measured: 10 000 000 is 0.0012 SOL for a claim of tokens. */
const clusterGas: SolanaGasPolicy = { leastUnitPrice: 10_000n, reserveUnitPrice: 10_000_000n };

export const solanaGasPolicies: Readonly<Record<string, SolanaGasPolicy>> = {
  solana: clusterGas,
  'solana-devnet': clusterGas,
  'solana-dev': clusterGas,
};
