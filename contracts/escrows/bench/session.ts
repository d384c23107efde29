// A chain with the contract, tokens and accounts, for measurements; and the verbs on it.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Abi,
  type Address,
  concat,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  parseAbi,
  parseSignature,
  sha256,
  toHex,
  zeroAddress,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { escrowsAbi, initCode } from '../artifacts/abi.ts';
import {
  type Consent,
  consentOf,
  type Escrow,
  escrowId,
  firstLaneOfPayee,
  legOf,
  type Terms,
} from '../ids.ts';
import { type Chain, createChain, createTronChain, type Fork } from './chain.ts';

export const START = 1_800_000_000n;
export const TIMELOCK = START + 86_400n;
const FUND_BEFORE = START + 7_200n;
/** A tag of 8 bytes and an index, as real lanes have. */
const FIRST_LANE = 0x5d1fa3c27be6049800000001n;

/** Accounts without zero bytes to speak of, so that calldata costs what it mostly costs. */
export const accountOf = (name: string): PrivateKeyAccount =>
  privateKeyToAccount(`0x${createHash('sha256').update(`gas ${name}`).digest('hex')}`);

export const funder = accountOf('funder');
export const payout = accountOf('payout');
export const third = accountOf('third');

const hasZero = (hex: Hex) => Buffer.from(hex.slice(2), 'hex').includes(0);

/** Secrets whose hashlocks have no zero byte either. */
export function secretOf(n: number): Hex {
  let secret = keccak256(Buffer.from(`gas ${n}`));
  while (hasZero(secret) || hasZero(sha256(secret))) secret = keccak256(secret);
  return secret;
}

export type Session = {
  readonly chain: Chain;
  readonly escrows: Address;
  readonly coin: Address;
  /** TRON: answers false and moves all the same. */
  readonly falseCoin: Address;
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
  const terms: Terms = {
    hashlock: sha256(secretOf(n)),
    payout: to,
    refund: from,
    token,
    amount: token === zeroAddress ? 1_234_567_890_123_456_789n : 12_345_678_901n,
    timelock: TIMELOCK,
    fundBefore: FUND_BEFORE,
  };
  return { terms, lane: FIRST_LANE + BigInt(n), counter };
}

export const args = ({ terms, lane, counter }: Escrow) => [terms, lane, counter] as const;

export function artifact(name: string): { abi: Abi; bytecode: Hex } {
  return JSON.parse(readFileSync(join(import.meta.dirname, `../artifacts/${name}.json`), 'utf8'));
}

export const rich = 10n ** 24n;
export const many = 10n ** 15n;

export async function session(fork: Fork | 'tron'): Promise<Session> {
  const chain = await (fork === 'tron' ? createTronChain() : createChain(fork));
  for (const { address } of [funder, payout, third]) await chain.give(address, rich);
  const made = async (bytecode: Hex) => getAddress(await chain.create(bytecode, START));
  const s = {
    chain,
    escrows: await made(initCode),
    coin: await made(artifact('DevCoin').bytecode),
    falseCoin: fork === 'tron' ? await made(artifact('FalseCoin').bytecode) : zeroAddress,
  };
  // The contract holds the money of others, and the payout holds some too; on TRON none yet.
  const holders = fork === 'tron' ? [funder.address] : [funder.address, payout.address, s.escrows];
  for (const to of holders) await coinCall(s, third.address, 'mint', [to, many]);
  if (fork === 'tron') {
    await coinCall({ ...s, coin: s.falseCoin }, third.address, 'mint', [funder.address, many]);
  }
  return s;
}

const coinAbi = parseAbi([
  'function mint(address to, uint256 value)',
  'function approve(address to, uint256 value)',
]) as Abi;

const coinData = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: coinAbi, functionName, args });

export function coinCall(s: Session, from: Address, name: string, args: readonly unknown[]) {
  return s.chain.send({ from, to: s.coin, data: coinData(name, args), at: START });
}

export function call(s: Session, from: Address, data: Hex, value = 0n, at = START) {
  return s.chain.send({ from, to: s.escrows, data, value, at });
}

const weiOf = ({ terms }: Escrow) => (terms.token === zeroAddress ? terms.amount : 0n);

export function fund(s: Session, escrow: Escrow): Promise<number> {
  return call(s, escrow.terms.refund, encoded('fund', args(escrow)), weiOf(escrow));
}

