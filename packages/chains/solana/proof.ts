// Proof that a Solana wallet signed a text: ed25519 over its UTF-8 bytes, bare or in the off-chain
// envelope of hardware wallets, in base58. Strict: canonical R, S and key (RFC 8032, 5.1.7), no key
// of small order. Pure.

import { ed25519 } from '@noble/curves/ed25519.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { base58 } from '@scure/base';
import { bareSignature, notIn } from '../kit/signature-text.ts';
import { parseSolanaAddress, solanaAddressBytes, solanaAddressOf } from './address.ts';
import { envelopesOf } from './envelope.ts';

export type SolanaProof = {
  readonly address: string;
  readonly message: string;
  /** Base58 of 64 bytes. */
  readonly signature: string;
};

const maxMessageBytes = 10_000;
const signatureBytes = 64;
/** 64 zero bytes are 64 characters. Hex, which is named, has twice as many. */
const characters = { least: 64, most: 200 } as const;

/** Returns the address. Throws `bad_signature`, or `bad_address` of the address. */
export function verifySolanaProof({ address: text, message, signature }: SolanaProof): string {
  const address = parseSolanaAddress(text);
  const key = solanaAddressBytes(address);
  const bytes = utf8ToBytes(message);
  if (bytes.length > maxMessageBytes) throw refuse(`the message has ${bytes.length} bytes`);
  const given = readSignature(signature);
  assertCanSign(address, key);
  const forms = [bytes, ...envelopesOf(bytes, key)];
  // zip215: false is the strict rule; the default would accept encodings that are not canonical.
  if (!forms.some((form) => ed25519.verify(given, form, key, { zip215: false }))) {
    throw refuse('it is by another key or of another message');
  }
  return address;
}

function readSignature(text: string): Uint8Array {
  const bare = bareSignature(text);
  const { least, most } = characters;
  const wanted = `it must be ${signatureBytes} bytes in base58, ${least} to 88 characters`;
  if (bare.length < least || bare.length > most) throw refuse(wanted);
  if (!/^[1-9A-HJ-NP-Za-km-z]+$/.test(bare)) throw refuse(`${notIn('base58', bare)}: ${wanted}`);
  const bytes = base58.decode(bare);
  if (bytes.length !== signatureBytes) throw refuse(`it holds ${bytes.length} bytes: ${wanted}`);
  return bytes;
}

function assertCanSign(address: string, key: Uint8Array): void {
  let small: boolean;
  try {
    small = ed25519.Point.fromBytes(key, false).isSmallOrder();
  } catch {
    throw refuse(`${address} is no key of the curve, as a program's address is none`);
  }
  if (small) throw refuse(`${address} is a point of small order: it is nobody's key`);
}

/** Signs with a key at hand, as a wallet would (tests, demos, bots). Deterministic (RFC 8032). */
export function signSolanaMessage(seed: Uint8Array, message: string): string {
  return base58.encode(ed25519.sign(utf8ToBytes(message), seed));
}

export function solanaAddressOfSeed(seed: Uint8Array): string {
  return solanaAddressOf(ed25519.getPublicKey(seed));
}

function refuse(why: string): ParleyError {
  return new ParleyError('bad_signature', `the signature is not valid for this message: ${why}`);
}
