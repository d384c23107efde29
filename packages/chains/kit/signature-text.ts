// Signatures as people's wallets hand them out: taken out of the marks that copying leaves around
// them, and named by their encoding where another one is wanted. Pure.

import { asTyped } from '@parley/core/typed.ts';

type Encoding = 'hex' | 'base58' | 'base64';

/** Without the marks that copying leaves around it. */
export function bareSignature(text: string): string {
  return asTyped(text).trim();
}

/** The digits of whole bytes, without the 0x that may stand before them; null: it is no hex. */
export function hexIn(text: string): string | null {
  return /^(?:0[xX])?((?:[0-9a-fA-F]{2})+)$/.exec(text)?.[1] ?? null;
}

/** Why a text is not in the encoding that is wanted: by another one that it is in, if any. */
export function notIn(wanted: Encoding, text: string): string {
  const is = encodingOf(text);
  if (is === 'unpadded') return `it is base64url or has no padding, and ${wanted} is wanted`;
  return is === null || is === wanted
    ? `it is not ${wanted}`
    : `it is ${is}, and ${wanted} is wanted`;
}

/** No signature is shorter in any encoding: a shorter text is a word. */
const leastCharacters = 64;

/** Hex is base58 and base64 too, but no signature of these has its few letters alone. */
function encodingOf(text: string): Encoding | 'unpadded' | null {
  if (text.length < leastCharacters) return null;
  if (hexIn(text) !== null) return 'hex';
  if (/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) return 'base58';
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)) return 'base64';
  return /^[A-Za-z0-9+/_-]+$/.test(text) ? 'unpadded' : null;
}
