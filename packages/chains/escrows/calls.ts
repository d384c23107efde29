// Calls of the contract that holds all escrows of an EVM chain or of TRON: written, and read back.
// Addresses are 20 bytes in hex with 0x. Pure.

import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import { type Escrow, escrowId, legOf, type Terms } from '@parley/contracts/escrows/ids.ts';
import { groupBy } from '@parley/core/engines.ts';
import { type Hashlock, hashlockOf, type Secret } from '@parley/core/hashlock.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { type Hex, toFunctionSelector } from 'viem';
import { decodeErrorResult, encodeFunctionData, getAbiItem, toEventSelector } from 'viem/utils';
import type { Batch } from '../interface/batches.ts';

export type Place = { readonly chainId: number; readonly contract: Hex };

export const noToken: Hex = `0x${'0'.repeat(40)}`;

export function escrowOfTerms(terms: EscrowTerms, bare: (address: string) => Hex): Escrow {
  const { lane, fundBefore, token } = terms;
  if (lane === undefined || fundBefore === undefined) {
    throw new Error(`terms of ${terms.hashlock} on ${terms.chain} name no lane`);
  }
  return {
    terms: {
      hashlock: `0x${terms.hashlock}`,
      payout: bare(terms.payout.address),
      refund: bare(terms.refund.address),
      token: token === null ? noToken : bare(token),
      amount: terms.amount,
      timelock: BigInt(terms.timelock),
      fundBefore: BigInt(fundBefore),
    },
    lane: BigInt(`0x${lane.number}`),
    counter: lane.counter,
  };
}

const argsOf = ({ terms, lane, counter }: Escrow) => [terms, lane, counter] as const;

export function fundData(escrow: Escrow): Hex {
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'fund', args: argsOf(escrow) });
}

export function claimData(escrow: Escrow, secret: Secret): Hex {
  const args = [...argsOf(escrow), `0x${secret}`] as const;
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'claim', args });
}

export function refundData(escrow: Escrow): Hex {
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'refund', args: argsOf(escrow) });
}

export function stateData(escrow: Escrow): Hex {
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'stateOf', args: argsOf(escrow) });
}

type Called = 'fund' | 'claim' | 'refund';

/** A call of ours, read back. The escrow follows from the terms, wherever it was sent to. */
export type DecodedCall = {
  readonly verb: Called;
  readonly id: Hex;
  readonly escrow: Escrow;
  readonly secret: Secret | null;
  readonly authorization?: Hex;
};

function bySelector<Verb extends Called>(verbOf: { readonly [name: string]: Verb }) {
  const functions = escrowsAbi.filter((item) => item.type === 'function');
  const ours = functions.filter(({ name }) => Object.hasOwn(verbOf, name));
  return new Map(
    ours.map((item) => [toFunctionSelector(item).slice(2), verbOf[item.name] as Verb]),
  );
}
const verbs = bySelector<Called>({
  fund: 'fund',
  fundWithPermit: 'fund',
  fundWithAuthorization: 'fund',
  claim: 'claim',
  refund: 'refund',
  refundPart: 'refund',
});
const batches = bySelector<'claim' | 'refund'>({ claimMany: 'claim', refundMany: 'refund' });
const authorized = bySelector({ fundWithAuthorization: 'fund' });
/** Looked for ahead, so that one found across another's bytes does not hide it. */
const selector = new RegExp(`(?=(${[...verbs.keys(), ...batches.keys()].join('|')}))`, 'g');
const wordLength = 64;
const escrowWords = 9;
const legWords = 6;

/** Finds calls at any depth. `wanted` is asked before an id is computed, so that it stays cheap. */
export function callsIn(
  hex: string,
  place: Place,
  wanted: (hashlock: Hashlock) => boolean = () => true,
  most = mostLegs,
): DecodedCall[] {
  const found: DecodedCall[] = [];
  const left = { legs: most };
  for (const { 1: name = '', index } of hex.matchAll(selector)) {
    if (index % 2 === 1) continue;
    const words = wordsFrom(hex, index + name.length);
    const verb = verbs.get(name);
    const batch = batches.get(name);
    if (verb !== undefined) {
      const call = wanted(words(0)) ? readCall(words, verb) : null;
      const authorization = authorized.has(name) ? signatureIn(words) : null;
      const how = authorization === null ? {} : { authorization };
      if (call !== null) found.push(named({ ...call, ...how }, place));
    } else if (batch !== undefined) {
      for (const call of readBatch(words, batch, wanted, left)) found.push(named(call, place));
    }
  }
  return found;
}

