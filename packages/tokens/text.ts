// The words of strangers, as one short line: token names (ABI, or MKR's 32 bytes) and reasons.
// Pure.

import { mostNameLength } from './inspection.ts';

/** More than this of an answer is never looked at. */
const mostBytes = 4 * mostNameLength;
const word = 32;
/** Characters that are looked at for each that may be shown: one that comes later is not found. */
const lookedAtForEach = 8;

/** The text of an answer to `symbol()` or `name()`; '' where there is none. */
export function textOf(answer: string | null): string {
  return answer === null ? '' : cleanText(rawText(answer));
}

function rawText(answer: string): string {
  const bytes = Buffer.from(answer.slice(2, 2 + 2 * (3 * word + mostBytes)), 'hex');
  const raw = bytes.length === word ? bytes : stringIn(bytes);
  return Buffer.from(raw.filter((byte) => byte !== 0)).toString('utf8');
}

/**
 * Characters that take no room or turn text around; a form chosen for a character is seen (U+FE0F).
 */
const hidden = /(?![\ufe00-\ufe0f])[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** The first character that nobody sees, as `U+200B`; null where there is none. */
export function hiddenIn(text: string): string | null {
  const [found] = hidden.exec(text.slice(0, lookedAtForEach * mostNameLength)) ?? [];
  const code = found?.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return code === undefined ? null : `U+${code}`;
}

/** The same of an answer to `symbol()`. */
export function hiddenOf(answer: string | null): string | null {
  return answer === null ? null : hiddenIn(rawText(answer));
}

/** The sentence for a symbol that looks like another and is not. */
export function hiddenSentence(character: string): string {
  return `its symbol has the character ${character}, which nobody sees`;
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

/**
 * One line: blanks become a space; a character that takes no room or turns text around leaves none.
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
