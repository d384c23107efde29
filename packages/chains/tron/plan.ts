// From the terms of a TRON leg to its escrow and transactions, for server and SDK alike. Pure. An
// escrow goes by `<contract>:<id>`, the contract in base58; the id commits to everything.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { Field } from '@parley/contracts/tron/protobuf.ts';
import { type Envelope, rawTransaction, urlOf } from '@parley/contracts/tron/transaction.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import type { Escrow, EscrowTerms } from '@parley/core/terms.ts';
import type { Unchecked } from '@parley/core/unchecked.ts';
import type { Hex } from 'viem';
import {
  type Call,
  type Deployment,
  fundingOfLength,
  type Instance,
  planOf,
} from '../escrows/plan.ts';
import type { Batch } from '../interface/batches.ts';
import type { TronMaterial, TronTransaction } from '../interface/material.ts';
import { comparing } from '../kit/material.ts';
import { parseTronAddress, tronHex } from './address.ts';

/** `chainId` is what CHAINID answers: the last four bytes of the first block's id. */
export type TronDeployment = Deployment;

/** With the transaction that created it, hex: the proof that it is the pinned one. */
export type TronInstance = Instance & { readonly creation: string };
export type TronOrigin = TronInstance & {
  readonly chainId: number;
  readonly shards?: readonly TronInstance[];
  readonly formerContracts?: readonly TronInstance[];
};

export function bareAddress(address: string): Hex {
  return `0x${tronHex(parseTronAddress(address)).slice(2)}`;
}

const own = planOf({
  parse: parseTronAddress,
  bare: (address) => `0x${tronHex(address).slice(2)}`,
  coin: 'TRX',
});
export const {
  contractEscrow,
  contractFor,
  deploymentOf,
  domainOf,
  callsIn,
  fundedIn,
  laneText,
  laneConsent,
  releaseText,
  releaseIn,
  contractOf: tronContract,
} = own;

/** More sun than this is no number that a wallet reads exactly from JSON. */
const mostSun = BigInt(Number.MAX_SAFE_INTEGER);

/** Throws `bad_amount` where no transaction carries so much. A token's amount has 256 bits. */
export function mustFit(token: string | null, amount: bigint): void {
  if (token !== null || amount <= mostSun) return;
  throw new ParleyError('bad_amount', `${amount} sun is more than ${mostSun}`, {
    amount,
    most: mostSun,
  });
}

export function mustBeGood(terms: EscrowTerms, deployment: TronDeployment): void {
  own.mustBeGood(terms, deployment);
  mustFit(terms.token, terms.amount);
}

export function tronEscrow(terms: EscrowTerms, deployment: TronDeployment): Escrow {
  const escrow = own.escrowOf(terms, deployment);
  mustFit(terms.token, terms.amount);
  return escrow;
}

const tronCall =
  (from: string) =>
  ({ to, data, value }: Call): TronCall => {
    return { from: parseTronAddress(from), to: parseTronAddress(to), data: data.slice(2), value };
  };

/**
 * All from the refund address; `allowed` is what the token lets the contract take, `laneSignature`
 * the payee's for a lane of its own.
 */
export function fundCalls(
  terms: EscrowTerms,
  deployment: TronDeployment,
  allowed: bigint,
  laneSignature?: string,
): TronCall[] {
  mustBeGood(terms, deployment);
  const calls = own.fund(terms, deployment, { allowed, laneSignature });
  return calls.map(tronCall(terms.refund.address));
}

/** By one funder in lanes of its own, in one contract; `allowed` tells of each token. */
export function fundManyCalls(
  legs: readonly { readonly terms: EscrowTerms }[],
  deployment: TronDeployment,
  allowed: ReadonlyMap<string, bigint>,
  from: string,
): TronCall[] {
  const calls = own.fundMany(legs, deployment, allowed);
  for (const { value } of calls) mustFit(null, value);
  return calls.map(tronCall(from));
}

