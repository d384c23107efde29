// The Bitcoin networks as data, and which script each address stands for, in canonical form.

import { bytesToHex } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import type { Network } from '@parley/core/families.ts';
import { Address, NETWORK, OutScript, TEST_NETWORK } from '@scure/btc-signer';
import { equalBytes } from '@scure/btc-signer/utils.js';

export type BitcoinNetworkName = 'mainnet' | 'testnet' | 'regtest';

export type BitcoinNetwork = typeof NETWORK & {
  readonly name: BitcoinNetworkName;
  /** The answer of a Core node on it as `chain`; every public test network counts as testnet. */
  readonly coreChains: readonly string[];
};

// Source of the numbers: Bitcoin Core, src/kernel/chainparams.cpp.
export const bitcoinNetworks: Readonly<Record<BitcoinNetworkName, BitcoinNetwork>> = {
  mainnet: { name: 'mainnet', coreChains: ['main'], ...NETWORK },
  testnet: { name: 'testnet', coreChains: ['signet', 'testnet4', 'test'], ...TEST_NETWORK },
  regtest: { name: 'regtest', coreChains: ['regtest'], ...TEST_NETWORK, bech32: 'bcrt' },
};

/** The Bitcoin network of a deployment: dev chains are regtest. */
export function bitcoinNetworkOf(network: Network): BitcoinNetwork {
  return bitcoinNetworks[network === 'dev' ? 'regtest' : network];
}

const kinds = { pkh: 'p2pkh', sh: 'p2sh', wpkh: 'p2wpkh', wsh: 'p2wsh', tr: 'p2tr' } as const;

/** Kinds of address a payment can go to. `p2sh` may hide a P2WPKH (BIP 141). */
export type AddressKind = (typeof kinds)[keyof typeof kinds];

export type BitcoinAddress = {
  readonly address: string;
  readonly kind: AddressKind;
  readonly script: Uint8Array;
  /** Hash or key inside it, hex: 20 bytes, or 32 for p2wsh and p2tr. */
  readonly payload: string;
};

/** The longest address here is a P2WSH on regtest: 64 characters. */
const maxAddressLength = 90;

/** Throws `wrong_network` for another network's (base58 of testnet is regtest's), `bad_address`. */
export function parseBitcoinAddress(text: string, network: BitcoinNetwork): BitcoinAddress {
  const bad = (shown: string) =>
    new ParleyError(
      'bad_address',
      `"${shown}" is not a Bitcoin ${network.name} address (P2PKH, P2SH, P2WPKH, P2WSH or P2TR)`,
      { network: network.name },
    );
  if (text.length > maxAddressLength) throw bad(`${text.slice(0, 20)}…`);
  const found = decode(text, network);
  if (found !== null) return found;
  const other = Object.values(bitcoinNetworks).find((each) => decode(text, each) !== null);
  if (other === undefined) throw bad(text);
  throw new ParleyError(
    'wrong_network',
    `${text} is an address of Bitcoin ${other.name}; this is Bitcoin ${network.name}`,
    { address: text, network: network.name, other: other.name },
  );
}

/** The address that an output pays; null where it pays none of these kinds. */
export function paidAddress(script: Uint8Array, network: BitcoinNetwork): BitcoinAddress | null {
  try {
    const text = Address(network).encode(OutScript.decode(script));
    const found = decode(text, network);
    // A script that is written in another way is not known here.
    return found !== null && equalBytes(found.script, script) ? found : null;
  } catch {
    return null;
  }
}

function decode(text: string, network: BitcoinNetwork): BitcoinAddress | null {
  const isBech32 = text.toLowerCase().startsWith(`${network.bech32}1`);
  try {
    // The decoder refuses mixed case; one case only is folded after that.
    const value = Address(network).decode(text);
    if (!(value.type in kinds)) return null;
    const payload = 'hash' in value ? value.hash : 'pubkey' in value ? value.pubkey : null;
    if (!(payload instanceof Uint8Array)) return null;
    return {
      address: isBech32 ? text.toLowerCase() : text,
      kind: kinds[value.type as keyof typeof kinds],
      script: OutScript.encode(value),
      payload: bytesToHex(payload),
    };
  } catch {
    // Any malformed text is simply not an address of this network.
    return null;
  }
}

/** Least output value that nodes relay: Core's GetDustThreshold at 3 sat/vB (policy.cpp). */
export const dustSats: Readonly<Record<AddressKind, bigint>> = {
  p2pkh: 546n,
  p2sh: 540n,
  p2wpkh: 294n,
  p2wsh: 330n,
  p2tr: 330n,
};
