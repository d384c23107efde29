// Views asked together go in one constant call of never-made code, so that all are of one known
// block. A node that runs no such code is asked view by view.

import { type Resolvers, withResolvers } from '@parley/core/engines.ts';
import { erc20Abi } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { laneIn, lanesData } from '../escrows/plan.ts';
import type { Lanes } from '../interface/lanes.ts';
import type { Tip } from '../interface/reading.ts';
import { begun } from '../nodes/gathering.ts';
import { inNextTurn } from '../nodes/turn.ts';
import { tronHex } from './address.ts';
import { type Http, TronRefusal } from './http.ts';
import {
  accountOf,
  type Block,
  codeAt,
  type Head,
  headBlock,
  pricesOf,
  refused,
  room,
  tryCall,
  unreadable,
  type View,
} from './node.ts';
import { bareAddress } from './plan.ts';
import type { Watch } from './watch.ts';

/** A call with its data in bare hex, or what is known of any address: bytes of code, sun. */
type Asked = {
  readonly kind: 'call' | 'codeSize' | 'sun';
  readonly to: string;
  readonly data: string;
  readonly words: number;
};
const ofAddress = (kind: 'codeSize' | 'sun', to: string): Asked => ({
  kind,
  to,
  data: '',
  words: 0,
});

export type Seen = Head & { readonly energySun: bigint };

export type Moment = Http & {
  /** The answer of a view in hex; empty where it fails or says less than its words. */
  heard(view: View, asked: Asked, signal: AbortSignal): Promise<string>;
  /** Whether views go together, as far as is known of the node. */
  readonly isTogether: boolean;
  /** null: no question was asked yet, or view by view. */
  seen(view: View): Seen | null;
};

type Waiting = Asked & Resolvers<string>;

/** More would be code of more than 20 kB. */
const mostTogether = 64;

export function momentOf(http: Http): Moment {
  // Its size is bounded by the 50 escrows of a read and a request's gates.
  const told = new Map<string, Promise<unknown>>();
  const once = <T>(key: string, ask: () => Promise<T>): Promise<T> => {
    const known = told.get(key) as Promise<T> | undefined;
    const asking = known ?? begun(ask());
    told.set(key, asking);
    asking.catch(() => told.delete(key));
    return asking;
  };
  const seen = new Map<View, Seen>();
  const waiting = new Map<string, Waiting[]>();
  const send = async (view: View, all: readonly Waiting[], signal: AbortSignal) => {
    const heard = await together(http, view, all, signal).catch((error: unknown) => {
      for (const { reject } of all) reject(error);
      throw error;
    });
    if (heard !== null) seen.set(view, heard.seen);
    // One that fails or wants more energy than it had is asked with all that a node gives.
    for (const [at, each] of all.entries()) {
      each.resolve(heard?.answers[at] || alone(http, view, each, signal));
    }
  };
  const gather = (view: View, asked: Asked, signal: AbortSignal): Promise<string> => {
    const each = { ...asked, ...withResolvers<string>() };
    const all = waiting.get(view) ?? [];
    waiting.set(view, all);
    all.push(each);
    // When all that goes on without an answer has asked.
    if (all.length === 1) {
      inNextTurn(() => {
        waiting.delete(view);
        for (let from = 0; from < all.length; from += mostTogether) {
          send(view, all.slice(from, from + mostTogether), signal).catch(() => {});
        }
      });
    }
    return each.promise;
  };
  return {
    ...http,
    call: (path, body, signal) =>
      once(`${path} ${JSON.stringify(body)}`, () => http.call(path, body, signal)),
    heard: (view, asked, signal) =>
      once(`${view} ${asked.kind} ${asked.to} ${asked.data}`, () => gather(view, asked, signal)),
    isTogether: !apart.has(http.ask),
    seen: (view) => seen.get(view) ?? null,
  };
}

/** Clients whose node runs no such code, by what a client and its parts have in common. */
const apart = new WeakSet<Http['ask']>();

const moments = new WeakMap<Tip, Moment>();

/** The moment of a poll: questions beside it go out once, with the poll's own. */
export function noteMoment(heads: Tip, moment: Moment): void {
  moments.set(heads, moment);
}

