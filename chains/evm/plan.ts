// From the terms of an EVM leg to its escrow and the calls to sign. Pure: the server and the SDK
// run this same code, so that a customer verifies instead of trusting.
//
// All escrows of a chain lie in one contract. An escrow goes by `<contract>:<id>`: the contract,
// where the money is, and the contract's own id for it in hex, which commits to the chain, the
// contract, every term and the lane. That is the `escrow` of material, of legs and of `?escrow=`.

import { erc20Abi, type Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { deployment as pinned } from '../../contracts/escrows/artifacts/abi.ts';
import {
  type Escrow as ContractEscrow,
  domainOf as domainAt,
  escrowId,
} from '../../contracts/escrows/ids.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Hex32 } from '../../core/hashlock.ts';
import type { Escrow, EscrowTerms } from '../../core/terms.ts';
import {
  claimData,
  escrowOfTerms,
  fundData,
  type Place,
  type DecodedCall as RawCall,
  callsIn as rawCallsIn,
  fundedIn as rawFundedIn,
  refundData,
} from '../escrows/calls.ts';
import type { EvmCall, EvmMaterial } from '../material.ts';
import { parseEvmAddress, sameAddress, zeroAddress } from './address.ts';

/** Where the contract is: at the same address on every chain, unless told. */
export type EvmDeployment = {
  readonly chainId: number;
  /** With its checksum. */
  readonly contract: string;
};

/** The contract as contracts/escrows/deployment.json pins it, on one chain. */
export function evmDeployment(chainId: number): EvmDeployment {
  return { chainId, contract: pinned.address };
}

/** The same, as the contract takes them. */
export function contractEscrow(terms: EscrowTerms): ContractEscrow {
  return escrowOfTerms(terms, (address) => parseEvmAddress(address) as Hex);
}

function placeOf({ chainId, contract }: EvmDeployment): Place {
  return { chainId, contract: contract as Hex };
}

/** What the contract's domain() answers. */
export function domainOf({ chainId, contract }: EvmDeployment): Hex {
  return domainAt(chainId, contract as Hex);
}

/** How an escrow is named everywhere outside of its contract. */
export function escrowName(id: string, { contract }: EvmDeployment): string {
  return `${contract}:${id.slice(2).toLowerCase()}`;
}

/** The contract's id, hex with 0x, of an escrow named as above. */
export function idOfEscrow(escrow: string): Hex {
  return `0x${escrow.slice(escrow.indexOf(':') + 1)}`;
}

/**
 * Throws `bad_address` for destinations where money would be lost: the zero address, the token, and
 * the contract itself.
 */
export function mustBeGood(terms: EscrowTerms, { contract }: EvmDeployment): void {
  const token = terms.token === null ? zeroAddress : parseEvmAddress(terms.token);
  const refuse = (field: string, value: string, what: string) =>
    new ParleyError('bad_address', `${field} ${value} is ${what}`, { field });
  for (const field of ['payout', 'refund'] as const) {
    const value = parseEvmAddress(terms[field].address);
    if (sameAddress(value, zeroAddress)) throw refuse(field, value, 'the zero address');
    if (sameAddress(value, token)) throw refuse(field, value, 'the token contract itself');
    if (sameAddress(value, contract)) throw refuse(field, value, 'the escrow contract');
  }
  if (terms.token !== null && sameAddress(token, zeroAddress)) {
    throw refuse('token', token, 'the zero address; the native coin has no token');
  }
}

/** The escrow of these terms, which name a lane. Throws as `mustBeGood` does. */
export function evmEscrow(terms: EscrowTerms, deployment: EvmDeployment): Escrow {
  mustBeGood(terms, deployment);
  const { chainId, contract } = placeOf(deployment);
  const id = escrowId(chainId, contract, contractEscrow(terms));
  return { address: escrowName(id, deployment), redeemScript: null };
}

function hexValue(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/** How much a funder lets the contract take: what it funds now, or any number of later fundings. */
export type Allowance = 'exact' | 'standing';

export const standingAllowance = 2n ** 256n - 1n;

/**
 * The calls that fund, in order, all from the refund address. `allowance` is what the token now
 * lets the contract take from it: enough needs no approval; too little but not zero is first set
 * to zero, because tokens like USDT refuse to change one that is not.
 */
export function fundCalls(
  terms: EscrowTerms,
  deployment: EvmDeployment,
  allowance: bigint,
  wanted: Allowance = 'exact',
): EvmCall[] {
  mustBeGood(terms, deployment);
  const { contract } = deployment;
  const data = fundData(contractEscrow(terms));
  if (terms.token === null) return [{ to: contract, data, value: hexValue(terms.amount) }];
  const token = parseEvmAddress(terms.token);
  const approve = (amount: bigint): EvmCall => ({
    to: token,
    data: encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [contract as Hex, amount],
    }),
    value: '0x0',
  });
  const needed = wanted === 'exact' ? terms.amount : standingAllowance;
  const approvals =
    allowance >= terms.amount
      ? []
      : allowance > 0n
        ? [approve(0n), approve(needed)]
        : [approve(needed)];
  return [...approvals, { to: contract, data, value: '0x0' }];
}

