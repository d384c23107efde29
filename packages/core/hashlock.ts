// SHA-256 and exactly 32 bytes on every chain: a secret that fits a single chain only is theft.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from './errors.ts';
import type { Nominal } from './nominal.ts';

/** Both are 64 lower-case hex characters, without `0x`: a secret in a hashlock's place is lost. */
export type Secret = Nominal<string, 'Secret'>;
export type Hashlock = Nominal<string, 'Hashlock'>;

/** Reads 32 bytes of hex, any case, with or without a leading `0x`. Throws `bad_hex`. */
export function parseHex32(text: string, field: string): string {
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) {
    throw new ParleyError(
      'bad_hex',
      `${field} must be 32 bytes as 64 hex characters; it has ${digits.length} characters` +
        (digits.length === 64 ? ', not all of them hex' : ''),
      { field, length: digits.length },
    );
  }
  return digits.toLowerCase();
}

export function parseSecret(text: string, field = 'secret'): Secret {
  return parseHex32(text, field);
}

export function parseHashlock(text: string, field = 'hashlock'): Hashlock {
  return parseHex32(text, field);
}

/** The hashlock of a secret: SHA-256 over its 32 bytes. */
export function hashlockOf(secret: Secret): Hashlock {
  return bytesToHex(sha256(hexToBytes(secret)));
}

/** Whether `secret` is the 32-byte preimage of `hashlock`. */
export function opens(secret: Secret, hashlock: Hashlock): boolean {
  return hashlockOf(secret) === hashlock;
}
