// Where instances lie on an EVM chain: one init code under salts that follow from a number.

import { type Address, encodeAbiParameters, getContractAddress, type Hex, keccak256 } from 'viem';
import { deployment } from './artifacts/abi.ts';

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

/** What is wrong with such an address, as a clause. */
export function noShard(address: string): string {
  const all = `shard 0 to ${mostShards - 1} of the pinned init code`;
  return `the contract ${address}, which is none of ${all}`;
}
