// Calls of the contract that holds all escrows of an EVM chain or of TRON: written, and read back.
// Addresses are 20 bytes in hex with 0x. Pure.

import { escrowsAbi } from '@parley/contracts/escrows/artifacts/abi.ts';
import {
  type Escrow,
  escrowId,
  legBits,
  legOf,
  type Terms,
} from '@parley/contracts/escrows/ids.ts';
import { maxAmount } from '@parley/core/amounts.ts';
import { groupBy } from '@parley/core/engines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type Hashlock, hashlockOf, type Secret } from '@parley/core/hashlock.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { EscrowTerms, Lane } from '@parley/core/terms.ts';
import { type Hex, toFunctionSelector } from 'viem';
import { decodeErrorResult, encodeFunctionData, getAbiItem, toEventSelector } from 'viem/utils';
import type { Batch } from '../interface/batches.ts';
import type { Signature } from './typed-data.ts';

export type Place = { readonly chainId: number; readonly contract: Hex };

export const noToken: Hex = `0x${'0'.repeat(40)}`;

/** Source: the contract's word, and its bounds of a timelock at the funding. */
export const mostUses = 2 ** 30 - 1;
const mostAheadSeconds = 30 * 86_400;

/** Throws `bad_amount` or `bad_field` for terms that can never be funded. */
function mustBeFundable(
  { chain, amount, timelock }: EscrowTerms,
  { number, counter }: Lane,
  fundBefore: UnixSeconds,
): void {
  const refuse = (field: string, value: unknown, wanted: string) => {
    const sentence = `${field} of terms on ${chain} must be ${wanted}, not ${String(value)}`;
    return new ParleyError(field === 'amount' ? 'bad_amount' : 'bad_field', sentence, { field });
  };
  if (amount < 1n || amount > maxAmount) throw refuse('amount', amount, '1 to 2^256-1');
  if (!/^[0-9a-f]{24}$/.test(number)) throw refuse('lane.number', number, '24 hex digits');
  const isUse = Number.isInteger(counter) && counter >= 1 && counter <= mostUses;
  if (!isUse) throw refuse('lane.counter', counter, `from 1 to ${mostUses}`);
  for (const [field, value] of Object.entries({ timelock, fundBefore })) {
    if (!Number.isSafeInteger(value) || value < 1) throw refuse(field, value, 'Unix seconds');
  }
  if (timelock - mostAheadSeconds < fundBefore) return;
  throw refuse('timelock', timelock, `less than 30 days after fundBefore (${fundBefore})`);
}

/** Throws `bad_amount` or `bad_field` for terms that can never be funded. */
export function escrowOfTerms(terms: EscrowTerms, bare: (address: string) => Hex): Escrow {
  const { lane, fundBefore, token } = terms;
  if (lane === undefined || fundBefore === undefined) {
    throw new Error(`terms of ${terms.hashlock} on ${terms.chain} name no lane`);
  }
  mustBeFundable(terms, lane, fundBefore);
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

/** `consent`: the payee's, for a lane of its own. */
export function fundData(escrow: Escrow, consent: Signature | null = null): Hex {
  const args = argsOf(escrow);
  if (consent === null) return encodeFunctionData({ abi: escrowsAbi, functionName: 'fund', args });
  const functionName = 'fundInLane';
  return encodeFunctionData({ abi: escrowsAbi, functionName, args: [...args, consent] });
}

/** Neighbours of one token are taken in by one transfer: those of one stand side by side. */
export function fundManyData(escrows: readonly Escrow[]): Hex {
  const byToken = groupBy(escrows, ({ terms }) => terms.token);
  const args = [[...byToken.values()].flat()] as const;
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'fundMany', args });
}

export function claimData(escrow: Escrow, secret: Secret): Hex {
  const args = [...argsOf(escrow), `0x${secret}`] as const;
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'claim', args });
}

export function refundData(escrow: Escrow): Hex {
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'refund', args: argsOf(escrow) });
}

/** `signature`: the payee's; empty where the payee sends it. */
export function releaseData(escrow: Escrow, signature: Hex): Hex {
  const args = [...argsOf(escrow), signature] as const;
  return encodeFunctionData({ abi: escrowsAbi, functionName: 'refundEarly', args });
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
  /** A refund by the payee's consent, which needs no timelock. */
  readonly isReleased?: true;
};

function bySelector<T>(of: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  const functions = escrowsAbi.filter((item) => item.type === 'function');
  const ours = functions.filter(({ name }) => Object.hasOwn(of, name));
  return new Map(ours.map((item) => [toFunctionSelector(item).slice(2), of[item.name] as T]));
}
const verbs = bySelector<Called>({
  fund: 'fund',
  fundInLane: 'fund',
  fundWithPermit: 'fund',
  fundInLaneWithPermit: 'fund',
  fundWithAuthorization: 'fund',
  fundInLaneWithAuthorization: 'fund',
  claim: 'claim',
  refund: 'refund',
  refundPart: 'refund',
  refundEarly: 'refund',
});
const batches = bySelector<Called>({
  fundMany: 'fund',
  claimMany: 'claim',
  refundMany: 'refund',
});
const releases = bySelector({ refundEarly: true });
const escrowWords = 9;
/** The word at which the funder's own signature begins; before it stands a payee's consent. */
const authorized = bySelector({
  fundWithAuthorization: escrowWords,
  fundInLaneWithAuthorization: escrowWords + 3,
});
/** Looked for ahead, so that one found across another's bytes does not hide it. */
const selector = new RegExp(`(?=(${[...verbs.keys(), ...batches.keys()].join('|')}))`, 'g');
const wordLength = 64;
const wordBytes = 32;
const legWords = 3;

