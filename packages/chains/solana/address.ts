// Solana addresses: 32 bytes in base58, on the curve (a wallet's key) or off it (a program's). They
// hold no checksum and no network: a mistyped one can be another valid address. Pure.

import { mod, pow } from '@noble/curves/abstract/modular.js';
import { bytesToNumberLE } from '@noble/curves/utils.js';
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

/** The field of ed25519, and d of its curve -x² + y² = 1 + dx²y² (RFC 8032). */
const order = 2n ** 255n - 19n;
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * As the runtime sees it, odd encodings too: any y below 2^255, and either sign of x where x is 0. Off
 * the curve: a program's, no key signs for it. The numerator and denominator of x² come to a square
 * where x² is one; so no point is made, and a page needs no more of the curve.
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  if (bytes.length !== addressBytes) return false;
  const y = bytesToNumberLE(bytes) & (2n ** 255n - 1n);
  const squared = mod(y * y, order);
  const product = mod((squared - 1n) * (d * squared + 1n), order);
  return pow(product, (order - 1n) / 2n, order) <= 1n;
}
