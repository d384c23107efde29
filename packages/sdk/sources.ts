// Chain sources of the customer's own: its pinned facts about a chain, and an adapter by its own
// nodes. A page that needs one family loads that file of `sources/` alone.

import type { Family } from '@parley/core/families.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import { devPolicy as solana } from './sources/solana.ts';
import { devPolicy as tron } from './sources/tron.ts';

export type { ChainSource } from './chains.ts';
// biome-ignore lint/performance/noBarrelFile: a bot takes them all, and a page takes one file each.
export { type BitcoinSourceOptions, bitcoinSource } from './sources/bitcoin.ts';
export { type EvmSourceOptions, evmSource } from './sources/evm.ts';
export { type SolanaSourceOptions, solanaSource } from './sources/solana.ts';
export { type TronSourceOptions, tronSource } from './sources/tron.ts';

/**
 * The policies of dev networks, as `policy`: a dev chain of TRON or Solana has no lasting id. Never
 * with money on it.
 */
export const devPolicies = { tron, solana } as const satisfies Partial<Record<Family, ChainPolicy>>;
