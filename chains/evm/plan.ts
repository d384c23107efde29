// From the terms of an EVM leg to its escrow and the calls to sign. Pure: the server and the SDK
// run this same code, so that a customer verifies instead of trusting.

import type { Hex } from 'viem';
import {
  encodeAbiParameters,
  encodeFunctionData,
  getCreate2Address,
  keccak256,
  toFunctionSelector,
} from 'viem/utils';
import {
  erc20Abi,
  escrowAbi,
  factoryAbi,
  deployment as pinned,
} from '../../contracts/evm/artifacts/abi.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Hex32 } from '../../core/hashlock.ts';
import type { Escrow, EscrowTerms } from '../../core/terms.ts';
import type { EvmCall, EvmMaterial } from '../material.ts';
import { parseEvmAddress, sameAddress, zeroAddress } from './address.ts';

/** Where the contracts are. Equal on every chain (contracts/evm/deployment.json). */
export type EvmDeployment = {
  readonly factory: string;
  /** keccak256 of the init code of every escrow. */
  readonly proxyInitCodeHash: string;
  /** keccak256 of the factory's code on chain, compared before its first use. */
  readonly factoryCodeHash: string;
};

export const evmDeployment: EvmDeployment = {
  factory: pinned.factory.address,
  proxyInitCodeHash: pinned.proxy.initCodeHash,
  factoryCodeHash: pinned.factory.codeHash,
};

/** The contracts' Terms. */
export type ContractTerms = {
  readonly hashlock: Hex;
  readonly payout: Hex;
  readonly refund: Hex;
  readonly token: Hex;
  readonly amount: bigint;
  readonly timelock: bigint;
};

const termsAbi = [
  { type: 'bytes32', name: 'hashlock' },
  { type: 'address', name: 'payout' },
  { type: 'address', name: 'refund' },
  { type: 'address', name: 'token' },
  { type: 'uint256', name: 'amount' },
  { type: 'uint256', name: 'timelock' },
] as const;

export function contractTerms(terms: EscrowTerms): ContractTerms {
  return {
    hashlock: `0x${terms.hashlock}`,
    payout: parseEvmAddress(terms.payout.address) as Hex,
    refund: parseEvmAddress(terms.refund.address) as Hex,
    token: (terms.token === null ? zeroAddress : parseEvmAddress(terms.token)) as Hex,
    amount: terms.amount,
    timelock: BigInt(terms.timelock),
  };
}

/** The CREATE2 address of some terms. Checks nothing: for terms read from a chain. */
export function escrowAddress(terms: ContractTerms, deployment: EvmDeployment): string {
  const { hashlock, payout, refund, token, amount, timelock } = terms;
  return getCreate2Address({
    from: deployment.factory as Hex,
    salt: keccak256(
      encodeAbiParameters(termsAbi, [hashlock, payout, refund, token, amount, timelock]),
    ),
    bytecodeHash: deployment.proxyInitCodeHash as Hex,
  });
}

/**
 * The escrow of these terms. Throws `bad_address` for destinations where money would be lost:
 * the zero address, and a payout that is the token, the factory or the escrow itself.
 */
export function evmEscrow(terms: EscrowTerms, deployment: EvmDeployment): Escrow {
  const plain = contractTerms(terms);
  const address = escrowAddress(plain, deployment);
  const refuse = (field: string, value: string, what: string) =>
    new ParleyError('bad_address', `${field} ${value} is ${what}`, { field });
  for (const field of ['payout', 'refund'] as const) {
    const value = plain[field];
    if (sameAddress(value, zeroAddress)) throw refuse(field, value, 'the zero address');
    if (sameAddress(value, plain.token)) throw refuse(field, value, 'the token contract itself');
    if (sameAddress(value, deployment.factory)) throw refuse(field, value, 'the escrow factory');
    if (sameAddress(value, address)) throw refuse(field, value, 'the escrow itself');
  }
  if (terms.token !== null && sameAddress(plain.token, zeroAddress)) {
    throw refuse('token', plain.token, 'the zero address; the native coin has no token');
  }
  return { address, redeemScript: null };
}

