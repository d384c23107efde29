// What a token says of itself, as text: a string as the ABI has it, or 32 bytes as old tokens
// such as MKR have it. Pure. Whatever comes in, what comes out is short and printable.

import { mostNameLength } from '../../inspection.ts';

/** More than this of an answer is never looked at. */
const mostBytes = 4 * mostNameLength;
const word = 32;

/** The text of an answer to `symbol()` or `name()`; '' where there is none. */
export function textOf(answer: string | null): string {
  if (answer === null) return '';
  const bytes = Buffer.from(answer.slice(2, 2 + 2 * (3 * word + mostBytes)), 'hex');
  const raw = bytes.length === word ? bytes : stringIn(bytes);
  return cut(Buffer.from(raw.filter((byte) => byte !== 0)).toString('utf8'), mostNameLength);
}

function stringIn(bytes: Buffer): Buffer {
  const offset = numberAt(bytes, 0);
  if (offset === null || offset % word !== 0) return Buffer.alloc(0);
  const length = numberAt(bytes, offset);
  if (length === null) return Buffer.alloc(0);
  const start = offset + word;
  return bytes.subarray(start, start + Math.min(length, mostBytes));
}

function numberAt(bytes: Buffer, at: number): number | null {
  if (at + word > bytes.length) return null;
  const value = BigInt(`0x${bytes.toString('hex', at, at + word)}`);
  return value < 2n ** 32n ? Number(value) : null;
}

/** A stranger's text in one line, without control and other invisible characters. */
export function cut(text: string, most: number): string {
  const visible = text
    .normalize('NFC')
    .replace(/\p{Zs}/gu, ' ')
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|\uFFFD/gu, '')
    .trim();
  return [...visible].slice(0, most).join('').trim();
}
