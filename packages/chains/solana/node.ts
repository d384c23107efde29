// A node's calls and their answers as values: any other shape is `chain_unavailable`.

import { ParleyError } from '@parley/core/errors.ts';
import { base58, base64 } from '@scure/base';
import { type Failure, inPart, type Width } from '../kit/widths.ts';
import type { SolanaMethod } from '../nodes/methods.ts';
import {
  fewMiB,
  fewWords,
  type OwnLimits,
  type Rpc,
  RpcError,
  type RpcOptions,
  rpcClient,
} from '../nodes/rpc.ts';
import { type ReadMessage, readBytes } from './message.ts';
import { solanaSlotSeconds } from './policy.ts';
import { clockSysvar } from './programs.ts';

export type Commitment = 'processed' | 'confirmed' | 'finalized';

export type Account = {
  readonly owner: string;
  readonly executable: boolean;
  readonly lamports: number;
  readonly data: Uint8Array;
};

/** The limit of an answer, by its method; a method that is not here has as much as any. */
const limitOf: Readonly<Record<string, OwnLimits>> = {
  getLatestBlockhash: fewWords,
  getSlot: fewWords,
  getBlockHeight: fewWords,
  isBlockhashValid: fewWords,
  getSignatureStatuses: fewWords,
  getGenesisHash: fewWords,
  getMinimumBalanceForRentExemption: fewWords,
  getBlockTime: fewWords,
  getFirstAvailableBlock: fewWords,
  getRecentPrioritizationFees: fewMiB,
  // The logs and calls of programs within one transaction's units.
  simulateTransaction: fewMiB,
  // A thousand, each with a memo as long as a transaction, every letter of it escaped.
  getSignaturesForAddress: { mostBytes: 16 * 2 ** 20 },
};

/** The limit for each account, in base64, and for the rest of the answer. */
function accountsLimit(count: number, mostBytes: number | undefined): OwnLimits {
  if (mostBytes === undefined) return {};
  return { mostBytes: 2 ** 14 + count * (2 * mostBytes + 2 ** 10) };
}

/** Asks, and reads the answer; a node's own refusal and a wrong shape are `chain_unavailable`. */
async function asked<T>(
  rpc: Rpc,
  method: SolanaMethod,
  params: readonly unknown[],
  signal: AbortSignal,
  read: (answer: Json) => T,
  own: OwnLimits = limitOf[method] ?? {},
): Promise<T> {
  let answer: unknown;
  try {
    answer = await rpc.call(method, params, signal, own);
  } catch (error) {
    throw error instanceof RpcError ? unavailable(rpc, method, error) : error;
  }
  try {
    return read(answer as Json);
  } catch (error) {
    throw unavailable(rpc, method, error);
  }
}

function unavailable({ chain }: Rpc, method: SolanaMethod, cause: unknown): ParleyError {
  const why = cause instanceof RpcError ? cause.message : 'an answer of an unexpected shape';
  const sentence = `the ${chain} node's ${method}: ${why}`;
  return new ParleyError('chain_unavailable', sentence, { chain, method }, { cause });
}

// A node's JSON, read by the functions below, which throw where it is not as they say.
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

function field(value: Json, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`no object with ${name}`);
  }
  return (value as { readonly [name: string]: Json })[name] ?? null;
}

function list(value: Json): readonly Json[] {
  if (!Array.isArray(value)) throw new Error('no list');
  return value;
}

function text(value: Json): string {
  if (typeof value !== 'string') throw new Error('no text');
  return value;
}

function whole(value: Json): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new Error('no whole number');
  }
  return value;
}

/** Lamports may be more than a double keeps: then they are about right, which is enough here. */
function amount(value: Json): number {
  if (typeof value !== 'number' || !(value >= 0)) throw new Error('no amount');
  return value;
}

function readAccount(value: Json): Account | null {
  if (value === null) return null;
  const [data, encoding] = list(field(value, 'data')).map(text);
  if (data === undefined || encoding !== 'base64') throw new Error('no base64');
  return {
    owner: text(field(value, 'owner')),
    executable: field(value, 'executable') === true,
    lamports: amount(field(value, 'lamports')),
    data: base64.decode(data),
  };
}

