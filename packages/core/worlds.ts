// Which chains belong to which world: mixing worlds loses coins.

import type { Network } from './families.ts';

/** EVM chain ids whose coins have value. */
export const mainnetChainIds: ReadonlySet<number> = new Set([
  1, 10, 14, 19, 25, 30, 40, 42, 56, 57, 61, 88, 100, 106, 122, 128, 130, 137, 143, 146, 169, 196,
  204, 232, 239, 248, 250, 252, 255, 288, 295, 314, 321, 324, 360, 361, 369, 388, 480, 592, 747,
  999, 1_030, 1_088, 1_101, 1_116, 1_135, 1_284, 1_285, 1_329, 1_514, 1_750, 1_868, 1_923, 2_020,
  2_222, 2_741, 4_689, 5_000, 7_000, 7_560, 8_217, 8_453, 9_001, 9_745, 13_371, 33_139, 34_443,
  42_161, 42_170, 42_220, 42_262, 43_111, 43_114, 48_900, 50_104, 55_244, 57_073, 59_144, 60_808,
  80_094, 81_457, 88_888, 98_866, 167_000, 200_901, 534_352, 660_279, 747_474, 7_777_777,
  21_000_000, 245_022_934, 1_313_161_554, 1_666_600_000,
]);

/** EVM chain ids of public test networks. */
export const testnetChainIds: ReadonlySet<number> = new Set([
  5, 31, 97, 300, 338, 919, 1_301, 2_442, 4_002, 4_801, 5_003, 10_143, 10_200, 17_000, 33_111,
  43_113, 44_787, 57_054, 59_141, 80_002, 80_069, 84_532, 421_614, 534_351, 560_048, 763_373,
  11_142_220, 11_155_111, 11_155_420, 168_587_773, 999_999_999,
]);

/** EVM chain ids of local nodes: anvil, hardhat, geth --dev. */
export const devChainIds: ReadonlySet<number> = new Set([31_337, 31_338, 31_339, 31_340, 1_337]);

export function worldOfChainId(chainId: number): Network | null {
  if (mainnetChainIds.has(chainId)) return 'mainnet';
  if (devChainIds.has(chainId)) return 'dev';
  return testnetChainIds.has(chainId) ? 'testnet' : null;
}

export function worldOfBitcoin(network: 'mainnet' | 'testnet' | 'signet' | 'regtest'): Network {
  if (network === 'mainnet') return 'mainnet';
  return network === 'regtest' ? 'dev' : 'testnet';
}

/** TRON chain ids: the last four bytes of the first block's id. */
const tronWorlds: ReadonlyMap<number, Network> = new Map([
  [0x2b6653dc, 'mainnet'],
  [0xcd8690dc, 'testnet'],
  [0x94a9059e, 'testnet'],
]);

export function worldOfTron(chainId: number): Network | null {
  return tronWorlds.get(chainId) ?? null;
}

/** Hashes of the clusters' first blocks. */
const solanaWorlds: ReadonlyMap<string, Network> = new Map([
  ['5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', 'mainnet'],
  ['EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', 'testnet'],
  ['4uhcVJyU9pJkvQyS88uRDiswHScCkY3xQawwpjk2NsNY', 'testnet'],
]);

/** The world of a Solana cluster (mainnet-beta, devnet, testnet); null for one not known. */
export function worldOfSolana(genesisHash: string): Network | null {
  return solanaWorlds.get(genesisHash) ?? null;
}