/** Finds calls at any depth. `wanted` is asked before an id is computed, so that it stays cheap. */
export function callsIn(
  hex: string,
  place: Place,
  wanted: Wanted = () => true,
  most = mostLegs,
): DecodedCall[] {
  const found: DecodedCall[] = [];
  const left = { legs: most };
  for (const { 1: name = '', index } of hex.matchAll(selector)) {
    if (index % 2 === 1) continue;
    const data = dataFrom(hex, index + name.length);
    const words = wordsOf(data);
    const verb = verbs.get(name);
    const batch = batches.get(name);
    if (verb !== undefined) {
      const call = wanted(words(0)) ? readCall(words, verb) : null;
      const authorization = signatureIn(words, authorized.get(name));
      const how = {
        ...(authorization !== null && { authorization }),
        ...(releases.has(name) && { isReleased: true as const }),
      };
      if (call !== null) found.push(named({ ...call, ...how }, place));
    } else if (batch !== undefined) {
      for (const call of readBatch(data, batch, wanted, left)) found.push(named(call, place));
    }
  }
  return found;
}

/** Whether the data is that very call, with whatever the verb takes behind the escrow. */
export function isCallOf(data: string, { verb, escrow }: Pick<DecodedCall, 'verb' | 'escrow'>) {
  return (
    verbs.get(data.slice(2, 10)) === verb && data.slice(10).startsWith(fundData(escrow).slice(10))
  );
}

/** Calls that are read of bytes whose hashlocks nobody watches. */
const mostStrange = 16;

export function fundedIn(hex: string, place: Place): Hex[] {
  let left = mostStrange;
  const calls = callsIn(hex, place, () => left-- > 0);
  return calls.flatMap(({ verb, id }) => (verb === 'fund' ? [id] : []));
}

type Call = Omit<DecodedCall, 'id'>;
/** The word at a place counted in bytes from the first argument on; '' where there is none. */
type Data = (at: number) => string;
/** The word of this number from there on. */
type Words = (at: number) => string;

/** v, r and s. null where there are none, or the contract would refuse such words. */
function signatureIn(words: Words, from: number | undefined): Hex | null {
  if (from === undefined) return null;
  const [v, r, s] = [0, 1, 2].map((at) => words(from + at));
  if (!v || !r || !s || !isNarrow(v, 2)) return null;
  return `0x${r}${s}${v.slice(-2)}`;
}

function named(call: Call, { chainId, contract }: Place): DecodedCall {
  return { ...call, id: escrowId(chainId, contract, call.escrow) };
}

function dataFrom(hex: string, start: number): Data {
  return (at) => {
    const from = start + 2 * at;
    if (!Number.isSafeInteger(from) || from < 0) return '';
    const text = hex.slice(from, from + wordLength);
    return text.length === wordLength && /^[0-9a-f]+$/.test(text) ? text : '';
  };
}

const wordsOf =
  (data: Data, from = 0): Words =>
  (at) =>
    data(from + at * wordBytes);

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

type Wanted = (hashlock: Hashlock) => boolean;
type Left = { legs: number };

/** Where a part lies whose place is told at `at`, counted from `base`: by the contract's decoder a
 * place may be behind or before it, and at any byte. */
function placeIn(data: Data, base: number, at: number): number {
  const word = data(at);
  return word === '' ? Number.NaN : base + Number(BigInt.asIntN(256, BigInt(`0x${word}`)));
}

/** The bytes at which the parts of an array begin that lies at `list`. */
function* partsOf(data: Data, list: number, left: Left, bytes: number): Generator<number> {
  const length = data(list);
  const count = isNarrow(length, 8) ? Number.parseInt(length, 16) : 0;
  for (let at = 0; at < count && left.legs > 0; at += 1) {
    const part = list + wordBytes + at * bytes;
    if (data(part) === '') return;
    left.legs -= 1;
    yield part;
  }
}