/** `from` signs and pays the energy: the payout address where nobody else is named. */
export function claimCall(
  terms: EscrowTerms,
  deployment: TronDeployment,
  secret: Secret,
  from: string = terms.payout.address,
): TronCall {
  mustBeGood(terms, deployment);
  return tronCall(from)(own.claim(terms, deployment, secret));
}

/** `from`: the funder where nobody else is named. */
export function refundCall(
  terms: EscrowTerms,
  deployment: TronDeployment,
  from: string = terms.refund.address,
): TronCall {
  mustBeGood(terms, deployment);
  return tronCall(from)(own.refund(terms, deployment));
}

/**
 * The refund before the timelock, by the payee's signature. null: the payout address itself sends
 * it, for wallets that sign no text.
 */
export function releaseCall(
  terms: EscrowTerms,
  deployment: TronDeployment,
  signature: string | null,
): TronCall {
  mustBeGood(terms, deployment);
  const from = signature === null ? terms.payout : terms.refund;
  return tronCall(from.address)(own.release(terms, deployment, signature));
}

/** The builder's task; `from` signs where it is not the party that the leg names. */
export type Wanted =
  | { readonly verb: 'fund'; readonly laneSignature?: string }
  | { readonly verb: 'claim'; readonly secret: Secret; readonly from?: string }
  | { readonly verb: 'refund'; readonly release?: string; readonly from?: string };

/** The signer's bounds for the fields that do not follow from the terms. */
export type EnvelopeBounds = {
  readonly nowMs: number;
  /** The most that one transaction may burn for energy. */
  readonly mostFeeLimitSun: bigint;
  /** The longest it may live from now on; default a day, the most that the chain takes. */
  readonly longestLifeMs?: number;
};

/** One sentence a difference. Any number of approvals that `fundCalls` can give is right. */
export function materialProblems(
  material: TronMaterial,
  wanted: Wanted,
  terms: EscrowTerms,
  deployment: TronDeployment,
  bounds: EnvelopeBounds,
): string[] {
  const calls = expectedCalls(material, wanted, terms, deployment);
  const { chain } = terms;
  const { address: escrow } = tronEscrow(terms, deployment);
  const expected = { chain, family: 'tron', sign: 'tron-txid', escrow } as const;
  const { problems, must } = comparing(material, expected);
  must('from', material.from, calls[0]?.from);
  must('transactions.length', material.transactions.length, calls.length);
  for (const [at, each] of calls.entries()) {
    const said = material.transactions[at];
    if (said === undefined) break;
    const name = `transactions[${at}]`;
    const wrong = envelopeProblem(said, bounds);
    if (wrong !== null) problems.push(`${name}.raw_data${wrong}`);
    else problems.push(...differences(name, said, tronTransaction(each, envelopeOf(said))));
  }
  return problems;
}

function expectedCalls(
  { transactions }: TronMaterial,
  wanted: Wanted,
  terms: EscrowTerms,
  deployment: TronDeployment,
): readonly TronCall[] {
  switch (wanted.verb) {
    case 'claim':
      return [claimCall(terms, deployment, wanted.secret, wanted.from)];
    case 'refund':
      return wanted.release === undefined
        ? [refundCall(terms, deployment, wanted.from)]
        : [releaseCall(terms, deployment, wanted.release)];
    case 'fund':
      return fundingOfLength(terms.amount, transactions.length, (allowed) =>
        fundCalls(terms, deployment, allowed, wanted.laneSignature),
      );
  }
}

function envelopeOf({ raw_data: raw }: TronTransaction): Envelope {
  return {
    refBlockBytes: raw.ref_block_bytes,
    refBlockHash: raw.ref_block_hash,
    expiration: raw.expiration,
    timestamp: raw.timestamp,
    feeLimitSun: BigInt(raw.fee_limit),
  };
}