function hexValue(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/**
 * The calls that fund, in order, all from the refund address. `allowance` is what the token now
 * lets the factory take from it: enough needs no approval; too little but not zero is first set
 * to zero, because tokens like USDT refuse to change one that is not.
 */
export function fundCalls(
  terms: EscrowTerms,
  deployment: EvmDeployment,
  allowance: bigint,
): EvmCall[] {
  const { factory } = deployment;
  const data = encodeFunctionData({
    abi: factoryAbi,
    functionName: 'fund',
    args: [contractTerms(terms)],
  });
  if (terms.token === null) return [{ to: factory, data, value: hexValue(terms.amount) }];
  const token = parseEvmAddress(terms.token);
  const approve = (amount: bigint): EvmCall => ({
    to: token,
    data: encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [factory as Hex, amount],
    }),
    value: '0x0',
  });
  const approvals =
    allowance >= terms.amount
      ? []
      : allowance > 0n
        ? [approve(0n), approve(terms.amount)]
        : [approve(terms.amount)];
  return [...approvals, { to: factory, data, value: '0x0' }];
}

export function claimCall(terms: EscrowTerms, deployment: EvmDeployment, secret: Hex32): EvmCall {
  return {
    to: evmEscrow(terms, deployment).address,
    data: encodeFunctionData({
      abi: escrowAbi,
      functionName: 'claim',
      args: [contractTerms(terms), `0x${secret}`],
    }),
    value: '0x0',
  };
}

export function refundCall(terms: EscrowTerms, deployment: EvmDeployment): EvmCall {
  return {
    to: evmEscrow(terms, deployment).address,
    data: encodeFunctionData({
      abi: escrowAbi,
      functionName: 'refund',
      args: [contractTerms(terms)],
    }),
    value: '0x0',
  };
}

/** A call of ours, read back. `escrow` follows from the terms, wherever it was sent to. */
export type DecodedCall = {
  readonly verb: 'fund' | 'claim' | 'refund';
  readonly escrow: string;
  readonly terms: ContractTerms;
  readonly secret: Hex32 | null;
};

const tuple = '(bytes32,address,address,address,uint256,uint256)';
const verbs = {
  [toFunctionSelector(`function fund(${tuple})`).slice(2)]: 'fund',
  [toFunctionSelector(`function claim(${tuple},bytes32)`).slice(2)]: 'claim',
  [toFunctionSelector(`function refund(${tuple})`).slice(2)]: 'refund',
} as const satisfies Record<string, DecodedCall['verb']>;
const selector = new RegExp(Object.keys(verbs).join('|'), 'g');
const wordLength = 64;
const termsWords = 6;

/**
 * Every fund, claim and refund inside calldata, at any depth: a call sent through a wallet
 * contract, a bundler or a multicall carries ours word for word. Only calls whose addresses are
 * clean words count, since the contracts refuse all others. `wanted` says which hashlocks are of
 * interest before anything is hashed, so that calldata full of selectors costs little.
 */
export function callsIn(
  data: string,
  deployment: EvmDeployment,
  wanted: (hashlock: Hex32) => boolean = () => true,
): DecodedCall[] {
  const hex = data.toLowerCase();
  const found: DecodedCall[] = [];
  for (const { 0: four, index } of hex.matchAll(selector)) {
    const verb = verbs[four];
    const start = index + 8;
    if (index % 2 === 1 || !verb || !wanted(hex.slice(start, start + wordLength))) continue;
    const call = readCall(hex, start, verb, deployment);
    if (call !== null) found.push(call);
  }
  return found;
}

/** Calls that are read of calldata whose hashlocks nobody watches. */
const mostStrange = 16;

/** The escrows of the first calls in calldata that fund one, whichever. */
export function fundedIn(data: string, deployment: EvmDeployment): string[] {
  let left = mostStrange;
  const calls = callsIn(data, deployment, () => left-- > 0);
  return calls.flatMap(({ verb, escrow }) => (verb === 'fund' ? [escrow] : []));
}

