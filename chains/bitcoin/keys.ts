// Compressed public keys: reading them, the wallet addresses they stand for, and the signature by
// which a Taproot wallet binds the exact 33 bytes of a key to a swap. Pure.
//
// Why that signature: a BIP 86 address hides the parity of its key, so 02||x and 03||x give the
// same address, and the wrong one fails CHECKSIG after the secret is out (safety.md, Bitcoin).

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { p2sh, p2tr, p2wpkh } from '@scure/btc-signer';
import { ParleyError } from '../../core/errors.ts';
import type { BitcoinNetwork } from './networks.ts';

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
  try {
    secp256k1.Point.fromHex(key);
  } catch (cause) {
    const sentence = `${key} is not a point of secp256k1: no private key belongs to it`;
    throw new ParleyError('bad_public_key', sentence, { key }, { cause });
  }
  return key;
}

/** The single-key wallet addresses of one key. */
export type KeyAddresses = {
  readonly p2wpkh: string;
  readonly p2shP2wpkh: string;
  /** BIP 86: key path only, no script tree. The other parity has the same one. */
  readonly p2tr: string;
};

export function addressesOfPubkey(pubkey: string, network: BitcoinNetwork): KeyAddresses {
  const key = hexToBytes(parsePublicKey(pubkey));
  const native = p2wpkh(key, network);
  return {
    p2wpkh: addressOf(native),
    p2shP2wpkh: addressOf(p2sh(native, network)),
    p2tr: addressOf(p2tr(key.slice(1), undefined, network)),
  };
}

function addressOf(payment: { address?: string }): string {
  if (payment.address === undefined) throw new Error('a standard payment has an address');
  return payment.address;
}

/** The text a `keySignature` signs. */
export function keySignatureText(productName: string, pubkey: string, swapId: string): string {
  return `${productName} - use this key: ${pubkey} for swap ${swapId}`;
}

/** The hash that `signmessage` signs (Bitcoin Core, src/common/signmessage.cpp; BIP 137). */
export function signedMessageHash(text: string): Uint8Array {
  const magic = 'Bitcoin Signed Message:\n';
  const message = utf8ToBytes(text);
  const size = message.length;
  if (size > 0xffff) throw new ParleyError('bad_message', 'the text is over 65,535 bytes');
  const length = size < 253 ? [size] : [253, size & 255, size >> 8];
  return sha256(
    sha256(
      concatBytes(
        Uint8Array.of(magic.length),
        utf8ToBytes(magic),
        Uint8Array.from(length),
        message,
      ),
    ),
  );
}

/**
 * Checks a BIP 137 signature (base64, 65 bytes) by exactly `pubkey` over the text of
 * `keySignatureText`. Throws `bad_signature`.
 */
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
  let bytes = new Uint8Array();
  try {
    bytes = Uint8Array.from(base64.decode(keySignature));
  } catch (cause) {
    refuse('it is not base64', cause);
  }
  const header = bytes[0] ?? 0;
  if (bytes.length !== 65) refuse(`it has ${bytes.length} bytes, not 65`);
  if (header < 27 || header > 42) refuse(`its first byte is ${header}, not 27 to 42`);
  let holds = false;
  try {
    holds = secp256k1.verify(bytes.slice(1), signedMessageHash(text), hexToBytes(pubkey), {
      prehash: false,
      lowS: false,
    });
  } catch (cause) {
    refuse('its numbers are out of range', cause);
  }
  if (!holds) refuse('it is by another key, or over another text');
}

/** Signs with a key at hand (tests, demos): the base64 form `verifyKeySignature` reads. */
export function signKeySignature(
  about: { readonly productName: string; readonly swapId: string },
  privateKey: Uint8Array,
): string {
  const pubkey = bytesToHex(secp256k1.getPublicKey(privateKey, true));
  const hash = signedMessageHash(keySignatureText(about.productName, pubkey, about.swapId));
  const signed = secp256k1.sign(hash, privateKey, { prehash: false, format: 'recovered' });
  return base64.encode(concatBytes(Uint8Array.of(31 + (signed[0] ?? 0)), signed.slice(1)));
}

/** Signs sighashes with one key: 64-byte compact signatures in hex, low-S (BIP 146). */
export function signSighashes(privateKey: Uint8Array, sighashHexes: readonly string[]): string[] {
  return sighashHexes.map((hex) =>
    bytesToHex(secp256k1.sign(hexToBytes(hex), privateKey, { prehash: false, lowS: true })),
  );
}
