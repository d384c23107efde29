// An operator's gas key, read from a setting. No sentence quotes it, and nothing prints it.

import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type Having, has } from '@parley/core/families.ts';
import { base58 } from '@scure/base';

/** Families whose escrows pay whoever their terms name, whoever sends. */
export type GasFamily = Having<'gasKeys'>;

type ScalarFamily = Exclude<GasFamily, Having<'ed25519'>>;

export type GasKey = {
  readonly family: GasFamily;
  /** 32 bytes: the secp256k1 scalar, or the Ed25519 seed. A fresh copy. */
  bytes(): Uint8Array;
};

/** Hex of 32 bytes; Solana also 64 bytes, base58 or JSON. Errors never quote the text. */
export function parseGasKey(family: GasFamily, text: string): GasKey {
  const secret = has(family, 'ed25519') ? solanaSeed(text.trim()) : scalar(family, text.trim());
  return { family, bytes: () => secret.slice() };
}

function hexBytes(text: string): Uint8Array | null {
  const digits = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text)?.[1];
  return digits === undefined ? null : Uint8Array.from(Buffer.from(digits, 'hex'));
}

const named: Readonly<Record<ScalarFamily, string>> = { evm: 'an EVM', tron: 'a TRON' };

function scalar(family: ScalarFamily, text: string): Uint8Array {
  const secret = hexBytes(text);
  const name = named[family];
  if (secret === null) {
    throw new Error(`${name} gas key is 32 bytes as 64 hex characters, with or without 0x`);
  }
  if (!secp256k1.utils.isValidSecretKey(secret)) {
    throw new Error(`${name} gas key must be from 1 to the order of secp256k1 less 1`);
  }
  return secret;
}

const keypairBytes = 64;
const seedBytes = 32;
/** A keypair as a JSON list with any spaces, or as base58, is far shorter. */
const mostText = 1_024;

function solanaSeed(text: string): Uint8Array {
  if (text.length > mostText) throw unreadable();
  const seed = hexBytes(text);
  if (seed !== null) return seed;
  const keypair = text.startsWith('[') ? fromJson(text) : fromBase58(text);
  if (keypair?.length !== keypairBytes) throw unreadable();
  const own = keypair.slice(0, seedBytes);
  const shown = keypair.slice(seedBytes);
  // A list with a number mistyped would pay from an address that nobody filled.
  if (!Buffer.from(ed25519.getPublicKey(own)).equals(Buffer.from(shown))) {
    throw new Error('the second half of the Solana gas key is not the public key of the first');
  }
  return own;
}

function unreadable(): Error {
  return new Error(
    'a Solana gas key is a keypair of 64 bytes, as base58 or as a JSON list of numbers, ' +
      'or a seed of 32 bytes as 64 hex characters',
  );
}

/** null: no list of bytes. A parser's own words would quote the key. */
function fromJson(text: string): Uint8Array | null {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return null;
  }
  const isByte = (each: unknown) =>
    Number.isInteger(each) && Number(each) >= 0 && Number(each) < 256;
  return Array.isArray(list) && list.every(isByte) ? Uint8Array.from(list as number[]) : null;
}

function fromBase58(text: string): Uint8Array | null {
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}