/** All as of one slot; no more than the first `mostBytes` of each, where that is given. */
export function accountsAt(
  rpc: Rpc,
  addresses: readonly string[],
  commitment: Commitment,
  signal: AbortSignal,
  mostBytes?: number,
) {
  const slice = mostBytes === undefined ? {} : { dataSlice: { offset: 0, length: mostBytes } };
  const config = { commitment, encoding: 'base64', ...slice };
  const read = (answer: Json) => {
    const accounts = list(field(answer, 'value')).map(readAccount);
    if (accounts.length !== addresses.length) throw new Error('another number of accounts');
    return { slot: whole(field(field(answer, 'context'), 'slot')), accounts };
  };
  const own = accountsLimit(addresses.length, mostBytes);
  return asked(rpc, 'getMultipleAccounts', [addresses, config], signal, read, own);
}

export async function lamportsOf(rpc: Rpc, address: string, signal: AbortSignal): Promise<bigint> {
  const { accounts } = await accountsAt(rpc, [address], 'confirmed', signal, 0);
  return BigInt(Math.floor(accounts[0]?.lamports ?? 0));
}

/** As many as nodes give. */
const mostHoldings = 20;

/** The largest first; null where the node does not tell, as many public ones. */
export async function largestHoldings(
  rpc: Rpc,
  mint: string,
  signal: AbortSignal,
): Promise<string[] | null> {
  const method = 'getTokenLargestAccounts';
  const params = [mint, { commitment: 'confirmed' }];
  try {
    const answer = (await rpc.call(method, params, signal, fewWords)) as Json;
    return list(field(answer, 'value'))
      .slice(0, mostHoldings)
      .map((each) => text(field(each, 'address')));
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error instanceof ParleyError ? error : unavailable(rpc, method, error);
  }
}

export function latestBlockhash(rpc: Rpc, commitment: Commitment, signal: AbortSignal) {
  return asked(rpc, 'getLatestBlockhash', [{ commitment }], signal, (answer) => {
    const value = field(answer, 'value');
    const blockhash = text(field(value, 'blockhash'));
    if (base58.decode(blockhash).length !== 32) throw new Error('no blockhash');
    return {
      slot: whole(field(field(answer, 'context'), 'slot')),
      blockhash,
      lastValidBlockHeight: whole(field(value, 'lastValidBlockHeight')),
    };
  });
}

export function slotAt(rpc: Rpc, commitment: Commitment, signal: AbortSignal): Promise<number> {
  return asked(rpc, 'getSlot', [{ commitment }], signal, whole);
}

/** Unix seconds of the clock that programs read. */
export async function chainClock(
  rpc: Rpc,
  signal: AbortSignal,
  commitment: Commitment = 'confirmed',
): Promise<number> {
  const { accounts } = await accountsAt(rpc, [clockSysvar], commitment, signal);
  return clockIn(accounts[0] ?? null, rpc.chain);
}

/** The nodes of a cluster, of which one that is behind by `blocks` is asked last. */
export function solanaNodes(options: RpcOptions, blocks: number): Rpc {
  const read = async (one: Rpc, signal: AbortSignal) => {
    const { slot, accounts } = await accountsAt(one, [clockSysvar], 'finalized', signal);
    return { height: slot, time: clockIn(accounts[0] ?? null, one.chain) };
  };
  // A finalized slot is as many slots old by itself.
  const seconds = 2 * blocks * solanaSlotSeconds.most;
  return rpcClient({ ...options, heads: { blocks, seconds, read } });
}

/** The same of an account that was read with others. */
export function clockIn(account: Account | null, chain: string): number {
  const data = account?.data;
  if (data === undefined || data.length < 40) {
    throw new ParleyError('chain_unavailable', `the ${chain} node shows no clock`, { chain });
  }
  return Number(new DataView(data.buffer, data.byteOffset).getBigInt64(32, true));
}

export type Signature = {
  readonly txid: string;
  readonly slot: number;
  readonly failed: boolean;
  readonly finalized: boolean;
  /** Unix seconds; null where the node does not say. */
  readonly at: number | null;
};

/** Signatures on a page of a node: its own limit. */
export const signaturesPage = 1_000;

/** Agave's, since 4.0: an `until` or `before` that is in none of its blocks. */
const unknownSignature = -32_020;

/** A node that was pruned, restarted or taken for another does not know what was read last. */
export function forgotten(rpc: Rpc, txid: string): ParleyError {
  const said = new RpcError(unknownSignature, `Transaction ${txid} not found`, null);
  return unavailable(rpc, 'getSignaturesForAddress', said);
}

export function isForgotten(error: unknown): boolean {
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof RpcError && cause.code === unknownSignature;
}

type SignatureRange = { readonly until: string | null; readonly before: string | null };

/**
 * The width for each client, and for the same one that asks one node alone: signatures listed at
 * once.
 */
const widths = new WeakMap<Rpc['ask'], Width>();

