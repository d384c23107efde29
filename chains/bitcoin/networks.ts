// The Bitcoin networks as data, and their addresses: which script each stands for. Addresses are
// kept in one canonical form: bech32 in lower case (BIP 173), base58 as it is.

import { bytesToHex } from '@noble/hashes/utils.js';
import { Address, NETWORK, OutScript, TEST_NETWORK } from '@scure/btc-signer';
import { ParleyError } from '../../core/errors.ts';
import type { Network } from '../../core/families.ts';

export type BitcoinNetworkName = 'mainnet' | 'testnet' | 'regtest';

export type BitcoinNetwork = {
  readonly name: BitcoinNetworkName;
  /** What a Core node on it answers as `chain`; every public test network counts as testnet. */
  readonly coreChains: readonly string[];
  readonly bech32: string;
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  readonly wif: number;
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

/** Kinds of address a payment can go to. `p2sh` may hide a P2WPKH (BIP 141). */
export type AddressKind = 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr';

export type BitcoinAddress = {
  /** Canonical form. */
  readonly address: string;
  readonly kind: AddressKind;
  /** The output script it stands for. */
  readonly script: Uint8Array;
  /** Hash or key inside it, hex: 20 bytes, or 32 for p2wsh and p2tr. */
  readonly payload: string;
};

/** The longest address here is a P2WSH on regtest: 64 characters. */
const maxAddressLength = 90;

/**
 * Reads an address of `network`. Throws `wrong_network` when it belongs to another one (testnet
 * and regtest share their base58 forms), `bad_address` otherwise.
 */
export function parseBitcoinAddress(text: string, network: BitcoinNetwork): BitcoinAddress {
  if (text.length > maxAddressLength) throw badAddress(`${text.slice(0, 20)}…`, network);
  const found = decode(text, network);
  if (found !== null) return found;
  for (const other of Object.values(bitcoinNetworks)) {
    if (decode(text, other) === null) continue;
    throw new ParleyError(
      'wrong_network',
      `${text} is an address of Bitcoin ${other.name}; this is Bitcoin ${network.name}`,
      { address: text, network: network.name, other: other.name },
    );
  }
  throw badAddress(text, network);
}

/** The address of a pay-to-witness-script-hash output. */
export function witnessScriptHashAddress(script: Uint8Array, network: BitcoinNetwork): string {
  return Address(network).encode({ type: 'wsh', hash: script.subarray(2) });
}

function badAddress(shown: string, network: BitcoinNetwork): ParleyError {
  return new ParleyError(
    'bad_address',
    `"${shown}" is not a Bitcoin ${network.name} address (P2PKH, P2SH, P2WPKH, P2WSH or P2TR)`,
    { network: network.name },
  );
}

function decode(text: string, network: BitcoinNetwork): BitcoinAddress | null {
  const bech32 = text.toLowerCase().startsWith(`${network.bech32}1`);
  try {
    // The decoder refuses mixed case; one case only is folded after that.
    const value = Address(network).decode(text);
    const address = bech32 ? text.toLowerCase() : text;
    const script = OutScript.encode(value);
    switch (value.type) {
      case 'pkh':
        return { address, script, kind: 'p2pkh', payload: bytesToHex(value.hash) };
      case 'sh':
        return { address, script, kind: 'p2sh', payload: bytesToHex(value.hash) };
      case 'wpkh':
        return { address, script, kind: 'p2wpkh', payload: bytesToHex(value.hash) };
      case 'wsh':
        return { address, script, kind: 'p2wsh', payload: bytesToHex(value.hash) };
      case 'tr':
        return { address, script, kind: 'p2tr', payload: bytesToHex(value.pubkey) };
      default:
        return null;
    }
  } catch {
    // Any malformed text is simply not an address of this network.
    return null;
  }
}

/**
 * Least output value that nodes relay, by kind: Core's GetDustThreshold at 3 sat/vB (policy.cpp).
 */
export const dustSats: Readonly<Record<AddressKind, bigint>> = {
  p2pkh: 546n,
  p2sh: 540n,
  p2wpkh: 294n,
  p2wsh: 330n,
  p2tr: 330n,
};
