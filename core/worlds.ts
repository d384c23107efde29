// Which chains belong to which world. Mixing worlds loses coins, so it refuses to start.

import type { Network } from './families.ts';

/** EVM chain ids whose coins have value. A chain that is not here is not served on mainnet. */
export const mainnetChainIds: ReadonlySet<number> = new Set([
  1, 10, 56, 100, 137, 324, 8_453, 42_161, 43_114, 59_144, 534_352,
]);

/** EVM chain ids of local nodes: anvil, hardhat, geth --dev. */
export const devChainIds: ReadonlySet<number> = new Set([31_337, 31_338, 31_339, 31_340, 1_337]);

/** The world of an EVM chain id; unknown ids are test networks. */
export function worldOfChainId(chainId: number): Network {
  if (mainnetChainIds.has(chainId)) return 'mainnet';
  return devChainIds.has(chainId) ? 'dev' : 'testnet';
}

/** The world of a Bitcoin network. */
export function worldOfBitcoin(network: 'mainnet' | 'testnet' | 'signet' | 'regtest'): Network {
  if (network === 'mainnet') return 'mainnet';
  return network === 'regtest' ? 'dev' : 'testnet';
}