function readBatch(data: Data, verb: Called, wanted: Wanted, left: Left): Call[] {
  const list = placeIn(data, 0, 0);
  const calls: Call[] = [];
  if (verb === 'fund') {
    for (const part of partsOf(data, list, left, escrowWords * wordBytes)) {
      const words = wordsOf(data, part);
      const call = wanted(words(0)) ? readCall(words, verb) : null;
      if (call !== null) calls.push(call);
    }
    return calls;
  }
  for (const told of partsOf(data, list, left, wordBytes)) {
    const group = placeIn(data, list + wordBytes, told);
    const [token = '', to = ''] = [0, 1].map(wordsOf(data, group));
    if (!isNarrow(token, 40) || !isNarrow(to, 40)) continue;
    const payment = { verb, token: addressIn(token), to: addressIn(to) };
    const legs = placeIn(data, group, group + 2 * wordBytes);
    for (const part of partsOf(data, legs, left, legWords * wordBytes)) {
      const call = readLeg(wordsOf(data, part), payment, wanted);
      if (call !== null) calls.push(call);
    }
  }
  return calls;
}

type Payment = { readonly verb: 'claim' | 'refund'; readonly token: Hex; readonly to: Hex };

const times = 0xff_ffff_ffffn;

function readLeg(words: Words, { verb, token, to }: Payment, wanted: Wanted): Call | null {
  const [lock = '', place = '', rest = ''] = [0, 1, 2].map(words);
  if (rest === '') return null;
  const isClaim = verb === 'claim';
  const hashlock = isClaim ? hashlockOf(lock) : lock;
  if (!wanted(hashlock)) return null;
  const other: Hex = `0x${place.slice(0, 40)}`;
  const packed = BigInt(`0x${rest}`);
  const terms: Terms = {
    hashlock: `0x${hashlock}`,
    payout: isClaim ? to : other,
    refund: isClaim ? other : to,
    token,
    amount: packed >> 112n,
    timelock: (packed >> 72n) & times,
    fundBefore: (packed >> 32n) & times,
  };
  const lane = BigInt(`0x${place.slice(40)}`);
  const escrow = { terms, lane, counter: Number(packed & 0xffff_ffffn) };
  return { verb, escrow, secret: isClaim ? lock : null };
}

/** Twenty of one token use 424 000 gas by Amsterdam's rules (contracts/escrows/gas.snapshot.json). */
export const mostInBatch = 20;

type Settling = Exclude<Batch, { readonly verb: 'fund' }>;

/** The gas that the contract gives the payment and the legs of one group. It leaves a group that takes more. */
const groupGas = 200_000n;
const legGas = 25_000n;

export function gasEachOf(groups: readonly { readonly legs: readonly unknown[] }[]): bigint {
  return groupGas + legGas * BigInt(Math.max(0, ...groups.map(({ legs }) => legs.length)));
}

/** All that its groups may take: each receiver decides anew what its own takes. */
export function mostGroupsGas({ verb, legs }: Settling): bigint {
  const all: readonly { readonly terms: EscrowTerms }[] = legs;
  const byPayment = groupBy(all, ({ terms }) => paymentOf(terms, verb));
  const groups = [...byPayment.values()].map((some) => ({ legs: some }));
  return gasEachOf(groups) * BigInt(groups.length);
}

/** Whether a leg has room for such terms; others are settled alone. */
export function hasLeg({ amount, timelock, fundBefore = 0 }: EscrowTerms): boolean {
  const latest = BigInt(Math.max(timelock, fundBefore));
  return amount >> legBits.amount === 0n && latest >> legBits.time === 0n;
}

export type Locked = { readonly escrow: Escrow; readonly lock: Hex };

/** With the secrets of claims, and the hashlocks of refunds, as `lock`. */
export function settleManyData(verb: Settling['verb'], all: readonly Locked[]): Hex {
  const toOf = ({ terms }: Escrow) => (verb === 'claim' ? terms.payout : terms.refund);
  const byPayment = groupBy(all, ({ escrow }) => `${escrow.terms.token} ${toOf(escrow)}`);
  const groups = [...byPayment.values()].flatMap((some) => {
    const [first] = some;
    if (first === undefined) return [];
    const { token } = first.escrow.terms;
    const legs = some.map(({ escrow, lock }) => legOf(escrow, verb, lock));
    return [{ token, to: toOf(first.escrow), legs }];
  });
  const functionName = verb === 'claim' ? 'claimMany' : 'refundMany';
  return encodeFunctionData({ abi: escrowsAbi, functionName, args: [groups, gasEachOf(groups)] });
}

export function batchData(batch: Batch, escrowOf: (terms: EscrowTerms) => Escrow): Hex {
  switch (batch.verb) {
    case 'fund':
      return fundManyData(batch.legs.map(({ terms }) => escrowOf(terms)));
    case 'claim':
      return settleManyData(
        'claim',
        batch.legs.map(({ terms, secret }) => ({ escrow: escrowOf(terms), lock: `0x${secret}` })),
      );
    case 'refund':
      return settleManyData(
        'refund',
        batch.legs.map(({ terms }) => ({ escrow: escrowOf(terms), lock: `0x${terms.hashlock}` })),
      );
  }
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
    case 'LaneOfPayee':
      return "the lane is the payee's: its consent is missing";
    case 'WrongSigner':
      return `${String(args[0])} signed it, not ${String(args[1])}`;
    case 'NotGivenUp':
      return `${String(args[1])} did not give up its claim`;
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
