// Time and depth of the EVM chains, as data (docs/timelocks.md). Seconds and blocks.

import type { ChainPolicy } from '@parley/core/policy.ts';

/** A head that a node names by itself, behind which a block is not expected to go away. */
export type DepthTag = 'safe' | 'finalized';

export type EvmChainSettings = {
  readonly chainId: number;
  readonly policy: ChainPolicy;
  /** Amounts that want `policy.high` wait for this head too. null: confirmations alone. */
  readonly depthTag: DepthTag | null;
  /** Usual time between blocks. */
  readonly blockSeconds: number;
};

const common = {
  floorSeconds: 4 * 3_600,
  // The contracts compare with the block's time; nodes accept one up to 15 s ahead of theirs.
  lateClaimSeconds: 60,
  driftSeconds: 60,
  // A block has the time of its slot, however many before it are empty.
  windowSeconds: 0,
  reactSeconds: 1_800,
  signSeconds: 600,
  detectSeconds: 60,
} as const;

/** 12-second slots; two epochs (64 blocks) finalise. */
const ethereum: ChainPolicy = {
  ...common,
  normal: { confirmations: 12, settleSeconds: 600, outageSeconds: 3_600 },
  high: { confirmations: 32, settleSeconds: 1_800, outageSeconds: 3_600 },
};

// Clock bounds: OP chains max_sequencer_drift and seq_window_size; Arbitrum futureSeconds,
// delaySeconds.
function rollup(
  highConfirmations: number,
  { driftSeconds, windowSeconds }: Pick<ChainPolicy, 'driftSeconds' | 'windowSeconds'>,
): ChainPolicy {
  return {
    ...common,
    lateClaimSeconds: driftSeconds,
    driftSeconds,
    windowSeconds,
    normal: { confirmations: 15, settleSeconds: 300, outageSeconds: 12 * 3_600 },
    high: {
      confirmations: highConfirmations,
      settleSeconds: 3_600,
      // the delay after which a transaction forced in through Ethereum must be included
      outageSeconds: 24 * 3_600,
    },
  };
}

/** Local anvil: blocks come every second or two, and nothing is ever lost. */
const dev: ChainPolicy = {
  ...common,
  normal: { confirmations: 2, settleSeconds: 30, outageSeconds: 3_600 },
  high: { confirmations: 4, settleSeconds: 60, outageSeconds: 3_600 },
};

const opClock = { driftSeconds: 1_800, windowSeconds: 12 * 3_600 };
const arbitrumClock = { driftSeconds: 3_600, windowSeconds: 24 * 3_600 };

export const evmChains = {
  ethereum: { chainId: 1, policy: ethereum, depthTag: null, blockSeconds: 12 },
  sepolia: { chainId: 11_155_111, policy: ethereum, depthTag: null, blockSeconds: 12 },
  optimism: { chainId: 10, policy: rollup(30, opClock), depthTag: 'safe', blockSeconds: 2 },
  'optimism-sepolia': {
    chainId: 11_155_420,
    policy: rollup(30, opClock),
    depthTag: 'safe',
    blockSeconds: 2,
  },
  base: { chainId: 8_453, policy: rollup(30, opClock), depthTag: 'safe', blockSeconds: 2 },
  'base-sepolia': {
    chainId: 84_532,
    policy: rollup(30, opClock),
    depthTag: 'safe',
    blockSeconds: 2,
  },
  arbitrum: {
    chainId: 42_161,
    policy: rollup(240, arbitrumClock),
    depthTag: 'safe',
    blockSeconds: 1,
  },
  'arbitrum-sepolia': {
    chainId: 421_614,
    policy: rollup(240, arbitrumClock),
    depthTag: 'safe',
    blockSeconds: 1,
  },
  'evm-dev': { chainId: 31_337, policy: dev, depthTag: null, blockSeconds: 1 },
  'evm-dev-2': { chainId: 31_338, policy: dev, depthTag: null, blockSeconds: 1 },
} as const satisfies Record<string, EvmChainSettings>;

/** By the chain's id, whatever it is called; an unknown id has Ethereum's. */
export function evmBlockSeconds(chainId: number): number {
  const known = Object.values(evmChains).find((each) => each.chainId === chainId);
  return known?.blockSeconds ?? evmChains.ethereum.blockSeconds;
}
