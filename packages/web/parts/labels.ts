// How assets of a swap are called: by the symbols that the market lists, else by what this app
// knows of the chain by itself.

import { type Family, factsOf } from '@parley/core/families.ts';
import type { PinnedAsset } from '@parley/sdk/trade.ts';

export type Listed = { readonly id: string; readonly symbol: string };

const coins: Readonly<Record<string, string>> = { polygon: 'POL', bsc: 'BNB', avalanche: 'AVAX' };

/** A token that nobody lists goes by its contract: a name could be anybody's. */
export function symbolOf(
  { id, chain, token }: PinnedAsset,
  family: Family,
  listed: readonly Listed[],
): string {
  if (token === null) return coins[chain] ?? factsOf[family].coin.symbol;
  const known = listed.find((each) => each.id === id);
  return known?.symbol ?? `token ${token.slice(0, 6)}…${token.slice(-4)}`;
}

/** The explorers of chains that this app's own tables know: a dev chain has none. */
const explorers: Readonly<Record<string, readonly [name: string, before: string, after?: string]>> =
  {
    bitcoin: ['mempool.space', 'https://mempool.space/tx/'],
    ethereum: ['Etherscan', 'https://etherscan.io/tx/'],
    base: ['BaseScan', 'https://basescan.org/tx/'],
    optimism: ['Optimism Etherscan', 'https://optimistic.etherscan.io/tx/'],
    arbitrum: ['Arbiscan', 'https://arbiscan.io/tx/'],
    tron: ['Tronscan', 'https://tronscan.org/#/transaction/'],
    solana: ['Solana Explorer', 'https://explorer.solana.com/tx/'],
    signet: ['mempool.space', 'https://mempool.space/signet/tx/'],
    sepolia: ['Etherscan', 'https://sepolia.etherscan.io/tx/'],
    nile: ['Tronscan', 'https://nile.tronscan.org/#/transaction/'],
    'solana-devnet': ['Solana Explorer', 'https://explorer.solana.com/tx/', '?cluster=devnet'],
  };

type Explorer = { readonly name: string; readonly url: string };

/** null where the chain is not known, or the id could lead elsewhere. */
export function explorerOf(chain: string, isKnown: boolean, txid: string): Explorer | null {
  const [name, before, after = ''] = explorers[chain] ?? [];
  if (!isKnown || name === undefined || !/^[0-9A-Za-z]{32,90}$/.test(txid)) return null;
  return { name, url: `${before}${txid}${after}` };
}
