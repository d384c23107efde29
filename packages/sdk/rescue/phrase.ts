// The twelve words (BIP-39, English) from which everything comes that must survive a device. No
// function here puts a word into an error.

import { randomBytes } from '@noble/hashes/utils.js';
import { asTyped } from '@parley/core/typed.ts';
import { entropyToMnemonic, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { distanceOf } from './distance.ts';

export const phraseWords = 12;
/** 128 bits and a checksum of 4 (BIP-39). */
const entropyBytes = 16;
/** Letters by which each word of the list is known (BIP-39). */
const tellingLetters = 4;
const known: ReadonlySet<string> = new Set(wordlist);
/** Longer input is no phrase; 12 words of 8 letters with blanks are 107 characters. */
const mostCharacters = 1_000;

/** `at` counts from 1. `nearest`: a word of the list; never log either. */
export type WrongWord = { readonly at: number; readonly word: string; readonly nearest: string };

/** For the screen of the person that typed it; never log it. `phrase` is in canonical form. */
export type PhraseCheck =
  | { readonly ok: true; readonly phrase: string }
  | { readonly ok: false; readonly fault: 'count'; readonly count: number }
  | { readonly ok: false; readonly fault: 'words'; readonly wrong: readonly WrongWord[] }
  /** All words are of the list: one is another one, or two have changed places. */
  | { readonly ok: false; readonly fault: 'checksum' };

/** Draws 12 words from the platform's randomness, with one blank between them. */
export function newPhrase(): string {
  return entropyToMnemonic(randomBytes(entropyBytes), wordlist);
}

/** Case and blanks do not count. */
export function checkPhrase(typed: string): PhraseCheck {
  const words =
    asTyped(typed.slice(0, mostCharacters)).normalize('NFKD').toLowerCase().match(/\S+/g) ?? [];
  if (words.length !== phraseWords) return { ok: false, fault: 'count', count: words.length };
  const wrong = words.flatMap((word, index) =>
    known.has(word) ? [] : [{ at: index + 1, word, nearest: nearestTo(word) }],
  );
  if (wrong.length > 0) return { ok: false, fault: 'words', wrong };
  const phrase = words.join(' ');
  return validateMnemonic(phrase, wordlist)
    ? { ok: true, phrase }
    : { ok: false, fault: 'checksum' };
}

function nearestTo(word: string): string {
  const start = word.slice(0, tellingLetters);
  const same = wordlist.find((each) => each.slice(0, tellingLetters) === start);
  if (same !== undefined) return same;
  let nearest = '';
  let least = Infinity;
  for (const each of wordlist) {
    // The nearest word that begins alike wins over others as near.
    const distance = distanceOf(word.slice(0, 20), each) + (each[0] === word[0] ? 0 : 0.5);
    if (distance < least) [nearest, least] = [each, distance];
  }
  return nearest;
}
