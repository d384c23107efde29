// The questions of a token's inspection to its chain, on EVM-like chains. Addresses are 20 bytes in
// hex with 0x.

import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { dataOf } from './words.ts';

export type Reads = {
  readonly chain: string;
  /** In hex; '0x' where there is none. */
  code(address: string): Promise<string>;
  /** A word in hex. `slot`: 32 bytes in hex without 0x. */
  storage(address: string, slot: string): Promise<string>;
  /** The answer of a call, in hex; null where it fails. `data`: hex without 0x. */
  view(to: string, data: string): Promise<string | null>;
  /** As the chain writes an address. */
  shown(address: string): string;
  /** Somebody whom the storage names that a refused function reads; null: nobody. */
  keeper?(token: string, selectors: readonly string[]): Promise<string | null>;
};

const wordHex = 66;
const addressBytes = 20;

/** null: less than a word, or none. */
export async function wordAt(reads: Reads, to: string, data: string): Promise<bigint | null> {
  const answer = await reads.view(to, data);
  return answer === null || answer.length < wordHex ? null : BigInt(answer.slice(0, wordHex));
}

/** The answer of a function without arguments; null: neither true nor false. */
export async function flagAt(reads: Reads, to: string, signature: string): Promise<boolean | null> {
  const word = await wordAt(reads, to, dataOf(signature));
  if (word === 0n) return false;
  return word === 1n ? true : null;
}

/** One that nobody ever used: a token could treat a known one better. */
export function freshAddress(): string {
  return `0x${bytesToHex(randomBytes(addressBytes))}`;
}
