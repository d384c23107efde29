// The line `Chain ID:` of a text that a wallet signs in the browser. Only EVM wallets judge it:
// they warn where it is not the chain that they are on.

import { ParleyError } from '@parley/core/errors.ts';
import { type Family, has, type Network } from '@parley/core/families.ts';
import type { Of } from '../settings/chains.ts';
import { devEvmChain, type Settings } from '../settings/config.ts';

type ChainsServed = Pick<Settings, 'network' | 'chains' | 'devEvmChains'>;

/** Where no chain of the family is served its wallets sign in all the same. */
const otherwise: Readonly<Record<Network, Readonly<Record<'evm' | 'solana', string>>>> = {
  mainnet: { evm: '1', solana: 'mainnet' },
  testnet: { evm: '11155111', solana: 'testnet' },
  dev: { evm: '31337', solana: 'localnet' },
};

/** First blocks of Solana's clusters, as Sign In With Solana names these. */
const clusters: ReadonlyMap<string, string> = new Map([
  ['5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', 'mainnet'],
  ['EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', 'devnet'],
  ['4uhcVJyU9pJkvQyS88uRDiswHScCkY3xQawwpjk2NsNY', 'testnet'],
]);

/**
 * The text of TRON and Bitcoin has no such line. `chainId`: the one that an EVM wallet is on.
 * Throws `bad_field` where it is not served.
 */
export function chainLineOf(
  settings: ChainsServed,
  family: Family,
  chainId: number | null,
): string {
  if (chainId !== null && !has(family, 'chainIds')) {
    throw new ParleyError('bad_field', 'field "chainId" is for EVM wallets alone');
  }
  switch (family) {
    case 'evm':
      return evmLine(settings, chainId);
    case 'solana': {
      const hash = servedOf(settings, 'solana')[0]?.genesisHash ?? '';
      return clusters.get(hash) ?? otherwise[settings.network].solana;
    }
    case 'tron':
    case 'bitcoin':
      return '';
  }
}

function evmLine(settings: ChainsServed, chainId: number | null): string {
  const { network, chains, devEvmChains } = settings;
  const dev = Array.from({ length: devEvmChains }, (_, at) => devEvmChain(at).chainId);
  const served = chains === null ? dev : servedOf(settings, 'evm').map((each) => each.chainId);
  const ids = served.length === 0 ? [Number(otherwise[network].evm)] : served;
  if (chainId === null || ids.includes(chainId)) return String(chainId ?? ids[0]);
  throw new ParleyError(
    'bad_field',
    `field "chainId" is ${chainId}; wallets sign in on ${ids.slice(0, 20).join(', ')}`,
  );
}

function servedOf<F extends Family>({ chains }: ChainsServed, family: F): Of<F>[] {
  return (chains ?? []).filter((each): each is Of<F> => each.family === family);
}
