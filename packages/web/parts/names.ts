// How chains, assets and addresses are called for people.

import type { Asset } from '@parley/sdk/types.ts';

const known: Readonly<Record<string, string>> = {
  bitcoin: 'Bitcoin',
  ethereum: 'Ethereum',
  base: 'Base',
  optimism: 'Optimism',
  arbitrum: 'Arbitrum',
  polygon: 'Polygon',
  bsc: 'BNB Chain',
  avalanche: 'Avalanche',
  tron: 'TRON',
  solana: 'Solana',
};

/** A chain that is not known by name keeps the id that the market gives it. */
export function chainName(chain: string): string {
  return known[chain] ?? chain;
}

/** The same symbol is another thing on another chain: `USDT on TRON`. */
export function assetName({ symbol, chain }: Pick<Asset, 'symbol' | 'chain'>): string {
  return `${symbol} on ${chainName(chain)}`;
}

/**
 * For recognising only: a look-alike with the same ends is cheap to make. An address that is paid
 * or signed is displayed whole.
 */
export function shortAddress(address: string): string {
  return address.length <= 16 ? address : `${address.slice(0, 8)}…${address.slice(-6)}`;
}
