// Signatures as people's wallets hand them out, taken out of the marks that copying leaves around
// them. Pure.

import { asTyped } from '@parley/core/typed.ts';

/** Without the marks that copying leaves around it. */
export function bareSignature(text: string): string {
  return asTyped(text).trim();
}

/** The digits of whole bytes, without the 0x that may stand before them; null: it is no hex. */
export function hexIn(text: string): string | null {
  return /^(?:0[xX])?((?:[0-9a-fA-F]{2})+)$/.exec(text)?.[1] ?? null;
}