/** Calls that are read of bytes whose hashlocks nobody watches. */
const mostStrange = 16;

export function fundedIn(hex: string, place: Place): Hex[] {
  let left = mostStrange;
  const calls = callsIn(hex, place, () => left-- > 0);
  return calls.flatMap(({ verb, id }) => (verb === 'fund' ? [id] : []));
}

type Call = Omit<DecodedCall, 'id'>;
type Words = (at: number) => string;

/** Behind the escrow: v, r and s. null where the contract would refuse such words. */
function signatureIn(words: Words): Hex | null {
  const [v, r, s] = [0, 1, 2].map((at) => words(escrowWords + at));
  if (!v || !r || !s || !isNarrow(v, 2)) return null;
  return `0x${r}${s}${v.slice(-2)}`;
}

function named(call: Call, { chainId, contract }: Place): DecodedCall {
  return { ...call, id: escrowId(chainId, contract, call.escrow) };
}

function wordsFrom(hex: string, start: number): Words {
  return (at) => {
    const text = hex.slice(start + at * wordLength, start + (at + 1) * wordLength);
    return text.length === wordLength && /^[0-9a-f]+$/.test(text) ? text : '';
  };
}

const isNarrow = (word: string, digits: number) =>
  word !== '' && word.startsWith('0'.repeat(wordLength - digits));
const addressIn = (word: string): Hex => `0x${word.slice(24)}`;

function readCall(words: Words, verb: DecodedCall['verb']): Call | null {
  const own = Array.from({ length: escrowWords }, (_, at) => words(at));
  if (own.includes('') || ![1, 2, 3].every((at) => isNarrow(words(at), 40))) return null;
  if (!isNarrow(words(7), 24) || !isNarrow(words(8), 8)) return null;
  const secret = verb === 'claim' ? words(escrowWords) : null;
  if (secret === '') return null;
  const terms: Terms = {
    hashlock: `0x${words(0)}`,
    payout: addressIn(words(1)),
    refund: addressIn(words(2)),
    token: addressIn(words(3)),
    amount: BigInt(`0x${words(4)}`),
    timelock: BigInt(`0x${words(5)}`),
    fundBefore: BigInt(`0x${words(6)}`),
  };
  const counter = Number.parseInt(words(8), 16);
  return { verb, escrow: { terms, lane: BigInt(`0x${words(7)}`), counter }, secret };
}

// Batches may lie across each other: without a bound the work grows with the square of the bytes.
export const mostLegs = 1_000;

/** An array in the usual form: its place, its length, then leg by leg. */
function readBatch(
  words: Words,
  verb: 'claim' | 'refund',
  wanted: (hashlock: Hashlock) => boolean,
  left: { legs: number },
): Call[] {
  if (words(0) === '' || BigInt(`0x${words(0)}`) !== 32n || !isNarrow(words(1), 8)) return [];
  const count = Number.parseInt(words(1), 16);
  const calls: Call[] = [];
  for (let at = 0; at < count && left.legs > 0; at += 1) {
    left.legs -= 1;
    const leg = Array.from({ length: legWords }, (_, index) => words(2 + at * legWords + index));
    if (leg.includes('')) break;
    const call = readLeg(leg, verb, wanted);
    if (call !== null) calls.push(call);
  }
  return calls;
}

function readLeg(
  leg: readonly string[],
  verb: 'claim' | 'refund',
  wanted: (hashlock: Hashlock) => boolean,
): Call | null {
  const [lock = '', payout = '', token = '', key = '', amount = '', packed = ''] = leg;
  const hashlock = verb === 'claim' ? hashlockOf(lock) : lock;
  if (!wanted(hashlock) || !isNarrow(payout, 40) || !isNarrow(token, 40)) return null;
  const times = BigInt(`0x${packed}`);
  const terms: Terms = {
    hashlock: `0x${hashlock}`,
    payout: addressIn(payout),
    refund: `0x${key.slice(0, 40)}`,
    token: addressIn(token),
    amount: BigInt(`0x${amount}`),
    timelock: times >> 96n,
    fundBefore: (times >> 32n) & 0xffff_ffff_ffff_ffffn,
  };
  const escrow = {
    terms,
    lane: BigInt(`0x${key.slice(40)}`),
    counter: Number(times & 0xffff_ffffn),
  };
  return { verb, escrow, secret: verb === 'claim' ? lock : null };
}