export function claimCall(terms: EscrowTerms, deployment: EvmDeployment, secret: Hex32): EvmCall {
  mustBeGood(terms, deployment);
  const data = claimData(contractEscrow(terms), secret);
  return { to: deployment.contract, data, value: '0x0' };
}

export function refundCall(terms: EscrowTerms, deployment: EvmDeployment): EvmCall {
  mustBeGood(terms, deployment);
  return { to: deployment.contract, data: refundData(contractEscrow(terms)), value: '0x0' };
}

/** A call of ours, read back; its escrow as `escrowName` gives it. */
export type DecodedCall = {
  readonly verb: RawCall['verb'];
  readonly escrow: string;
  /** What the contract is told of it. */
  readonly of: ContractEscrow;
  readonly secret: Hex32 | null;
  readonly isAuthorized?: true;
};

/**
 * See escrows/calls.ts. A call sent through a wallet contract, a bundler or a multicall counts too:
 * it carries ours word for word.
 */
export function callsIn(
  data: string,
  deployment: EvmDeployment,
  wanted?: (hashlock: Hex32) => boolean,
): DecodedCall[] {
  const calls = rawCallsIn(data.toLowerCase(), placeOf(deployment), wanted);
  return calls.map(({ id, escrow, ...call }) => {
    return { ...call, escrow: escrowName(id, deployment), of: escrow };
  });
}

/** The escrows of the first calls in calldata that fund one, whichever. */
export function fundedIn(data: string, deployment: EvmDeployment): string[] {
  const ids = rawFundedIn(data.toLowerCase(), placeOf(deployment));
  return ids.map((id) => escrowName(id, deployment));
}

/**
 * What calldata sent to `to` does, or null when it is no single fund, claim or refund of ours and
 * nothing more.
 */
export function decodeCall(
  to: string,
  data: string,
  deployment: EvmDeployment,
): DecodedCall | null {
  if (!sameAddress(to, deployment.contract)) return null;
  const [call] = callsIn(data, deployment);
  if (call === undefined) return null;
  const own = {
    fund: () => fundData(call.of),
    claim: () => claimData(call.of, call.secret ?? ''),
    refund: () => refundData(call.of),
  }[call.verb]();
  return own === data.toLowerCase() ? call : null;
}

/** What a builder was asked for. */
export type Wanted =
  | { readonly verb: 'fund'; readonly allowance?: Allowance }
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
      const callsAt = (held: bigint) => fundCalls(terms, deployment, held, wanted.allowance);
      const forms = [terms.amount, 0n, some].map(callsAt);
      const form = forms.find(({ length }) => length === material.txs.length);
      return form ?? callsAt(0n);
    }
  }
}
