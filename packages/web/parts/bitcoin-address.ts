// The fault of a Bitcoin address while it is typed: a beginning that can still become one has none. The engine checks it again before it is used.

import { bitcoinNetworks, parseBitcoinAddress } from '@parley/chains/bitcoin/networks.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { asTyped } from '@parley/core/typed.ts';
import type { BitcoinNetworkName } from '@parley/sdk/wallets/proofs.ts';

type AddressFault =
  | { readonly is: 'none' | 'evm' | 'unfinished' }
  | { readonly is: 'network'; readonly other: BitcoinNetworkName };

/** As it is used. */
export function plainAddress(typed: string): string {
  return asTyped(typed).trim();
}

/** Beginnings of addresses, which base58 shares between test networks. */
const starts: Readonly<Record<BitcoinNetworkName, readonly string[]>> = {
  mainnet: ['bc1', '1', '3'],
  testnet: ['tb1', 'm', 'n', '2'],
  regtest: ['bcrt1', 'm', 'n', '2'],
};

export const startsOf = (network: BitcoinNetworkName) => starts[network].join(', ');

/** The shortest whole one is a P2PKH of 26 characters; the longest ends at 62 (P2WSH). */
const mostUnfinished = 42;

/** `isLeft`: the person went on to something else. `network` null: any. */
export function addressFault(
  typed: string,
  network: BitcoinNetworkName | null,
  isLeft: boolean,
): AddressFault | null {
  const text = plainAddress(typed);
  if (text === '') return null;
  const names = Object.keys(starts) as BitcoinNetworkName[];
  const own = network === null ? names : [network];
  const faults = own.map((name) => parseFault(text, name));
  if (faults.includes(null)) return null;
  const other = faults.find((each) => each !== 'bad');
  if (other) return { is: 'network', other };
  if (text.toLowerCase().startsWith('0x')) return { is: 'evm' };
  if (own.some((name) => isBegun(text, name))) {
    return isLeft || text.length > mostUnfinished ? { is: 'unfinished' } : null;
  }
  const foreign = names.find((name) => text.toLowerCase().startsWith(starts[name][0] ?? ''));
  return foreign === undefined ? { is: 'none' } : { is: 'network', other: foreign };
}

function isBegun(text: string, network: BitcoinNetworkName): boolean {
  const [bech32 = '', ...base58] = starts[network];
  const lower = text.toLowerCase();
  if (lower.startsWith(bech32) || bech32.startsWith(lower)) return true;
  return base58.some((first) => text.startsWith(first)) && /^[1-9A-HJ-NP-Za-km-z]+$/.test(text);
}

/** null: an address of it; a name: one of that network. */
function parseFault(text: string, network: BitcoinNetworkName): BitcoinNetworkName | 'bad' | null {
  try {
    parseBitcoinAddress(text, bitcoinNetworks[network]);
    return null;
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const { other } = error.facts as { readonly other?: BitcoinNetworkName };
    return other ?? 'bad';
  }
}
