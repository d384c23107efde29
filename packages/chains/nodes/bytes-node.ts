// Bytes of hex and SHA-256 by Node's own code: a block of Bitcoin has eight million digits, which
// takes it 5 ms and JavaScript 60. `#bytes` is this in Node, and bytes-web.ts elsewhere.

import { hash } from 'node:crypto';

/** Up to the first that are not two hex digits. */
export function bytesOfHex(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

/** 64 hex digits. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
