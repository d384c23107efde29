// Proof that a TRON wallet signed a text: signMessageV2 (TIP-191). The older `signMessage` and
// `trx.sign` of hex texts are refused by their name. Pure.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { keyHashOf, recoverKeyHash } from '../kit/recoverable.ts';
import { bareSignature, notIn } from '../kit/signature-text.ts';
import { parseTronAddress, tronAddressOf } from './address.ts';

export type TronProof = {
  readonly address: string;
  readonly message: string;
  /** 65 bytes r, s, v in hex, with or without 0x; low s, v 27, 28, 0 or 1. */
  readonly signature: string;
};

const maxMessageBytes = 10_000;

/** Returns the address in canonical form. Throws `bad_signature` or `bad_address`. */
export function verifyTronProof({ address: text, message, signature }: TronProof): string {
  const address = parseTronAddress(text);
  const bare = bareSignature(signature);
  const hex = /^(?:0[xX])?([0-9a-fA-F]+)$/.exec(bare)?.[1];
  if (hex === undefined) throw refuse(notIn('hex', bare));
  if (hex.length !== 130) throw refuse(`it must be 65 bytes in hex, and has ${hex.length} digits`);
  const bytes = hexToBytes(hex);
  const recovered = recoverKeyHash(tronMessageHash(message), bytes);
  if ('why' in recovered) throw refuse(recovered.why);
  const signer = tronAddressOf(recovered.keyHash);
  if (signer === address) return address;
  if (isOlder(address, message, bytes)) {
    throw refuse('it is by signMessage (v1) or trx.sign, and signMessageV2 is wanted');
  }
  throw refuse(`it was made by ${signer}, not ${address}`);
}

/** Whether it is of the same key by a digest that wallets made before TIP-191, or by Ethereum's. */
function isOlder(address: string, message: string, signature: Uint8Array): boolean {
  const text = utf8ToBytes(message);
  const digests = [text, keccak_256(text)].flatMap((bytes) =>
    ['TRON', 'Ethereum'].flatMap((name) =>
      [32, bytes.length].map((length) => prefixed(name, length, bytes)),
    ),
  );
  return digests.some((digest) => {
    const recovered = recoverKeyHash(digest, signature);
    return 'keyHash' in recovered && tronAddressOf(recovered.keyHash) === address;
  });
}

export function tronMessageHash(message: string): Uint8Array {
  const bytes = utf8ToBytes(message);
  if (bytes.length > maxMessageBytes) throw refuse(`the message has ${bytes.length} bytes`);
  return prefixed('TRON', bytes.length, bytes);
}

function prefixed(name: string, length: number, bytes: Uint8Array): Uint8Array {
  return keccak_256(concatBytes(utf8ToBytes(`\x19${name} Signed Message:\n${length}`), bytes));
}

/** Signs with a key at hand, as a wallet would (tests, demos, bots). Deterministic (RFC 6979). */
export function signTronMessage(privateKey: Uint8Array, message: string): string {
  const digest = tronMessageHash(message);
  const format = { prehash: false, lowS: true, format: 'recovered' } as const;
  const [recovery, ...rs] = secp256k1.sign(digest, privateKey, format);
  return `0x${bytesToHex(Uint8Array.of(...rs, 27 + (recovery as number)))}`;
}

export function tronAddressOfKey(privateKey: Uint8Array): string {
  return tronAddressOf(keyHashOf(secp256k1.getPublicKey(privateKey, false)));
}

function refuse(why: string): ParleyError {
  return new ParleyError('bad_signature', `the signature is not valid for this message: ${why}`);
}