/** For one request: all that it asks is asked once, and its views go together. */
export function atMoment(watch: Watch): Watch {
  return 'heard' in watch.http ? watch : { ...watch, http: momentOf(watch.http) };
}

export const momentAt = (http: Http, heads: Tip): Moment => moments.get(heads) ?? momentOf(http);

/** The newest block, or the one that views were run in. */
export async function newestBlock(http: Http | Moment, signal: AbortSignal): Promise<Head> {
  const seen = 'seen' in http ? http.seen('head') : null;
  return seen ?? headBlock(http, 'head', signal);
}

export async function energyPrice(http: Http | Moment, signal: AbortSignal): Promise<bigint> {
  const seen = 'seen' in http ? http.seen('head') : null;
  return seen === null ? (await pricesOf(http, signal)).energySun : seen.energySun;
}

/** One that is never taken back: the newest, or the one below it where views were asked of it. */
export async function solidBlock(
  http: Http | Moment,
  signal: AbortSignal,
): Promise<Pick<Block, 'number' | 'hash'>> {
  const seen = 'seen' in http ? http.seen('solid') : null;
  if (seen === null) return headBlock(http, 'solid', signal);
  return { number: seen.number - 1, hash: seen.parentHash };
}

/** For one view, some times what a token's takes as a rule: no other may want for it. */
const viewEnergy = 200_000;
const wordBytes = 32;
const headWords = 4;

const hexOf = (value: number, bytes: number) => value.toString(16).padStart(2 * bytes, '0');
const push = (value: number) => `63${hexOf(value, 4)}`;
const pushed = (address: string) => `73${bareAddress(address).slice(2)}`;
const store = (at: number) => `${push(at)}52`;
/** TIMESTAMP; NUMBER; 1 NUMBER SUB BLOCKHASH; BASEFEE, which is the price of energy on TRON. */
const block = ['42', '43', '6001430340', '48'];

/** A word with the length of each answer, and its words behind it; the block's in front. */
function codeOf(all: readonly Asked[]): string {
  const own = (each: Asked) => (1 + each.words) * wordBytes;
  const end = all.reduce((sum, each) => sum + own(each), headWords * wordBytes);
  let code = block.map((each, index) => `${each}${store(index * wordBytes)}`).join('');
  let at = headWords * wordBytes;
  for (const each of all) {
    code += asking(each, at, end);
    at += own(each);
  }
  return `${code}${push(end)}${push(0)}f3`;
}

function asking({ kind, to, data, words }: Asked, at: number, free: number): string {
  if (kind === 'codeSize') return `${pushed(to)}3b${store(at)}`;
  if (kind === 'sun') return `${pushed(to)}31${store(at)}`;
  const chunks = data.match(/.{1,64}/g) ?? [];
  const input = chunks.map((chunk, index) => {
    return `7f${chunk.padEnd(64, '0')}${store(free + index * wordBytes)}`;
  });
  const output = `${push(words * wordBytes)}${push(at + wordBytes)}`;
  const call = `${push(data.length / 2)}${push(free)}${pushed(to)}${push(viewEnergy)}`;
  // The length of the answer; 0 for a call that failed.
  return `${input.join('')}${output}${call}fa3d02${store(at)}`;
}

type Answer = {
  readonly constant_result?: readonly unknown[];
  readonly result?: { readonly code?: unknown };
};

/** The node's word for a call that came to no end, be it for time or energy: another one may. */
const unended = 'OTHER_ERROR';

