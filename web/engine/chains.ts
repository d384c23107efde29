// The app's own table of chains: their worlds and names. A market's name for a chain is never shown
// as what it is.

import type { AppChain } from '../../core/app-chain.ts';
import type { Family, Network } from '../../core/families.ts';
import { worldOfBitcoin, worldOfChainId, worldOfSolana, worldOfTron } from '../../core/worlds.ts';

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
 * The meaning of the keys that screens display as names (parts/names.ts): a family, or a chain id.
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
const worldNames: Readonly<Record<Network, string>> = {
  mainnet: '',
  testnet: ' test network',
  dev: ' dev chain',
};

/** null: no table of the app has it. */
export function worldOf(chain: AppChain): Network | null {
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
 * `network`: the one that the market claims to trade on. A chain of no table is a dev chain there.
 */
export function titleOf(chain: AppChain, network: Network): string {
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
export function worldFault(chain: AppChain, network: Network): string | null {
  const world = worldOf(chain);
  const own = chain.family === 'evm' ? chain.chainId : chain.family;
  const named = Object.hasOwn(meant, chain.chain) ? meant[chain.chain] : own;
  if (world === 'mainnet' && named !== own) {
    return `this market calls it "${chain.chain}", and it is ${titleOf(chain, network)}`;
  }
  const isOfDev = network === 'dev' && world === null && /^(tron|solana)$/.test(chain.family);
  if (world === network || isOfDev) return null;
  const what = world === null ? 'of no network that this app knows' : `of the network "${world}"`;
  return `"${chain.chain}" is ${what}, and this market says it trades on "${network}"`;
}
