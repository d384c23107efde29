// TRON addresses: base58check or 41-hex in, base58check out, alike on every TRON network. Pure.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { base58, createBase58check } from '@scure/base';
import { badAddress } from '../kit/bad-address.ts';

const base58check = createBase58check(sha256);
const lead = 0x41;
/** The leading byte, 20 bytes of the key's hash, 4 bytes of checksum: always 34 characters. */
const bytesWithChecksum = 25;
const base58Characters = 34;

/** Hex carries no checksum. Throws `bad_address`. */
export function parseTronAddress(text: string): string {
  if (/^41[0-9a-fA-F]{40}$/.test(text)) return tronAddressOf(hexToBytes(text.slice(2)));
  const why = whyNot(text);
  if (why === null) return text;
  throw badAddress(text, why);
}

export function tronAddressOf(keyHash: Uint8Array): string {
  return base58check.encode(Uint8Array.of(lead, ...keyHash));
}

export function tronHex(address: string): string {
  return bytesToHex(base58check.decode(address));
}

function whyNot(text: string): string | null {
  if (/^0[xX][0-9a-fA-F]{40}$/.test(text)) {
    return 'is an EVM address: a TRON address begins with T, or with 41 in hex';
  }
  if (/^0[xX]41[0-9a-fA-F]{40}$/.test(text)) {
    return 'is not a TRON address: write its hex form without 0x';
  }
  // Only what is as long as an address is decoded.
  if (text.length !== base58Characters || !/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) {
    return 'is not a TRON address: it must be T and 33 base58 characters, or 41 and 40 hex';
  }
  const bytes = base58.decode(text);
  if (bytes.length !== bytesWithChecksum) {
    return `is not a TRON address: it holds ${bytes.length} bytes, not ${bytesWithChecksum}`;
  }
  if (bytes[0] !== lead) {
    return `is not a TRON address: its leading byte is ${bytes[0]}, not ${lead} (0x41)`;
  }
  const payload = base58check.encode(bytes.subarray(0, bytesWithChecksum - 4));
  return payload === text ? null : 'has a wrong checksum: copy it again';
}
