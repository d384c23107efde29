// What strangers write, as it may be shown: names that a token gives itself, as a string of the ABI
// or as the 32 bytes of old tokens such as MKR, and their reasons. Pure. Whatever comes in, what
// comes out is one short line.

import { mostNameLength } from './inspection.ts';

/** More than this of an answer is never looked at. */
const mostBytes = 4 * mostNameLength;
const word = 32;

/** The text of an answer to `symbol()` or `name()`; '' where there is none. */
export function textOf(answer: string | null): string {
  if (answer === null) return '';
  const bytes = Buffer.from(answer.slice(2, 2 + 2 * (3 * word + mostBytes)), 'hex');
  const raw = bytes.length === word ? bytes : stringIn(bytes);
  return cleanText(Buffer.from(raw.filter((byte) => byte !== 0)).toString('utf8'));
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

/** Characters that are looked at for each that may be shown: one that comes later is not found. */
const lookedAtForEach = 8;

/**
 * A stranger's text in one line of at most so many characters. Whatever is blank is one space; what
 * takes no room, turns text around, or was no text leaves none.
 */
export function cleanText(text: string, most: number = mostNameLength): string {
  const visible = text
    .slice(0, lookedAtForEach * most)
    .normalize('NFC')
    .replace(/[\t-\r\u0085\p{Z}]+/gu, ' ')
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|\uFFFD/gu, '')
    .replace(/ {2,}/g, ' ')
    .trim();
  return [...visible].slice(0, most).join('').trim();
}