/** Newest first, failed ones too, bounds excluded. `isForgotten`: the node does not know one. */
export async function signaturesOf(
  rpc: Rpc,
  address: string,
  range: SignatureRange & { readonly limit?: number },
  signal: AbortSignal,
): Promise<Signature[]> {
  const { until, before: newest, limit = signaturesPage } = range;
  const width = widths.get(rpc.ask) ?? { now: signaturesPage, taken: 0, most: signaturesPage };
  widths.set(rpc.ask, width);
  const all: Signature[] = [];
  for (;;) {
    const before = all.at(-1)?.txid ?? newest;
    const list = (count: number) => signaturesPart(rpc, address, { until, before }, count, signal);
    const { count, answer } = await inPart(width, limit - all.length, list, kindOf, signal);
    // A machine of the provider that has not got the last one yet lists nothing below it.
    if (before !== null && before !== newest && answer.length < count) {
      if (!(await isOnChain(rpc, before, signal))) throw forgotten(rpc, before);
    }
    all.push(...answer);
    if (answer.length < count || all.length >= limit) return all;
  }
}

const kindOf = (error: unknown): Failure => (isForgotten(error) ? 'other' : 'silence');

function signaturesPart(
  rpc: Rpc,
  address: string,
  { until, before }: SignatureRange,
  limit: number,
  signal: AbortSignal,
): Promise<Signature[]> {
  const config = {
    commitment: 'confirmed',
    limit,
    ...(until === null ? {} : { until }),
    ...(before === null ? {} : { before }),
  };
  return asked(rpc, 'getSignaturesForAddress', [address, config], signal, (answer) =>
    list(answer).map((each) => ({
      txid: text(field(each, 'signature')),
      slot: whole(field(each, 'slot')),
      failed: field(each, 'err') !== null,
      finalized: field(each, 'confirmationStatus') === 'finalized',
      at: field(each, 'blockTime') === null ? null : whole(field(each, 'blockTime')),
    })),
  );
}

export type Transaction = {
  readonly txid: string;
  readonly slot: number;
  readonly failed: boolean;
  readonly read: ReadMessage;
  /** All accounts, lookup tables followed. */
  readonly keys: readonly string[];
  readonly inner: readonly {
    readonly program: string;
    readonly accounts: readonly string[];
    /** Base58, as nodes give it: up to 10 kB, and slow to decode. */
    readonly data: string;
  }[];
  readonly meta: Json;
};

/** The transactions that a node lists and nothing here can read: strangers may write what they
 * like. */
export type Unreadable = { readonly txid: string; readonly why: string };

/** Such as a version of transactions that is newer than what is asked for. */
const unsupportedVersion = -32_015;

/** null: not given (yet). A stranger's bytes must not look like a node that is gone. */
export async function transactionOf(
  rpc: Rpc,
  txid: string,
  signal: AbortSignal,
): Promise<Transaction | Unreadable | null> {
  const config = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 0 };
  let answer: Json;
  try {
    answer = (await rpc.call('getTransaction', [txid, config], signal, fewMiB)) as Json;
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== unsupportedVersion) return null;
    return { txid, why: error.message };
  }
  try {
    return answer === null ? null : readAnswered(answer, txid);
  } catch (error) {
    return { txid, why: (error as Error).message };
  }
}

function readAnswered(answer: Json, txid: string): Transaction {
  const [wire] = list(field(answer, 'transaction')).map(text);
  const read = readBytes(base64.decode(wire ?? ''));
  if (read.txid !== txid) throw new Error('another transaction');
  const meta = field(answer, 'meta');
  const loaded = field(meta, 'loadedAddresses');
  const keys = [
    ...read.keys,
    ...(loaded === null
      ? []
      : [...list(field(loaded, 'writable')), ...list(field(loaded, 'readonly'))].map(text)),
  ];
  const inner = list(field(meta, 'innerInstructions') ?? [])
    .flatMap((each) => list(field(each, 'instructions')))
    .map((each) => ({
      program: keys[whole(field(each, 'programIdIndex'))] ?? '',
      accounts: list(field(each, 'accounts')).map((at) => keys[whole(at)] ?? ''),
      data: text(field(each, 'data')),
    }));
  const slot = whole(field(answer, 'slot'));
  return { txid, slot, failed: field(meta, 'err') !== null, read, keys, inner, meta };
}

export type Held = { readonly before: bigint; readonly after: bigint };