/** In a lane of the payee, who signs that. */
export async function fundInLane(s: Session, escrow: Escrow): Promise<number> {
  const data = encoded('fundInLane', [...args(escrow), await consent(s, 'OpenInMyLane', escrow)]);
  return call(s, escrow.terms.refund, data, weiOf(escrow));
}

export const inLaneOfPayee = (escrow: Escrow): Escrow => {
  return { ...escrow, lane: escrow.lane | firstLaneOfPayee };
};

export function fundMany(s: Session, escrows: readonly Escrow[]): Promise<number> {
  const value = escrows.reduce((sum, escrow) => sum + weiOf(escrow), 0n);
  return call(s, funder.address, encoded('fundMany', [escrows]), value);
}

export function claim(s: Session, escrow: Escrow, n: number, from = third): Promise<number> {
  return call(s, from.address, encoded('claim', [...args(escrow), secretOf(n)]));
}

export function refund(s: Session, escrow: Escrow): Promise<number> {
  return call(s, third.address, encoded('refund', args(escrow)), 0n, TIMELOCK);
}

export async function refundEarly(s: Session, escrow: Escrow): Promise<number> {
  const { v, r, s: s_ } = await consent(s, 'GiveUpClaim', escrow);
  const signature = concat([r, s_, toHex(v)]);
  return call(s, third.address, encoded('refundEarly', [...args(escrow), signature]));
}

/** Escrows of one payment. */
export function settleMany(s: Session, escrows: readonly Escrow[], secrets: readonly Hex[] | null) {
  const [first] = escrows;
  if (first === undefined) throw new Error('a batch of none');
  const verb = secrets === null ? 'refund' : 'claim';
  const { token, payout, refund } = first.terms;
  const legs = escrows.map((escrow, i) =>
    legOf(escrow, verb, secrets?.[i] ?? escrow.terms.hashlock),
  );
  const group = { token, to: verb === 'claim' ? payout : refund, legs };
  const data = encoded(`${verb}Many`, [[group], 300_000n + 30_000n * BigInt(legs.length)]);
  return call(s, third.address, data, 0n, verb === 'claim' ? START : TIMELOCK);
}

function parsed(signature: Hex) {
  const { r, s, yParity } = parseSignature(signature);
  return { v: yParity + 27, r, s };
}

async function consent({ chain, escrows }: Session, what: Consent, escrow: Escrow) {
  return parsed(await payout.signTypedData(consentOf(what, chain.chainId, escrows, escrow)));
}

const fields = (type: string, ...names: string[]) => names.map((name) => ({ name, type }));
const types = {
  Permit: [
    ...fields('address', 'owner', 'spender'),
    ...fields('uint256', 'value', 'nonce', 'deadline'),
  ],
  ReceiveWithAuthorization: [
    ...fields('address', 'from', 'to'),
    ...fields('uint256', 'value', 'validAfter', 'validBefore'),
    ...fields('bytes32', 'nonce'),
  ],
};

/** The funder's signature for DevCoin. */
async function signed({ chain, coin }: Session, primaryType: keyof typeof types, message: object) {
  const { chainId } = chain;
  const domain = { name: 'Dev Coin', version: '2', chainId, verifyingContract: coin };
  const signature = await funder.signTypedData({ domain, types, primaryType, message } as never);
  return parsed(signature);
}

export async function byPermit(s: Session, escrow: Escrow, nonce: bigint): Promise<number> {
  const value = escrow.terms.amount;
  const permit = { owner: funder.address, spender: s.escrows, value, nonce, deadline: FUND_BEFORE };
  const signature = await signed(s, 'Permit', permit);
  const data = encoded('fundWithPermit', [...args(escrow), value, FUND_BEFORE, signature]);
  return call(s, funder.address, data);
}

export async function byAuthorization(s: Session, escrow: Escrow): Promise<number> {
  const { amount: value, fundBefore: validBefore } = escrow.terms;
  const nonce = escrowId(s.chain.chainId, s.escrows, escrow);
  const moved = { from: funder.address, to: s.escrows, value, validAfter: 0n, validBefore, nonce };
  const signature = await signed(s, 'ReceiveWithAuthorization', moved);
  return call(s, third.address, encoded('fundWithAuthorization', [...args(escrow), signature]));
}
