// A chain with the contract, a token and accounts, for measurements; and the verbs on it.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Abi,
  type Address,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  sha256,
  zeroAddress,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { escrowsAbi, initCode } from './artifacts/abi.ts';
import { type Chain, createChain, type Fork } from './forks.ts';
import type { Escrow, Terms } from './ids.ts';

const here = import.meta.dirname;
export const START = 1_800_000_000n;
export const TIMELOCK = START + 86_400n;
export const FUND_BEFORE = START + 7_200n;
/** A tag of 8 bytes and an index, as real lanes have. */
const FIRST_LANE = 0x5d1fa3c27be6049800000001n;

/** Accounts without zero bytes to speak of, so that calldata costs what it mostly costs. */
export const accountOf = (name: string): PrivateKeyAccount =>
  privateKeyToAccount(`0x${createHash('sha256').update(`gas ${name}`).digest('hex')}`);

export const funder = accountOf('funder');
export const payout = accountOf('payout');
export const third = accountOf('third');

/** Secrets whose hashlocks have no zero byte either. */
export function secretOf(n: number): Hex {
  let secret = keccak256(Buffer.from(`gas ${n}`));
  while (hasZero(secret) || hasZero(sha256(secret))) secret = keccak256(secret);
  return secret;
}

function hasZero(hex: Hex): boolean {
  return Buffer.from(hex.slice(2), 'hex').includes(0);
}

export type Session = {
  readonly chain: Chain;
  readonly escrows: Address;
  readonly coin: Address;
  readonly coinAbi: Abi;
};

export function encoded(functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: escrowsAbi as Abi, functionName, args });
}

export function escrowOf(
  token: Address,
  n: number,
  counter: number,
  from: Address,
  to: Address = payout.address,
): Escrow {
  const native = token === zeroAddress;
  const terms: Terms = {
    hashlock: sha256(secretOf(n)),
    payout: to,
    refund: from,
    token,
    amount: native ? 1_234_567_890_123_456_789n : 12_345_678_901n,
    timelock: TIMELOCK,
    fundBefore: FUND_BEFORE,
  };
  return { terms, lane: FIRST_LANE + BigInt(n), counter };
}

export const args = ({ terms, lane, counter }: Escrow) => [terms, lane, counter] as const;

export function artifact(name: string): { abi: Abi; bytecode: Hex } {
  return JSON.parse(readFileSync(join(here, `artifacts/${name}.json`), 'utf8'));
}

export async function session(fork: Fork): Promise<Session> {
  const chain = await createChain(fork);
  const { abi: coinAbi, bytecode } = artifact('DevCoin');
  for (const { address } of [funder, payout, third]) await chain.give(address, 10n ** 24n);
  const escrows = getAddress(await chain.create(initCode, START));
  const coin = getAddress(await chain.create(bytecode, START));
  const made = { chain, escrows, coin, coinAbi };
  // the contract holds the money of others, and the payout holds some too
  for (const to of [funder.address, payout.address, escrows]) {
    await coinCall(made, third.address, 'mint', [to, 10n ** 15n]);
  }
  return made;
}

export function coinCall(
  s: Session,
  from: Address,
  functionName: string,
  args: readonly unknown[],
) {
  const data = encodeFunctionData({ abi: s.coinAbi, functionName, args });
  return s.chain.send({ from, to: s.coin, data, at: START });
}

export function call(
  s: Session,
  from: Address,
  data: Hex,
  value = 0n,
  at = START,
): Promise<number> {
  return s.chain.send({ from, to: s.escrows, data, value, at });
}

export function fund(s: Session, escrow: Escrow): Promise<number> {
  const value = escrow.terms.token === zeroAddress ? escrow.terms.amount : 0n;
  return call(s, escrow.terms.refund, encoded('fund', args(escrow)), value);
}

export function claim(s: Session, escrow: Escrow, n: number): Promise<number> {
  return call(s, third.address, encoded('claim', [...args(escrow), secretOf(n)]));
}

export function refund(s: Session, escrow: Escrow): Promise<number> {
  return call(s, third.address, encoded('refund', args(escrow)), 0n, TIMELOCK);
}
