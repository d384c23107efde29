// How an escrow is named, computed away from the contract.

import {
  type Address,
  domainSeparator,
  encodeAbiParameters,
  getContractAddress,
  type Hex,
  keccak256,
} from 'viem';
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

function eip712Of(chainId: number, verifyingContract: Address) {
  return { name: 'Parley', version: '1', chainId, verifyingContract };
}

/** An operator configures a few contracts; the limit is against callers with many. */
const mostDomains = 256;
const domains = new Map<string, Hex>();

/**
 * The contract's own, fixed when it was deployed. It is kept: making it is two thirds of what the
 * id of an escrow costs, and each pass over a swap asks for ids.
 */
export function domainOf(chainId: number, contract: Address): Hex {
  const name = `${chainId} ${contract}`;
  const known = domains.get(name);
  if (known !== undefined) return known;
  const made = domainSeparator({ domain: eip712Of(chainId, contract) });
  if (domains.size >= mostDomains) domains.clear();
  domains.set(name, made);
  return made;
}

export function escrowId(chainId: number, contract: Address, escrow: Escrow): Hex {
  const types = [{ type: 'bytes32' }, ...escrowOf.inputs] as const;
  const { terms, lane, counter } = escrow;
  return keccak256(encodeAbiParameters(types, [domainOf(chainId, contract), terms, lane, counter]));
}

/** The payout signs `GiveUpClaim` for `refundEarly`, and `OpenInMyLane` for a funding there. */
export type Consent = 'GiveUpClaim' | 'OpenInMyLane';

/** EIP-712, as wallets take it. */
export function consentOf(consent: Consent, chainId: number, contract: Address, escrow: Escrow) {
  return {
    domain: eip712Of(chainId, contract),
    types: { [consent]: [{ name: 'escrow', type: 'bytes32' }] },
    primaryType: consent,
    message: { escrow: escrowId(chainId, contract, escrow) },
  };
}

/** Lanes from here on are the payee's. */
export const firstLaneOfPayee = 1n << 95n;

/** The word of an escrow: its owner's 20 bytes, then the lane's 12. */
export function keyOf({ terms, lane }: Escrow): bigint {
  const owner = lane < firstLaneOfPayee ? terms.refund : terms.payout;
  return (BigInt(owner) << 96n) | lane;
}

export const legBits = { amount: 144n, time: 40n } as const;

/** The leg that `claimMany` takes with the secret as `lock`, and `refundMany` with the hashlock.
 * Throws RangeError for what has no room in a leg: such an escrow is settled by itself. */
export function legOf({ terms, lane, counter }: Escrow, verb: 'claim' | 'refund', lock: Hex) {
  const { payout, refund, amount, timelock, fundBefore } = terms;
  if (amount >> legBits.amount || timelock >> legBits.time || fundBefore >> legBits.time) {
    throw new RangeError(`a leg has no room for ${amount}, ${timelock} and ${fundBefore}`);
  }
  const place = (BigInt(verb === 'claim' ? refund : payout) << 96n) | lane;
  const rest = (amount << 112n) | (timelock << 72n) | (fundBefore << 32n) | BigInt(counter);
  return { lock, place, rest };
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
