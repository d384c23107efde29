// What a signed EVM transaction says of itself.

import { type Hex, parseTransaction } from 'viem';
import type { Kept } from '../stores/store.ts';

export function nonceOf({ raw }: Pick<Kept, 'raw'>): number {
  return parseTransaction(raw as Hex).nonce ?? 0;
}

export function chainIdOf({ raw }: Pick<Kept, 'raw'>): number | null {
  return parseTransaction(raw as Hex).chainId ?? null;
}

/** Most that it pays for a unit of gas, wei. */
export function mostFeePerGasOf({ raw }: Pick<Kept, 'raw'>): bigint {
  const { maxFeePerGas, gasPrice } = parseTransaction(raw as Hex);
  return maxFeePerGas ?? gasPrice ?? 0n;
}
