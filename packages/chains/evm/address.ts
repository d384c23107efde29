// EVM addresses: any common spelling in, EIP-55 out. Pure.

import { getAddress } from 'viem/utils';
import { badAddress } from '../kit/bad-address.ts';

/** Mixed case with a wrong EIP-55 checksum is a typing error. Throws `bad_address`. */
export function parseEvmAddress(text: string): string {
  const digits = /^0[xX]([0-9a-fA-F]{40})$/.exec(text)?.[1];
  if (digits === undefined) {
    throw badAddress(text, 'is not an EVM address: it must be 0x and 40 hex characters');
  }
  const address = getAddress(`0x${digits.toLowerCase()}`);
  const plain = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (!plain && address !== `0x${digits}`) {
    throw badAddress(text, 'has a wrong EIP-55 checksum: copy it again');
  }
  return address;
}

export function sameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
