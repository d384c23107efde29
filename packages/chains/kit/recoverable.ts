// The common part of EIP-191 and TRON's signMessageV2: recovery of a key from 65 bytes r, s, v.
// Pure.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';

/** 20 bytes that stand for a key, or why there is no key. */
export type Recovered = { readonly keyHash: Uint8Array } | { readonly why: string };

/** The key behind 65 bytes r, s, v over `digest`: low s, v 27, 28, 0 or 1 (no EIP-2098). */
export function recoverKeyHash(digest: Uint8Array, signature: Uint8Array): Recovered {
  const v = signature[64] ?? 255;
  const recovery = v >= 27 ? v - 27 : v;
  if (recovery !== 0 && recovery !== 1) return { why: `v is ${v}, not 27, 28, 0 or 1` };
  try {
    const parsed = secp256k1.Signature.fromBytes(signature.subarray(0, 64));
    if (parsed.hasHighS()) return { why: 's is in the upper half of the curve order' };
    const point = parsed.addRecoveryBit(recovery).recoverPublicKey(digest);
    return { keyHash: keyHashOf(point.toBytes(false)) };
  } catch {
    return { why: 'r and s belong to no key' };
  }
}

export function keyHashOf(publicKey: Uint8Array): Uint8Array {
  return keccak_256(publicKey.subarray(1)).subarray(12);
}
