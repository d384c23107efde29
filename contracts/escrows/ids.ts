// How an escrow is named, computed away from the contract.

import { type Address, encodeAbiParameters, type Hex, keccak256 } from 'viem';
import { escrowsAbi } from './artifacts/abi.ts';

export type Terms = {
  /** SHA-256 of the 32-byte secret. */
  readonly hashlock: Hex;
  readonly payout: Address;
  readonly refund: Address;
  /** Zero: the chain's native asset. */
  readonly token: Address;
  readonly amount: bigint;
  /** Unix seconds, as is `fundBefore`. */
  readonly timelock: bigint;
  readonly fundBefore: bigint;
};

/** `lane` is below 2^96, `counter` from 1 to 2^30 - 1. */
export type Escrow = { readonly terms: Terms; readonly lane: bigint; readonly counter: number };

const escrowOf = escrowsAbi.find((item) => 'name' in item && item.name === 'escrowOf') as Extract<
  (typeof escrowsAbi)[number],
  { name: 'escrowOf' }
>;

/** The contract's own, fixed when it was deployed. */
export function domainOf(chainId: number, contract: Address): Hex {
  const types = [{ type: 'uint256' }, { type: 'address' }] as const;
  return keccak256(encodeAbiParameters(types, [BigInt(chainId), contract]));
}

export function escrowId(chainId: number, contract: Address, escrow: Escrow): Hex {
  const types = [{ type: 'bytes32' }, ...escrowOf.inputs] as const;
  const { terms, lane, counter } = escrow;
  return keccak256(encodeAbiParameters(types, [domainOf(chainId, contract), terms, lane, counter]));
}

/** What `claimMany` takes with the secret as `lock`, and `refundMany` with the hashlock. */
export function legOf({ terms, lane, counter }: Escrow, lock: Hex) {
  const { payout, token, refund, amount, timelock, fundBefore } = terms;
  const key = (BigInt(refund) << 96n) | lane;
  if (timelock >> 64n > 0n || fundBefore >> 64n > 0n) {
    throw new RangeError(`a leg has 64 bits for ${timelock} and for ${fundBefore}`);
  }
  const times = (timelock << 96n) | (fundBefore << 32n) | BigInt(counter);
  return { lock, payout, token, key, amount, times };
}
