// Chains that a trader knows by their ids: world, name, and public nodes to begin with. A market's
// name for a chain is never shown as what it is. A public node sees what one asks: nodes of one's
// own go before them.

import { type Family, factsOf, has, type Network } from '@parley/core/families.ts';
import {
  devChainIds,
  worldOfBitcoin,
  worldOfChainId,
  worldOfSolana,
  worldOfTron,
} from '@parley/core/worlds.ts';
import type { PinnedChain } from './sources.ts';

const evmNames: Readonly<Record<number, string>> = {
  1: 'Ethereum',
  10: 'OP Mainnet',
  8453: 'Base',
  42161: 'Arbitrum One',
  11155111: 'Sepolia',
  11155420: 'OP Sepolia',
  84532: 'Base Sepolia',
  421614: 'Arbitrum Sepolia',
};
const bitcoinNames = { mainnet: 'Bitcoin', testnet: 'Bitcoin testnet', regtest: 'Bitcoin regtest' };
/**
 * The meaning of the keys that screens display as names (parts/words.ts): a family, or a chain id.
 * A market could call another chain so, and a person would be paid where it does not look.
 */
const meant: Readonly<Record<string, Family | number>> = {
  bitcoin: 'bitcoin',
  tron: 'tron',
  solana: 'solana',
  ethereum: 1,
  optimism: 10,
  base: 8453,
  arbitrum: 42161,
  polygon: 137,
  bsc: 56,
  avalanche: 43114,
};
const publicNodes: Readonly<Record<string, readonly string[]>> = {
  'bitcoin mainnet': ['https://mempool.space/api', 'https://blockstream.info/api'],
  'evm 1': ['https://ethereum-rpc.publicnode.com', 'https://eth.drpc.org'],
  'evm 10': ['https://mainnet.optimism.io', 'https://optimism-rpc.publicnode.com'],
  'evm 8453': ['https://mainnet.base.org', 'https://base-rpc.publicnode.com'],
  'evm 42161': ['https://arb1.arbitrum.io/rpc', 'https://arbitrum-one-rpc.publicnode.com'],
  'evm 11155111': ['https://ethereum-sepolia-rpc.publicnode.com'],
  'evm 11155420': ['https://sepolia.optimism.io'],
  'evm 84532': ['https://sepolia.base.org'],
  'evm 421614': ['https://sepolia-rollup.arbitrum.io/rpc'],
  'tron 728126428': ['https://api.trongrid.io'],
  'tron 3448148188': ['https://nile.trongrid.io'],
  'tron 2494104990': ['https://api.shasta.trongrid.io'],
  'solana 5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d': ['https://api.mainnet-beta.solana.com'],
  'solana EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG': ['https://api.devnet.solana.com'],
  'solana 4uhcVJyU9pJkvQyS88uRDiswHScCkY3xQawwpjk2NsNY': ['https://api.testnet.solana.com'],
};
const worldNames: Readonly<Record<Network, string>> = {
  mainnet: '',
  testnet: ' test network',
  dev: ' dev chain',
};

/** null: an EVM chain whose coin no table here has: on many of them it is not ETH. */
export function coinSymbolOf(chain: PinnedChain): string | null {
  const { symbol } = factsOf[chain.family].coin;
  if (!has(chain, 'chainIds')) return symbol;
  return chain.chainId in evmNames || devChainIds.has(chain.chainId) ? symbol : null;
}

/** null: no table has it. */
export function worldOf(chain: PinnedChain): Network | null {
  switch (chain.family) {
    case 'bitcoin':
      return worldOfBitcoin(chain.bitcoin);
    case 'evm':
      return worldOfChainId(chain.chainId);
    case 'tron':
      return worldOfTron(chain.chainId);
    case 'solana':
      return worldOfSolana(chain.genesisHash);
  }
}

export function evmTitle(chainId: number): string {
  return evmNames[chainId] ?? `EVM chain ${chainId}`;
}

/**
 * `network`: the network that the market says it trades on. A chain of no table is a dev chain
 * there.
 */
export function titleOf(chain: PinnedChain, network: Network): string {
  const world = worldOf(chain) ?? (network === 'dev' ? 'dev' : null);
  const kind = world === null ? ' unknown network' : worldNames[world];
  switch (chain.family) {
    case 'bitcoin':
      return bitcoinNames[chain.bitcoin];
    case 'evm':
      return evmTitle(chain.chainId);
    case 'tron':
      return `TRON${kind}`;
    case 'solana':
      return `Solana${kind}`;
  }
}

/**
 * Whether swaps may be on it. A dev network's TRON and Solana are made anew and in no table; their
 * coins have no value. null: it is in order.
 */
export function worldFault(
  chain: PinnedChain & { readonly chain: string },
  network: Network,
): string | null {
  const world = worldOf(chain);
  const own = has(chain, 'chainIds') ? chain.chainId : chain.family;
  const named = Object.hasOwn(meant, chain.chain) ? meant[chain.chain] : own;
  if (world === 'mainnet' && named !== own) {
    return `this market calls it "${chain.chain}", and it is ${titleOf(chain, network)}`;
  }
  const isOfDev = network === 'dev' && world === null && /^(tron|solana)$/.test(chain.family);
  if (world === network || isOfDev) return null;
  const what = world === null ? 'of no network that is known here' : `of the network "${world}"`;
  return `"${chain.chain}" is ${what}, and this market says it trades on "${network}"`;
}

/** Public nodes by the id of a chain, whatever a market calls it. */
export function publicNodesOf(of: PinnedChain): readonly string[] {
  switch (of.family) {
    case 'bitcoin':
      return publicNodes[`bitcoin ${of.bitcoin}`] ?? [];
    case 'evm':
    case 'tron':
      return publicNodes[`${of.family} ${of.chainId}`] ?? [];
    case 'solana':
      return publicNodes[`solana ${of.genesisHash}`] ?? [];
  }
}