/** null: it was not run. */
async function together(http: Http, view: View, all: readonly Asked[], signal: AbortSignal) {
  if (apart.has(http.ask)) return null;
  const [first] = all;
  const body = { owner_address: tronHex(first?.to ?? ''), data: codeOf(all), call_value: 0 };
  const asking = http.call(`${room(view)}/triggerconstantcontract`, body, signal);
  const answer = await asking.catch((error: unknown) => {
    if (error instanceof TronRefusal) return null;
    throw error;
  });
  const { constant_result: outputs, result } = (answer ?? {}) as Answer;
  const said = String(outputs?.[0]);
  const length = headWords + all.reduce((sum, { words }) => sum + 1 + words, 0);
  if (!/^[0-9a-f]+$/i.test(said) || said.length !== length * 2 * wordBytes) {
    if (result?.code !== unended) apart.add(http.ask);
    return null;
  }
  const wordsAt = (from: number, count: number) => said.slice(64 * from, 64 * (from + count));
  const numberAt = (from: number) => Number(BigInt(`0x${wordsAt(from, 1)}`));
  let from = headWords;
  const answers = all.map(({ kind, words }) => {
    const at = from;
    from += 1 + words;
    if (kind !== 'call') return wordsAt(at, 1);
    return numberAt(at) < words * wordBytes ? '' : wordsAt(at + 1, words);
  });
  const energySun = BigInt(`0x${wordsAt(3, 1)}`);
  const timestampMs = 1_000 * numberAt(0);
  const seen = { number: numberAt(1), parentHash: wordsAt(2, 1), timestampMs, energySun };
  return { seen, answers };
}

async function alone(http: Http, view: View, { kind, to, data }: Asked, signal: AbortSignal) {
  const word = (value: number | bigint) => value.toString(16).padStart(64, '0');
  if (kind === 'codeSize') return word((await codeAt(http, to, signal))?.length ?? 0);
  if (kind === 'sun') return word((await accountOf(http, to, signal))?.balance ?? 0n);
  const trial = await tryCall(http, view, { from: to, to, data, value: 0n }, signal).catch(
    (error: unknown) => {
      const path = `${room(view)}/triggerconstantcontract` as const;
      throw error instanceof TronRefusal ? refused(http, path, error) : error;
    },
  );
  return trial.failure === null ? trial.output : '';
}

const hearing = (http: Http | Moment, view: View, asked: Asked, signal: AbortSignal) =>
  'heard' in http ? http.heard(view, asked, signal) : alone(http, view, asked, signal);

export async function wordsOf(
  http: Http | Moment,
  view: View,
  to: string,
  data: string,
  least: number,
  signal: AbortSignal,
): Promise<bigint[]> {
  const heard = await hearing(http, view, { kind: 'call', to, data, words: least }, signal);
  const words = heard.match(/.{64}/g) ?? [];
  if (words.length < least) {
    const why = new Error(`${to} answers ${words.length} words of ${least}`);
    throw unreadable(http, `${room(view)}/triggerconstantcontract`, why);
  }
  return words.map((word) => BigInt(`0x${word}`));
}

export async function isContract(
  http: Http | Moment,
  address: string,
  signal: AbortSignal,
): Promise<boolean> {
  const asked = ofAddress('codeSize', address);
  return BigInt(`0x${await hearing(http, 'head', asked, signal)}`) > 0n;
}

export async function sunOf(
  http: Http | Moment,
  address: string,
  signal: AbortSignal,
): Promise<bigint> {
  const asked = ofAddress('sun', address);
  return BigInt(`0x${await hearing(http, 'head', asked, signal)}`);
}

export async function tokenBalance(
  http: Http | Moment,
  view: View,
  token: string,
  holder: string,
  signal: AbortSignal,
): Promise<bigint> {
  const args = [bareAddress(holder)] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args }).slice(2);
  const [balance = 0n] = await wordsOf(http, view, token, data, 1, signal);
  return balance;
}

export async function decimalsOf(
  http: Http | Moment,
  token: string,
  signal: AbortSignal,
): Promise<number> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' }).slice(2);
  const [decimals = 0n] = await wordsOf(http, 'head', token, data, 1, signal);
  return Number(decimals);
}

export async function allowanceOf(
  http: Http | Moment,
  token: string,
  owner: string,
  spender: string,
  signal: AbortSignal,
): Promise<bigint> {
  const args = [bareAddress(owner), bareAddress(spender)] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args }).slice(2);
  const [allowance = 0n] = await wordsOf(http, 'head', token, data, 1, signal);
  return allowance;
}

const ahead = 2;

export function lanesOf({ http }: Watch): Lanes['read'] {
  return async ({ contract, owner }, numbers, signal) => {
    const data = lanesData(bareAddress(owner), numbers).slice(2);
    const end = ahead + numbers.length;
    const words = await wordsOf(http, 'head', contract, data, end, signal);
    return words.slice(ahead, end).map(laneIn);
  };
}
