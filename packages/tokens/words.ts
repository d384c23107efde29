// Calls to contracts and the words of their answers and storage, on any EVM-like chain. Pure.

import { hexToBytes } from '@noble/hashes/utils.js';
import { toFunctionSelector } from 'viem/utils';

/** Four bytes in hex without 0x, of such as `transfer(address,uint256)`. */
export function selectorOf(signature: string): string {
  return toFunctionSelector(`function ${signature}`).slice(2);
}

/** A word of calldata, without 0x: a number, or a number or an address in hex. */
export function word(value: bigint | string): string {
  const hex = typeof value === 'bigint' ? value.toString(16) : value.replace(/^0x/, '');
  return hex.toLowerCase().padStart(64, '0');
}

/** Calldata of a function whose arguments are a word each, in hex without 0x. */
export function dataOf(signature: string, ...values: readonly (bigint | string)[]): string {
  return selectorOf(signature) + values.map(word).join('');
}

const addressBits = 160n;

/** The address that a word is, with 0x; null where it is none. */
export function addressIn(value: bigint | null): string | null {
  if (value === null || value >> addressBits !== 0n) return null;
  return `0x${value.toString(16).padStart(40, '0')}`;
}

/** The same where a zero stands for none. */
export function contractIn(value: bigint | null): string | null {
  return value === 0n ? null : addressIn(value);
}

export function bytesOf(hex: string): Uint8Array {
  return hexToBytes(hex.replace(/^0x/, ''));
}
