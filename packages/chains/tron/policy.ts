// Time and depth of the TRON networks, as data (docs/timelocks.md). Seconds and blocks.

import type { ChainPolicy } from '@parley/core/policy.ts';

export type TronChainSettings = {
  readonly chainId: number;
  readonly policy: ChainPolicy;
};

/** One slot. */
export const tronBlockSeconds = 3;

/** Solid when 19 of 27 witnesses built on it. A deeper block does not exist. */
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

/** The simulator: solid a few blocks after the last one that held something. */
const dev: ChainPolicy = {
  ...tron,
  normal: { ...depth, confirmations: 2, settleSeconds: 30 },
  high: { ...depth, confirmations: 2, settleSeconds: 30 },
};

export const tronChains = {
  tron: { chainId: 0x2b6653dc, policy: tron },
  'tron-nile': { chainId: 0xcd8690dc, policy: tron },
  'tron-shasta': { chainId: 0x94a9059e, policy: tron },
} as const satisfies Record<string, TronChainSettings>;

export const tronDevPolicy: ChainPolicy = dev;

export type TronGasPolicy = {
  /**
   * Most energy of one call: the part of the key's coins that a hostile token or receiver can burn.
   */
  readonly mostEnergy: bigint;
  /** How long a transaction may wait for its block; then it is signed again. */
  readonly lifeSeconds: number;
  /** Sun for a unit of energy and for a byte that 99.9 % of times stay below. */
  readonly reserveEnergySun: bigint;
  readonly reserveByteSun: bigint;
};

// A claim takes 15 000 to 40 000, USDT's dearest 150 000. Prices are voted on (420 sun at most).
// While one transaction lives no other is signed for the same work: both would be paid for.
const gasPolicy: TronGasPolicy = {
  mostEnergy: 500_000n,
  lifeSeconds: 120,
  reserveEnergySun: 420n,
  reserveByteSun: 1_000n,
};

export const tronGasPolicies: Readonly<Record<string, TronGasPolicy>> = {
  tron: gasPolicy,
  'tron-nile': gasPolicy,
  'tron-shasta': gasPolicy,
  'tron-dev': gasPolicy,
};