function readCall(
  hex: string,
  start: number,
  verb: DecodedCall['verb'],
  deployment: EvmDeployment,
): DecodedCall | null {
  const words = termsWords + (verb === 'claim' ? 1 : 0);
  const text = hex.slice(start, start + words * wordLength);
  if (text.length !== words * wordLength || !/^[0-9a-f]+$/.test(text)) return null;
  const word = (at: number) => text.slice(at * wordLength, (at + 1) * wordLength);
  for (const at of [1, 2, 3]) if (!word(at).startsWith('0'.repeat(24))) return null;
  const address = (at: number) => parseEvmAddress(`0x${word(at).slice(24)}`) as Hex;
  const terms: ContractTerms = {
    hashlock: `0x${word(0)}`,
    payout: address(1),
    refund: address(2),
    token: address(3),
    amount: BigInt(`0x${word(4)}`),
    timelock: BigInt(`0x${word(5)}`),
  };
  const secret = verb === 'claim' ? word(6) : null;
  return { verb, escrow: escrowAddress(terms, deployment), terms, secret };
}

/** What calldata sent to `to` does, or null when it is none of ours in exactly our form. */
export function decodeCall(
  to: string,
  data: string,
  deployment: EvmDeployment,
): DecodedCall | null {
  const verb = verbs[data.slice(2, 10).toLowerCase()];
  if (verb === undefined) return null;
  const length = 2 + 8 + (termsWords + (verb === 'claim' ? 1 : 0)) * wordLength;
  if (data.length !== length) return null;
  const call = readCall(data.toLowerCase(), 10, verb, deployment);
  if (call === null) return null;
  return sameAddress(to, verb === 'fund' ? deployment.factory : call.escrow) ? call : null;
}

/** What a builder was asked for. */
export type Wanted =
  | { readonly verb: 'fund' }
  | { readonly verb: 'claim'; readonly secret: Hex32 }
  | { readonly verb: 'refund' };

/**
 * What differs between unsigned material and what the terms demand: one sentence a difference,
 * none when it is exactly that and nothing more. The number of approvals may be any that
 * `fundCalls` can give, since it depends on the token's state.
 */
export function materialProblems(
  material: EvmMaterial,
  wanted: Wanted,
  terms: EscrowTerms,
  deployment: EvmDeployment,
  chainId: number,
): string[] {
  const problems: string[] = [];
  const must = (field: string, got: unknown, expected: unknown) => {
    if (got !== expected) problems.push(`${field} is ${String(got)}, not ${String(expected)}`);
  };
  const funds = wanted.verb === 'fund';
  must('chain', material.chain, terms.chain);
  must('family', material.family, 'evm');
  must('sign', material.sign, 'evm-tx');
  must('chainId', material.chainId, chainId);
  must('escrow', material.escrow, evmEscrow(terms, deployment).address);
  must('from', material.from, funds ? parseEvmAddress(terms.refund.address) : undefined);
  const calls = expectedCalls(material, wanted, terms, deployment);
  must('the number of txs', material.txs.length, calls.length);
  for (const [at, call] of calls.entries()) {
    const tx = material.txs[at];
    if (tx === undefined) break;
    for (const field of ['to', 'data', 'value'] as const) {
      must(`txs[${at}].${field}`, tx[field], call[field]);
    }
    for (const field of Object.keys(tx)) {
      if (!Object.hasOwn(call, field)) problems.push(`txs[${at}].${field} does not belong there`);
    }
  }
  return problems;
}

function expectedCalls(
  material: EvmMaterial,
  wanted: Wanted,
  terms: EscrowTerms,
  deployment: EvmDeployment,
): EvmCall[] {
  switch (wanted.verb) {
    case 'claim':
      return [claimCall(terms, deployment, wanted.secret)];
    case 'refund':
      return [refundCall(terms, deployment)];
    case 'fund': {
      const some = terms.amount > 1n ? 1n : terms.amount;
      const forms = [terms.amount, 0n, some].map((held) => fundCalls(terms, deployment, held));
      const form = forms.find(({ length }) => length === material.txs.length);
      return form ?? fundCalls(terms, deployment, 0n);
    }
  }
}
