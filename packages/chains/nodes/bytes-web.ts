// Bytes of hex and SHA-256 with what every runtime has: `#bytes` outside of Node.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';

/** Up to the first that are not two hex digits. */
export function bytesOfHex(hex: string): Uint8Array {
  const wrong = hex.search(/[^0-9a-f]/i);
  const end = wrong === -1 ? hex.length : wrong;
  return hexToBytes(hex.slice(0, end - (end % 2)));
}

/** As Bitcoin hashes blocks and transactions. */
export function sha256Twice(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes));
}

/** 64 hex digits. */
export function sha256Hex(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}