/** Twenty of one payment stay below a gas key's 500 000 gas (gas.snapshot.json: 22 131 each). */
export const mostInBatch = 20;

type OpenedEscrow = { readonly escrow: Escrow; readonly secret: Secret };

export function batchData(batch: Batch, escrowOf: (terms: EscrowTerms) => Escrow): Hex {
  if (batch.verb === 'refund')
    return refundManyData(batch.legs.map(({ terms }) => escrowOf(terms)));
  return claimManyData(
    batch.legs.map(({ terms, secret }) => ({ escrow: escrowOf(terms), secret })),
  );
}

export function claimManyData(claims: readonly OpenedEscrow[]): Hex {
  const legs = claims.map(({ escrow, secret }) => legOf(escrow, `0x${secret}`));
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'claimMany', args: [legs] });
}

export function refundManyData(escrows: readonly Escrow[]): Hex {
  const legs = escrows.map((escrow) => legOf(escrow, escrow.terms.hashlock));
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'refundMany', args: [legs] });
}

export function paymentOf(
  { token, payout, refund }: Pick<EscrowTerms, 'token' | 'payout' | 'refund'>,
  verb: 'claim' | 'refund',
): string {
  return `${token} ${verb === 'claim' ? payout.address : refund.address}`;
}

/** Those of one payment side by side, in their order. Throws RangeError where `most` is below 1. */
export function inBatches<T>(
  items: readonly T[],
  payment: (item: T) => string,
  most: number = mostInBatch,
): T[][] {
  if (!(most >= 1)) throw new RangeError(`a batch holds 1 escrow at least, not ${most}`);
  const byPayment = [...groupBy(items, payment).values()].flat();
  const batches: T[][] = [];
  for (let at = 0; at < byPayment.length; at += most) {
    batches.push(byPayment.slice(at, at + most));
  }
  return batches;
}

const topicOf = (name: 'Funded' | 'Claimed' | 'Refunded') =>
  toEventSelector(getAbiItem({ abi: escrowsAbi, name }));

/** `Funded(id, terms, lane, counter)`: the hashlock is the first word of its data. */
export const fundedTopic = topicOf('Funded');
export const claimedTopic = topicOf('Claimed');
export const refundedTopic = topicOf('Refunded');

export const topicOfVerb: Readonly<Record<DecodedCall['verb'], Hex>> = {
  fund: fundedTopic,
  claim: claimedTopic,
  refund: refundedTopic,
};

/** Own words of others are cut here: they end in answers and logs. */
export const mostWords = 200;

export type Revert = {
  readonly name: string | null;
  readonly words: string;
};

export function revertIn(data: Hex): Revert {
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: escrowsAbi, data });
    return { name: errorName, words: sentence(errorName, args) };
  } catch {
    return { name: null, words: `it reverts with the error ${data.slice(0, 10)} of its own` };
  }
}

function seconds(value: unknown): string {
  return new Date(Number(value) * 1_000).toISOString();
}

function sentence(name: string, args: readonly unknown[]): string {
  switch (name) {
    case 'Error':
      return `it says "${printable(String(args[0]))}"`;
    case 'Panic':
      return `it panics with code ${String(args[0])}`;
    case 'WrongAmountReceived': {
      const gained = BigInt(args[2] as bigint) - BigInt(args[1] as bigint);
      return `the escrow would gain ${gained} instead of ${String(args[3])}: a fee on transfers?`;
    }
    case 'WrongAmountSent': {
      const lost = BigInt(args[1] as bigint) - BigInt(args[2] as bigint);
      return `the escrow would lose ${lost} instead of ${String(args[3])}`;
    }
    case 'PaymentRejected':
      return 'the receiving contract refuses the payment';
    case 'TokenCallFailed':
      return 'the token refuses the transfer';
    case 'LaneNotReady':
      return `the lane was used ${String(args[1])} times: number ${String(args[2])} is not its next`;
    case 'FundTooLate':
      return `it had to be funded before ${seconds(args[0])}, and it is ${seconds(args[1])}`;
    case 'TimelockOutOfBounds':
      return (
        `the timelock ${seconds(args[0])} is not between ${seconds(args[1])} ` +
        `and ${seconds(args[2])}, 30 minutes to 30 days ahead`
      );
    default:
      return `${name}(${args.map(String).join(', ')})`;
  }
}

/** A stranger's text without control characters, cut to a length. */
function printable(text: string): string {
  return text.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '').slice(0, mostWords);
}
