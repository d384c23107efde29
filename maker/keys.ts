// Keys, from files that nobody else may read. The contents of a key file are in no error and no
// log.

import { lstat, readFile, stat } from 'node:fs/promises';
import type { Family } from '../core/families.ts';

/** The error of a key file: which, and what is wrong with it. */
export class KeyFileError extends Error {
  override name = 'KeyFileError';
}

/** A key file. The maker does not start with a larger one. */
const mostBytes = 4_096;
const othersMay = 0o077;
const hexForm = /^(?:0x)?([\da-f]{64})$/i;
const base58Form = /^[1-9A-HJ-NP-Za-km-z]{80,90}$/;

/** Throws KeyFileError unless it is a file of this user that nobody else may read or write. */
export async function mustBePrivate(file: string): Promise<void> {
  const bad = (why: string) => new KeyFileError(`${file} ${why}`);
  const found = await stat(file).catch(() => null);
  if (found === null) throw bad('is not there, or cannot be read');
  if (!found.isFile()) throw bad('is no file');
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid) throw bad(`belongs to user ${found.uid}, not ${uid}`);
  if (process.platform !== 'win32' && (found.mode & othersMay) !== 0) {
    const mode = (found.mode & 0o777).toString(8).padStart(3, '0');
    throw bad(`has mode ${mode}: others may use it. chmod 600 makes it yours alone`);
  }
  if ((await lstat(file)).size > mostBytes) throw bad(`is larger than ${mostBytes} bytes`);
}

/**
 * 64 hex digits on EVM, TRON and Bitcoin. On Solana the same as a seed, a wallet's base58, or the
 * list of 64 numbers that `solana-keygen` writes.
 */
export async function readKey(file: string, family: Family): Promise<string | Uint8Array> {
  await mustBePrivate(file);
  const text = (await readFile(file, 'utf8')).trim();
  const [, hex] = hexForm.exec(text) ?? [];
  if (family !== 'solana') {
    if (hex !== undefined) return hex.toLowerCase();
    throw new KeyFileError(`${file} must hold 64 hex digits and nothing else`);
  }
  if (hex !== undefined) return Uint8Array.from(Buffer.from(hex, 'hex'));
  if (base58Form.test(text)) return text;
  const bytes = bytesIn(text);
  if (bytes !== null) return bytes;
  throw new KeyFileError(`${file} holds no key of Solana: a seed in hex, base58, or 64 numbers`);
}

function bytesIn(text: string): Uint8Array | null {
  if (!/^\[[\d,\s]+\]$/.test(text)) return null;
  const numbers = JSON.parse(text) as number[];
  const isKey = numbers.length === 64 && numbers.every((each) => each >= 0 && each <= 255);
  return isKey ? Uint8Array.from(numbers) : null;
}