function envelopeProblem(
  said: Unchecked<TronTransaction>,
  { nowMs, mostFeeLimitSun, longestLifeMs = longestExpirationMs }: EnvelopeBounds,
): string | null {
  const raw = said?.raw_data;
  if (typeof raw !== 'object' || raw === null) return ' is missing';
  const isCount = (value: unknown): value is number =>
    Number.isSafeInteger(value) && (value as number) > 0;
  const isHex = (text: unknown, length: number) =>
    typeof text === 'string' && text.length === length && /^[0-9a-f]+$/.test(text);
  if (!isHex(raw.ref_block_bytes, 4)) return '.ref_block_bytes is not 2 bytes of hex';
  if (!isHex(raw.ref_block_hash, 16)) return '.ref_block_hash is not 8 bytes of hex';
  if (!isCount(raw.timestamp)) return '.timestamp is no time in milliseconds';
  if (!isCount(raw.expiration)) return '.expiration is no time in milliseconds';
  if (raw.expiration > nowMs + longestLifeMs) {
    return `.expiration is more than ${longestLifeMs / 60_000} minutes ahead`;
  }
  if (!isCount(raw.fee_limit)) return '.fee_limit is no amount of sun';
  if (BigInt(raw.fee_limit) <= mostFeeLimitSun) return null;
  return `.fee_limit is ${raw.fee_limit} sun, above ${mostFeeLimitSun}`;
}

function differences(name: string, said: unknown, expected: unknown): string[] {
  if (typeof expected !== 'object' || expected === null) {
    return said === expected ? [] : [`${name} is ${String(said)}, not ${String(expected)}`];
  }
  if (typeof said !== 'object' || said === null) return [`${name} is not an object`];
  const [got, wanted] = [said, expected] as Record<string, unknown>[];
  const fields = new Set([...Object.keys(got ?? {}), ...Object.keys(wanted ?? {})]);
  return [...fields].flatMap((field) => {
    const place = Array.isArray(expected) ? `${name}[${field}]` : `${name}.${field}`;
    if (!Object.hasOwn(expected, field)) return [`${place} does not belong there`];
    if (!Object.hasOwn(said, field)) return [`${place} is missing`];
    return differences(place, got?.[field], wanted?.[field]);
  });
}

export function batchCall(batch: Batch, deployment: TronDeployment, from: string): TronCall {
  for (const { terms } of batch.legs) mustFit(terms.token, terms.amount);
  return tronCall(from)(own.batch(batch, deployment));
}

/** java-tron takes an expiration up to a day after its newest block. */
const longestExpirationMs = 24 * 60 * 60 * 1_000;
/** getMaxFeeLimit of the main network, in sun: 15 000 TRX. */
export const largestFeeLimitSun = 15_000_000_000n;

/** A block that a transaction refers to (TAPOS): it is good on chains that have this block only. */
export type BlockReference = { readonly number: number; readonly hash: string };

/** A call of a contract, addresses in base58. */
export type TronCall = {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly value: bigint;
};

/** The last two bytes of the number, and the ninth to sixteenth of the id. */
export function referenceTo({ number, hash }: BlockReference): {
  refBlockBytes: string;
  refBlockHash: string;
} {
  const refBlockBytes = (number % 65_536).toString(16).padStart(4, '0');
  return { refBlockBytes, refBlockHash: hash.slice(16, 32) };
}

export function tronTransaction(call: TronCall, envelope: Envelope): TronTransaction {
  const { refBlockBytes, refBlockHash, expiration, timestamp, feeLimitSun } = envelope;
  const owner = tronHex(call.from);
  const contract = tronHex(call.to);
  const type = 'TriggerSmartContract';
  const fields: Field[] = [
    [1, hexToBytes(owner)],
    [2, hexToBytes(contract)],
    [3, call.value],
    [4, hexToBytes(call.data)],
  ];
  const raw = rawTransaction(type, fields, envelope);
  const value = {
    data: call.data,
    owner_address: owner,
    contract_address: contract,
    ...(call.value === 0n ? {} : { call_value: Number(call.value) }),
  };
  return {
    visible: false,
    txID: bytesToHex(sha256(raw)),
    raw_data: {
      contract: [{ parameter: { value, type_url: urlOf(type) }, type }],
      ref_block_bytes: refBlockBytes,
      ref_block_hash: refBlockHash,
      expiration,
      fee_limit: Number(feeLimitSun),
      timestamp,
    },
    raw_data_hex: bytesToHex(raw),
  };
}
