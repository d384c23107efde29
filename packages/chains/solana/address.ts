// Solana addresses: 32 bytes in base58, on the curve (a wallet's key) or off it (a program's). They
// hold no checksum and no network: a mistyped one can be another valid address. Pure.

import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { badAddress } from '../kit/bad-address.ts';

const addressBytes = 32;
/** 32 zero bytes are 32 characters, 32 bytes of 0xff are 44. */
const characters = { least: 32, most: 44 } as const;

/** The address, of which there is one spelling. Throws `bad_address`. */
export function parseSolanaAddress(text: string): string {
  const why = whyNot(text);
  if (why === null) return text;
  throw badAddress(text, `is not a Solana address: ${why}`);
}

export function solanaAddressBytes(address: string): Uint8Array {
  return base58.decode(address);
}

export function solanaAddressOf(publicKey: Uint8Array): string {
  return base58.encode(publicKey);
}

function whyNot(text: string): string | null {
  if (/^0[xX]/.test(text)) return 'it is hex, as on EVM chains';
  // Only what is as long as an address is decoded.
  if (text.length < characters.least || text.length > characters.most) {
    return `it has ${text.length} characters, not ${characters.least} to ${characters.most}`;
  }
  if (!/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) return 'it is not base58';
  const { length } = base58.decode(text);
  return length === addressBytes ? null : `it holds ${length} bytes, not ${addressBytes}`;
}

/** As the runtime sees it, odd encodings too. Off the curve: a program's, no key signs for it. */
export function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes, true);
    return true;
  } catch {
    return false;
  }
}
