// Compressed public keys, their wallet addresses, and the signature that binds a Taproot wallet's
// exact 33 bytes to a swap. A BIP 86 address hides the parity, and the wrong one fails CHECKSIG
// after the secret is out (safety.md, Bitcoin). Pure.

import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { remembered } from '@parley/core/remembered.ts';
import { base64 } from '@scure/base';
import { CompactSize, p2sh, p2tr, p2wpkh } from '@scure/btc-signer';
import { sha256x2 } from '@scure/btc-signer/utils.js';
import { type BitcoinNetwork, type BitcoinNetworkName, bitcoinNetworks } from './networks.ts';

const isPoint = remembered((key) => secp256k1.utils.isValidPublicKey(hexToBytes(key), true));

/** Reads a compressed public key, any case: 66 lower-case hex. Throws `bad_public_key`. */
export function parsePublicKey(text: string): string {
  if (!/^0[23][0-9a-fA-F]{64}$/.test(text)) {
    throw new ParleyError(
      'bad_public_key',
      'a Bitcoin key must be a compressed public key: 66 hex characters, starting with 02 or ' +
        `03; got ${text.length} characters`,
      { length: text.length },
    );
  }
  const key = text.toLowerCase();
  if (isPoint(key)) return key;
  const sentence = `${key} is not a point of secp256k1: no private key belongs to it`;
  throw new ParleyError('bad_public_key', sentence, { key });
}

type Addresses = { readonly p2wpkh: string; readonly p2shP2wpkh: string; readonly p2tr: string };

const addressesOn = (network: BitcoinNetwork) =>
  remembered((pubkey): Addresses => {
    const key = hexToBytes(pubkey);
    const native = p2wpkh(key, network);
    return {
      p2wpkh: native.address,
      p2shP2wpkh: p2sh(native, network).address,
      p2tr: p2tr(key.slice(1), undefined, network).address,
    };
  });
const addresses: Readonly<Record<BitcoinNetworkName, (pubkey: string) => Addresses>> = {
  mainnet: addressesOn(bitcoinNetworks.mainnet),
  testnet: addressesOn(bitcoinNetworks.testnet),
  regtest: addressesOn(bitcoinNetworks.regtest),
};

/** For its wallets. Both parities have the same `p2tr` (BIP 86: key path only, no script tree). */
export function addressesOfPubkey(pubkey: string, { name }: BitcoinNetwork): Addresses {
  return addresses[name](parsePublicKey(pubkey));
}

/** The text a `keySignature` signs. */
export function keySignatureText(productName: string, pubkey: string, swapId: string): string {
  return `${productName} - use this key: ${pubkey} for swap ${swapId}`;
}

/** The hash that `signmessage` signs (Bitcoin Core, src/common/signmessage.cpp; BIP 137). */
export function signedMessageHash(text: string): Uint8Array {
  const message = utf8ToBytes(text);
  if (message.length > 0xffff) {
    throw new ParleyError('bad_message', 'the text is over 65,535 bytes');
  }
  const magic = utf8ToBytes('\x18Bitcoin Signed Message:\n');
  return sha256x2(magic, CompactSize.encode(BigInt(message.length)), message);
}

/** Checks a BIP 137 signature by exactly `pubkey` over `keySignatureText`: `bad_signature`. */
export function verifyKeySignature(
  about: { readonly productName: string; readonly pubkey: string; readonly swapId: string },
  keySignature: string,
): void {
  const pubkey = parsePublicKey(about.pubkey);
  const text = keySignatureText(about.productName, pubkey, about.swapId);
  const refuse = (reason: string, cause?: unknown): never => {
    throw new ParleyError(
      'bad_signature',
      `keySignature must be the base64 ECDSA signature (BIP 137) by ${pubkey} over "${text}": ` +
        reason,
      { pubkey },
      { cause },
    );
  };
  if (keySignature.length > 100) refuse('it is too long');
  const trying = <T>(work: () => T, otherwise: string): T => {
    try {
      return work();
    } catch (cause) {
      return refuse(otherwise, cause);
    }
  };
  const bytes = trying(() => base64.decode(keySignature), 'it is not base64');
  const header = bytes[0] ?? 0;
  if (bytes.length !== 65) refuse(`it has ${bytes.length} bytes, not 65`);
  if (header < 27 || header > 42) refuse(`its first byte is ${header}, not 27 to 42`);
  const options = { prehash: false, lowS: false };
  const signed = bytes.slice(1);
  const hash = signedMessageHash(text);
  const key = hexToBytes(pubkey);
  const verify = () => secp256k1.verify(signed, hash, key, options);
  if (!trying(verify, 'its numbers are out of range')) {
    refuse('it is by another key, or over another text');
  }
}

/**
 * Signs sighashes of Taproot leaves (BIP 340), the same for the same: 64 bytes in hex. A leaf's key
 * has no parity.
 */
export function signLeaves(privateKey: Uint8Array, sighashHexes: readonly string[]): string[] {
  const fixed = new Uint8Array(32);
  return sighashHexes.map((hex) => bytesToHex(schnorr.sign(hexToBytes(hex), privateKey, fixed)));
}

/** Signs sighashes with one key: 64-byte compact signatures in hex, low-S (BIP 146). */
export function signSighashes(privateKey: Uint8Array, sighashHexes: readonly string[]): string[] {
  return sighashHexes.map((hex) =>
    bytesToHex(secp256k1.sign(hexToBytes(hex), privateKey, { prehash: false, lowS: true })),
  );
}
