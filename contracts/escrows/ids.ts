// How an escrow is named, computed away from the contract.

import { type Address, encodeAbiParameters, getContractAddress, type Hex, keccak256 } from 'viem';
import { deployment, escrowsAbi } from './artifacts/abi.ts';

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

/** The leg that `claimMany` takes with the secret as `lock`, and `refundMany` with the hashlock. */
export function legOf({ terms, lane, counter }: Escrow, lock: Hex) {
  const { payout, token, refund, amount, timelock, fundBefore } = terms;
  const key = (BigInt(refund) << 96n) | lane;
  if (timelock >> 64n > 0n || fundBefore >> 64n > 0n) {
    throw new RangeError(`a leg has 64 bits for ${timelock} and for ${fundBefore}`);
  }
  const times = (timelock << 96n) | (fundBefore << 32n) | BigInt(counter);
  return { lock, payout, token, key, amount, times };
}

/** More than anybody spreads swaps over. */
export const mostShards = 256;

export type Shard = { readonly number: number; readonly salt: Hex; readonly address: Address };

/** 0 is the one that `deployment` pins. Throws RangeError. */
export function shardOf(number: number): Shard {
  if (!Number.isInteger(number) || number < 0 || number >= mostShards) {
    throw new RangeError(`a shard has a number from 0 to ${mostShards - 1}, not ${number}`);
  }
  const { salt: first, deployer: from, initCode } = deployment;
  const words = [{ type: 'bytes32' }, { type: 'uint256' }] as const;
  const salt =
    number === 0 ? first : keccak256(encodeAbiParameters(words, [first, BigInt(number)]));
  const bytecodeHash = initCode.keccak256;
  const address = getContractAddress({ opcode: 'CREATE2', from, salt, bytecodeHash });
  return { number, salt, address };
}

const known = new Map<string, Shard>();

export function shardAt(address: string): Shard | null {
  for (let number = known.size; number < mostShards && !known.has(address); number += 1) {
    const shard = shardOf(number);
    known.set(shard.address, shard);
  }
  return known.get(address) ?? null;
}

/** The fault of such an address, as a clause. */
export function noShard(address: string): string {
  const all = `shard 0 to ${mostShards - 1} of the pinned init code`;
  return `the contract ${address}, which is none of ${all}`;
}
