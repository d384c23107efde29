// What calls to a token and the words of its storage are made of, on any EVM-like chain, and how a
// stranger's text is shown. Pure. What code tells is read by chains/evm/checks: opcodes.ts and
// signals.ts.

import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { keccak256, toFunctionSelector } from 'viem/utils';
import { mostNameLength } from './inspection.ts';

/** Four bytes in hex without 0x, of such as `transfer(address,uint256)`. */
export function selectorOf(signature: string): string {
  return toFunctionSelector(`function ${signature}`).slice(2);
}

function slotNamed(name: string, less: bigint): string {
  const hash = BigInt(keccak256(utf8ToBytes(name))) - less;
  return hash.toString(16).padStart(64, '0');
}

export type ProxySlot = {
  readonly kind: string;
  /** 32 bytes in hex without 0x. */
  readonly slot: string;
  readonly holds: 'implementation' | 'beacon' | 'admin';
};

/** Where a proxy keeps what it stands for; a beacon says by `implementation()` what that is. */
export const proxySlots: readonly ProxySlot[] = [
  {
    kind: 'EIP-1967',
    slot: slotNamed('eip1967.proxy.implementation', 1n),
    holds: 'implementation',
  },
  { kind: 'EIP-1967', slot: slotNamed('eip1967.proxy.beacon', 1n), holds: 'beacon' },
  { kind: 'EIP-1967', slot: slotNamed('eip1967.proxy.admin', 1n), holds: 'admin' },
  {
    kind: 'OpenZeppelin 2',
    slot: slotNamed('org.zeppelinos.proxy.implementation', 0n),
    holds: 'implementation',
  },
  { kind: 'OpenZeppelin 2', slot: slotNamed('org.zeppelinos.proxy.admin', 0n), holds: 'admin' },
  { kind: 'EIP-1822', slot: slotNamed('PROXIABLE', 0n), holds: 'implementation' },
];

/** The address in a word, 20 bytes in hex; null where the word is zero or holds something else. */
export function addressIn(word: string): string | null {
  const hex = word.replace(/^0x/, '').toLowerCase();
  if (!/^0{24}[0-9a-f]{40}$/.test(hex) || /^0+$/.test(hex)) return null;
  return hex.slice(24);
}

/** A stranger's text as it may be shown: nothing invisible in it, trimmed, and cut. */
export function cleanText(text: string, most: number = mostNameLength): string {
  const visible = text
    .slice(0, 8 * most)
    .replace(/[\s\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '')
    .trim();
  return [...visible].slice(0, most).join('').trim();
}

/** A number of 32 bytes or more; null where the answer is shorter. */
export function decodeNumber(answer: Uint8Array): bigint | null {
  return answer.length < 32 ? null : BigInt(`0x${bytesToHex(answer.subarray(0, 32))}`);
}

/** More decimals than this leave a number of 256 bits no room for whole units. */
export const mostDecimals = 36;

export function bytesOf(hex: string): Uint8Array {
  return hexToBytes(hex.replace(/^0x/, ''));
}