/** Lamports, or tokens of a token account; null: not named, or not said. */
export function heldIn(
  { keys, meta }: Pick<Transaction, 'keys' | 'meta'>,
  address: string,
  isToken: boolean,
): Held | null {
  const at = keys.indexOf(address);
  if (at === -1) return null;
  const lamports = (name: string) => BigInt(whole(list(field(meta, name))[at] ?? null));
  const tokens = (name: string) => {
    const held = list(field(meta, name)).find((each) => field(each, 'accountIndex') === at);
    return held === undefined ? 0n : BigInt(text(field(field(held, 'uiTokenAmount'), 'amount')));
  };
  try {
    return isToken
      ? { before: tokens('preTokenBalances'), after: tokens('postTokenBalances') }
      : { before: lamports('preBalances'), after: lamports('postBalances') };
  } catch {
    return null;
  }
}

/** The height is of blocks, not slots: `lastValidBlockHeight` counts these. */
export function blockHeight(rpc: Rpc, commitment: Commitment, signal: AbortSignal) {
  return asked(rpc, 'getBlockHeight', [{ commitment }], signal, whole);
}

/** Whether the node knows it, and still takes transactions with it. */
export function isBlockhashValid(
  rpc: Rpc,
  blockhash: string,
  commitment: Commitment,
  signal: AbortSignal,
) {
  return asked(rpc, 'isBlockhashValid', [blockhash, { commitment }], signal, (answer) => {
    const value = field(answer, 'value');
    if (typeof value !== 'boolean') throw new Error('neither true nor false');
    return value;
  });
}

/** The outcome of a transaction; null when no block has it. */
export function statusOf(rpc: Rpc, txid: string, signal: AbortSignal) {
  const params = [[txid], { searchTransactionHistory: true }];
  return asked(rpc, 'getSignatureStatuses', params, signal, (answer) => {
    const [status = null] = list(field(answer, 'value'));
    if (status === null) return null;
    const finalized = field(status, 'confirmationStatus') === 'finalized';
    return { failed: field(status, 'err') !== null, finalized };
  });
}

export async function isOnChain(rpc: Rpc, txid: string, signal: AbortSignal): Promise<boolean> {
  return (await statusOf(rpc, txid, signal)) !== null;
}

export function genesisHash(rpc: Rpc, signal: AbortSignal): Promise<string> {
  return asked(rpc, 'getGenesisHash', [], signal, text);
}

export function rentFor(rpc: Rpc, bytes: number, signal: AbortSignal): Promise<bigint> {
  return asked(rpc, 'getMinimumBalanceForRentExemption', [bytes], signal, (answer) =>
    BigInt(whole(answer)),
  );
}

/** The prices paid for speed of late where these accounts were written, per unit, lowest first. */
export function recentPrices(rpc: Rpc, addresses: readonly string[], signal: AbortSignal) {
  return asked(rpc, 'getRecentPrioritizationFees', [addresses], signal, (answer) =>
    list(answer)
      .map((each) => BigInt(whole(field(each, 'prioritizationFee'))))
      .sort((one, other) => (one < other ? -1 : one > other ? 1 : 0)),
  );
}

/** The hash of a finalized block; null where it was skipped or is not kept. */
export async function blockhashAt(rpc: Rpc, slot: number, signal: AbortSignal) {
  const config = {
    commitment: 'finalized',
    transactionDetails: 'none',
    rewards: false,
    maxSupportedTransactionVersion: 0,
  };
  try {
    const answer = (await rpc.call('getBlock', [slot, config], signal, fewWords)) as Json;
    return answer === null ? null : text(field(answer, 'blockhash'));
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

/** The oldest block that the node still has, and when it was made. Slot 0: it has all there is. */
export async function firstBlock(rpc: Rpc, signal: AbortSignal) {
  const slot = await asked(rpc, 'getFirstAvailableBlock', [], signal, whole);
  const at = slot === 0 ? 0 : await asked(rpc, 'getBlockTime', [slot], signal, whole);
  return { slot, at };
}

export type Trial = { readonly error: Json; readonly logs: readonly string[] };

/** The result that a transaction would have, unsigned; null when it would succeed. */
export function simulate(
  rpc: Rpc,
  transaction: string,
  signal: AbortSignal,
): Promise<Trial | null> {
  const config = {
    commitment: 'confirmed',
    encoding: 'base64',
    sigVerify: false,
    replaceRecentBlockhash: true,
  };
  return asked(rpc, 'simulateTransaction', [transaction, config], signal, (answer) => {
    const value = field(answer, 'value');
    const error = field(value, 'err');
    if (error === null) return null;
    const logs = field(value, 'logs');
    return { error, logs: logs === null ? [] : list(logs).map(text) };
  });
}
