// Bytes of hex and SHA-256 by Node's own code: a block of Bitcoin has eight million digits, which
// takes it 5 ms and JavaScript 60. `#bytes` is this in Node, and bytes-web.ts elsewhere.

import { hash } from 'node:crypto';

/** Up to the first that are not two hex digits. */
export function bytesOfHex(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

/** As Bitcoin hashes blocks and transactions. By text: that is twice as fast as by buffers. */
export function sha256Twice(bytes: Uint8Array): Uint8Array {
  const once = Buffer.from(hash('sha256', bytes, 'binary'), 'binary');
  return Buffer.from(hash('sha256', once, 'binary'), 'binary');
}

/** 64 hex digits. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
