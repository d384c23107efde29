// Keys, from files that nobody else may read. The contents of a key file are in no error and no
// log.

import { type Family, has } from '@parley/core/families.ts';
import { Failure } from '@parley/trader/failures.ts';
import { mustBePrivate, readUpTo } from '@parley/trader/places.ts';

/** A key file. The maker does not start with a larger one. */
const mostBytes = 4_096;
const hexForm = /^(?:0x)?([\da-f]{64})$/i;
const base58Form = /^[1-9A-HJ-NP-Za-km-z]{80,90}$/;

/**
 * 64 hex digits on EVM, TRON and Bitcoin. On Solana the same as a seed, a wallet's base58, or the
 * list of 64 numbers that `solana-keygen` writes. Throws Failure `no_key`, `bad_key`, and
 * `open_to_others`.
 */
export async function readKey(file: string, family: Family): Promise<string | Uint8Array> {
  const text = (await readUpTo(file, mostBytes))?.trim();
  if (text === undefined) throw new Failure('local', 'no_key', `${file} is not there`);
  await mustBePrivate(file);
  const [, hex] = hexForm.exec(text) ?? [];
  if (!has(family, 'ed25519')) {
    if (hex !== undefined) return hex.toLowerCase();
    throw badKey(`${file} must hold 64 hex digits and nothing else`);
  }
  if (hex !== undefined) return Uint8Array.from(Buffer.from(hex, 'hex'));
  if (base58Form.test(text)) return text;
  const bytes = bytesIn(text);
  if (bytes !== null) return bytes;
  throw badKey(`${file} holds no key of Solana: a seed in hex, base58, or 64 numbers`);
}

const badKey = (sentence: string) => new Failure('local', 'bad_key', sentence);

function bytesIn(text: string): Uint8Array | null {
  if (!/^\[[\d,\s]+\]$/.test(text)) return null;
  const numbers = JSON.parse(text) as number[];
  const isKey = numbers.length === 64 && numbers.every((each) => each >= 0 && each <= 255);
  return isKey ? Uint8Array.from(numbers) : null;
}
