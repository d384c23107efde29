// How each provider names the chains that it knows, by what a chain is and not by what a deployment
// calls it. A chain that is not here is asked about nowhere: no test network has a market.

import type { ChainIdentity } from './facts.ts';

type Names = {
  readonly evm: ReadonlyMap<number, string>;
  readonly tron: string;
  readonly solana: string;
};

/** The mainnets: packages/core/worlds.ts has the same numbers among those of other networks. */
const tronMainnet = 0x2b6653dc;
const solanaMainnet = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';

const named = (list: string): ReadonlyMap<number, string> =>
  new Map(
    list
      .trim()
      .split(/\s+/)
      .map((each) => each.split(':'))
      .map(([id, name = '']) => [Number(id), name]),
  );

// GET /networks of GeckoTerminal, which CoinGecko's on-chain API shares.
export const geckoNames: Names = {
  evm: named(`
      1:eth 10:optimism 25:cro 56:bsc 100:xdai 122:fuse 137:polygon_pos 169:manta-pacific
      204:opbnb 250:ftm 288:boba 324:zksync 1088:metis 1101:polygon-zkevm 1284:glmr
      1285:movr 5000:mantle 8453:base 34443:mode 42161:arbitrum 42170:arbitrum_nova
      42220:celo 43114:avax 59144:linea 81457:blast 534352:scroll 1313161554:aurora`),
  tron: 'tron',
  solana: 'solana',
};

/** Chain ids that GoPlus takes as they are. */
const goPlusChainIds = [
  1, 10, 25, 56, 100, 137, 169, 204, 250, 324, 5_000, 8_453, 42_161, 43_114, 59_144, 81_457,
  534_352,
];

export const goPlusNames: Names = {
  evm: new Map(goPlusChainIds.map((id) => [id, String(id)])),
  tron: 'tron',
  solana: 'solana',
};

export function nameOf(names: Names, chain: ChainIdentity): string | null {
  switch (chain.family) {
    case 'evm':
      return names.evm.get(chain.chainId) ?? null;
    case 'tron':
      return chain.chainId === tronMainnet ? names.tron : null;
    case 'solana':
      return chain.genesisHash === solanaMainnet ? names.solana : null;
    case 'bitcoin':
      return null;
  }
}

/** Ids and keys of answers are in small letters where the address is in hex. */
export function spelt(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address;
}

/** Whether two spellings are one address: only those in hex may differ in case. */
export function sameAddress(one: unknown, other: string): boolean {
  if (typeof one !== 'string') return false;
  return one === other || (other.startsWith('0x') && one.toLowerCase() === other.toLowerCase());
}
