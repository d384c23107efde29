// The questions to java-tron (developers.tron.network/reference), parsed. Other shapes end in
// `chain_unavailable`.

import { hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { mustBeAsked } from '../kit/follow.ts';
import { isTimeout } from '../nodes/in-turn.ts';
import type { TronPath } from '../nodes/methods.ts';
import { tronAddressOf, tronHex } from './address.ts';
import {
  type Body,
  type Http,
  type HttpOptions,
  httpClient,
  jsonRpcBody,
  jsonRpcPath,
  plainWords,
  TronRefusal,
} from './http.ts';
import type { TronCall } from './plan.ts';
import { tronBlockSeconds } from './policy.ts';

/** The newest block, or the newest that 19 of 27 witnesses have built on, which never goes away. */
export type View = 'head' | 'solid';

export type Tx = {
  readonly txid: string;
  readonly rawData: string;
  /** Whether its contract ran to its end. A failed one is on chain all the same. */
  readonly succeeded: boolean;
};

export type Block = {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestampMs: number;
  readonly txs: readonly Tx[];
};

/** A block as the views that were run in it know it: without its hash. */
export type Head = Pick<Block, 'number' | 'parentHash' | 'timestampMs'>;

export const secondOf = ({ timestampMs }: Pick<Block, 'timestampMs'>) =>
  Math.floor(timestampMs / 1_000);

/** Only one witness may make a block of a height and a second. */
export function isSame(one: Head, other: Head): boolean {
  const isOfSecond = one.number === other.number && secondOf(one) === secondOf(other);
  return isOfSecond && one.parentHash === other.parentHash;
}

export type Log = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
};

export type Info = {
  readonly txid: string;
  readonly succeeded: boolean;
  readonly logs: readonly Log[];
};

type Json = Record<string, unknown>;

function object(value: unknown): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new Error('not an object');
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error('not a list');
  return value;
}

/** A token may answer some MB: a pattern of pairs would take ten times as long, or fail. */
function hex(value: unknown, length?: number): string {
  const isHex = typeof value === 'string' && !/[^0-9a-fA-F]/.test(value);
  if (isHex && value.length === (length ?? value.length - (value.length % 2))) {
    return value.toLowerCase();
  }
  throw new Error('not the hex that was expected');
}

const mostInt64 = 2n ** 63n - 1n;

/** protobuf's zeros are left out of JSON. Longer digits than an int64's take seconds to parse. */
function integer(value: unknown): bigint {
  if (value === undefined) return 0n;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  if (typeof value === 'string' && /^-?\d{1,19}$/.test(value)) {
    const number = BigInt(value);
    if (number <= mostInt64 && number >= -mostInt64 - 1n) return number;
  }
  throw new Error('not an integer');
}

/** One that no honest node says is below zero: a fee, what was staked, used or may be used. */
function amount(value: unknown): bigint {
  const number = integer(value);
  if (number < 0n) throw new Error('an amount below zero');
  return number;
}

function count(value: unknown): number {
  const number = Number(amount(value));
  if (!Number.isSafeInteger(number)) throw new Error('too large a number');
  return number;
}

export function refused(http: Http, path: TronPath, cause: TronRefusal): ParleyError {
  return new ParleyError(
    'chain_unavailable',
    `the ${http.chain} node refused ${path}: ${cause.message}`,
    { chain: http.chain, path },
    { cause },
  );
}

export function unreadable(http: Http, path: TronPath, cause: unknown): ParleyError {
  const why = cause instanceof Error ? cause.message : 'unreadable';
  return new ParleyError(
    'chain_unavailable',
    `the ${http.chain} node gave an answer to ${path} that cannot be read: ${why}`,
    { chain: http.chain, path },
    { cause },
  );
}

/** Asks and reads. A refusal is thrown as it is: callers know which of them mean something. */
async function askedFor<T>(
  http: Http,
  path: TronPath,
  body: Body,
  signal: AbortSignal,
  read: (answer: unknown) => T,
): Promise<T> {
  const answer = await http.call(path, body, signal);
  try {
    return read(answer);
  } catch (cause) {
    throw cause instanceof TronRefusal ? cause : unreadable(http, path, cause);
  }
}

/** The same, where a refusal means that the node cannot serve us. */
async function asked<T>(
  http: Http,
  path: TronPath,
  body: Body,
  signal: AbortSignal,
  read: (answer: unknown) => T,
): Promise<T> {
  try {
    return await askedFor(http, path, body, signal, read);
  } catch (error) {
    throw error instanceof TronRefusal ? refused(http, path, error) : error;
  }
}

export function room(view: View): 'wallet' | 'walletsolidity' {
  return view === 'head' ? 'wallet' : 'walletsolidity';
}

function readTx(value: unknown): Tx {
  const tx = object(value);
  const [ret] = list(tx.ret ?? [{}]);
  const { contractRet } = object(ret ?? {});
  return {
    txid: hex(tx.txID, 64),
    rawData: hex(tx.raw_data_hex),
    succeeded: contractRet === undefined || contractRet === 'SUCCESS',
  };
}

function readBlock(value: unknown): Block {
  const block = object(value);
  const header = object(object(block.block_header).raw_data);
  return {
    number: count(header.number),
    hash: hex(block.blockID, 64),
    parentHash: hex(header.parentHash, 64),
    timestampMs: count(header.timestamp),
    txs: list(block.transactions ?? []).map(readTx),
  };
}

export function headBlock(http: Http, view: View, signal: AbortSignal): Promise<Block> {
  return asked(http, `${room(view)}/getnowblock`, {}, signal, readBlock);
}

/** The nodes of a network, of which one that is behind by `blocks` is asked last. */
export function tronNodes(options: HttpOptions, blocks: number): Http {
  const read = async (one: Http, signal: AbortSignal) => {
    const solid = await headBlock(one, 'solid', signal);
    return { height: solid.number, time: secondOf(solid) };
  };
  // The newest solid block is as many blocks old by itself.
  const seconds = 2 * blocks * tronBlockSeconds;
  return httpClient({ ...options, heads: { blocks, seconds, read } });
}

export function blockAt(http: Http, number: number, signal: AbortSignal): Promise<Block | null> {
  const read = (answer: unknown) => {
    const block = Object.hasOwn(object(answer), 'blockID') ? readBlock(answer) : null;
    if (block !== null) mustBeAsked(number, block.number);
    return block;
  };
  return asked(http, 'wallet/getblockbynum', { num: number }, signal, read);
}

export function blocksOf(
  http: Http,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Block[]> {
  const range = { startNum: from, endNum: to + 1 };
  const read = (answer: unknown) => list(object(answer).block ?? []).map(readBlock);
  return asked(http, 'wallet/getblockbylimitnext', range, signal, read);
}

function readInfo(value: unknown): Info {
  const info = object(value);
  const { result } = object(info.receipt ?? {});
  return {
    txid: hex(info.id, 64),
    succeeded: info.result !== 'FAILED' && (result === undefined || result === 'SUCCESS'),
    logs: list(info.log ?? []).map(readLog),
  };
}

function readLog(value: unknown): Log {
  const log = object(value);
  // java-tron gives 20 bytes; some nodes in front of it give 21.
  const address = hex(log.address).slice(-40);
  const topics = list(log.topics ?? []).map((topic) => hex(topic, 64));
  return { address, topics, data: hex(log.data ?? '') };
}

export function infosAt(http: Http, number: number, signal: AbortSignal): Promise<Info[]> {
  const path = 'wallet/gettransactioninfobyblocknum';
  const read = (answer: unknown) => {
    mustBeAsked(number, count(object(answer).blockNumber));
    return readInfo(answer);
  };
  return asked(http, path, { num: number }, signal, (answer) =>
    // A block without transactions is an empty object on some versions.
    Array.isArray(answer) ? answer.map(read) : [],
  );
}

/** The answer about a transaction; null where the node knows none. */
function found(answer: unknown, id: 'id' | 'txID', txid: string): Json | null {
  const about = object(answer);
  if (!Object.hasOwn(about, id)) return null;
  mustBeAsked(txid.toLowerCase(), hex(about[id], 64));
  return about;
}

export function infoOf(
  http: Http,
  txid: string,
  view: View,
  signal: AbortSignal,
): Promise<Info | null> {
  const path = `${room(view)}/gettransactioninfobyid` as const;
  return asked(http, path, { value: txid }, signal, (answer) => {
    const info = found(answer, 'id', txid);
    return info && readInfo(info);
  });
}

/** Sun that one in a block has burnt, for energy and bytes; null when no block has it. */
export function burntBy(http: Http, txid: string, signal: AbortSignal): Promise<bigint | null> {
  const read = (answer: unknown) => {
    const info = found(answer, 'id', txid);
    return info && amount(info.fee);
  };
  return asked(http, 'wallet/gettransactioninfobyid', { value: txid }, signal, read);
}

export function blockOf(
  http: Http,
  txid: string,
  signal: AbortSignal,
): Promise<Pick<Block, 'number' | 'timestampMs'> | null> {
  return asked(http, 'wallet/gettransactioninfobyid', { value: txid }, signal, (answer) => {
    const info = found(answer, 'id', txid);
    return info && { number: count(info.blockNumber), timestampMs: count(info.blockTimeStamp) };
  });
}

export function rawDataOf(http: Http, txid: string, signal: AbortSignal): Promise<string | null> {
  return asked(http, 'wallet/gettransactionbyid', { value: txid }, signal, (answer) => {
    const transaction = found(answer, 'txID', txid);
    return transaction && hex(transaction.raw_data_hex);
  });
}

/** Whether a transaction is in a block, or, as far as the node tells, waits for one. */
export async function knows(http: Http, txid: string, signal: AbortSignal): Promise<boolean> {
  const has = (answer: unknown) => found(answer, 'txID', txid) !== null;
  const body = { value: txid };
  if (await asked(http, 'wallet/gettransactionbyid', body, signal, has)) return true;
  try {
    return await askedFor(http, 'wallet/gettransactionfrompending', body, signal, has);
  } catch (error) {
    if (isTimeout(error) || (error instanceof ParleyError && error.kind === 'timeout')) throw error;
    return false;
  }
}

export type Trial = {
  /** Null: it would succeed. */
  readonly failure: string | null;
  /** The returned bytes, or its revert data; hex without 0x. */
  readonly output: string;
  /** The energy it would use, penalties of the dynamic energy model included. */
  readonly energy: bigint;
  readonly logs: readonly Log[];
};

/** Throws a TronRefusal where the node does not even begin: no contract, or too little TRX. */
export function tryCall(
  http: Http,
  view: View,
  { from, to, data, value }: TronCall,
  signal: AbortSignal,
): Promise<Trial> {
  const body = {
    owner_address: tronHex(from),
    contract_address: tronHex(to),
    data,
    call_value: Number(value),
  };
  const path = `${room(view)}/triggerconstantcontract` as const;
  return askedFor(http, path, body, signal, (answer) => {
    const tried = object(answer);
    const { result, constant_result: outputs, energy_used: used, transaction } = tried;
    const said = object(result);
    if (said.result !== true) throw new TronRefusal(String(said.code), plainWords(said.message));
    const [ret] = list(object(transaction ?? {}).ret ?? [{}]);
    const failed = said.message !== undefined || object(ret ?? {}).ret === 'FAILED';
    return {
      failure: failed ? plainWords(said.message) : null,
      output: hex(list(outputs ?? [''])[0] ?? ''),
      energy: amount(used),
      logs: list(tried.logs ?? []).map(readLog),
    };
  });
}

export type Account = {
  readonly balance: bigint;
  /** Staked for energy by itself, and by others that delegated it; they may take it back. */
  readonly stakedSun: bigint;
  readonly lentSun: bigint;
};

/** An account's sun, or null when the address was never used. */
export function accountOf(
  http: Http,
  address: string,
  signal: AbortSignal,
): Promise<Account | null> {
  return asked(http, 'wallet/getaccount', { address: tronHex(address) }, signal, (answer) => {
    const account = object(answer);
    if (account.address === undefined) return null;
    const has = object(account.account_resource ?? {});
    const frozen = list(account.frozenV2 ?? []).map(object);
    const staked = frozen
      .filter(({ type }) => type === 'ENERGY')
      .reduce((sum, { amount: sun }) => sum + amount(sun), 0n);
    return {
      // The account that burnt coins go to began at the least that there is.
      balance: integer(account.balance),
      stakedSun: staked + amount(object(has.frozen_balance_for_energy ?? {}).frozen_balance),
      lentSun:
        amount(has.acquired_delegated_frozenV2_balance_for_energy) +
        amount(has.acquired_delegated_frozen_balance_for_energy),
    };
  });
}

export function resourcesOf(
  http: Http,
  address: string,
  signal: AbortSignal,
): Promise<{
  readonly energy: bigint;
  readonly energyLimit: bigint;
  readonly bandwidth: bigint;
}> {
  const body = { address: tronHex(address) };
  return asked(http, 'wallet/getaccountresource', body, signal, (answer) => {
    const has = object(answer);
    const left = (limit: unknown, used: unknown) => {
      const rest = amount(limit) - amount(used);
      return rest > 0n ? rest : 0n;
    };
    const free = left(has.freeNetLimit, has.freeNetUsed);
    const staked = left(has.NetLimit, has.NetUsed);
    // A transaction takes its bytes from one of the two.
    const [bandwidth = 0n] = [free, staked].sort((one, other) => (one > other ? -1 : 1));
    const energy = left(has.EnergyLimit, has.EnergyUsed);
    return { energy, energyLimit: amount(has.EnergyLimit), bandwidth };
  });
}

export type Prices = { readonly energySun: bigint; readonly byteSun: bigint };

export function pricesOf(http: Http, signal: AbortSignal): Promise<Prices> {
  return asked(http, 'wallet/getchainparameters', {}, signal, (answer) => {
    const parameters = list(object(answer).chainParameter).map(object);
    const priceOf = (key: string) => {
      const value = integer(parameters.find((each) => each.key === key)?.value);
      if (value <= 0n) throw new Error(`it names no ${key}`);
      return value;
    };
    return { energySun: priceOf('getEnergyFee'), byteSun: priceOf('getTransactionFee') };
  });
}

export function codeAt(
  http: Http,
  address: string,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const body = { value: tronHex(address) };
  return asked(http, 'wallet/getcontractinfo', body, signal, (answer) => {
    const code = object(answer).runtimecode;
    return code === undefined || code === '' ? null : hexToBytes(hex(code));
  });
}

/** The creator of a contract; null: there is none. */
export function creatorOf(
  http: Http,
  address: string,
  signal: AbortSignal,
): Promise<string | null> {
  const body = { value: tronHex(address) };
  return asked(http, 'wallet/getcontractinfo', body, signal, (answer) => {
    const { origin_address: creator } = object(object(answer).smart_contract ?? {});
    return creator === undefined ? null : tronAddressOf(hexToBytes(hex(creator, 42).slice(2)));
  });
}

/** Throws a TronRefusal where the node says no, as one without JSON-RPC does. */
export function storageAt(
  http: Http,
  address: string,
  slot: string,
  signal: AbortSignal,
): Promise<string> {
  // No historical state is kept: any other tag than this is refused.
  const params = [`0x${address}`, `0x${slot}`, 'latest'];
  return askedFor(http, jsonRpcPath, jsonRpcBody('eth_getStorageAt', params), signal, (answer) => {
    const { result, error } = object(answer);
    if (error !== undefined) throw new TronRefusal('', plainWords(object(error).message));
    if (typeof result !== 'string' || !result.startsWith('0x')) throw new Error('no result');
    return hex(result.slice(2), 64);
  });
}

/** The last four bytes of the first block's id. */
export async function chainIdOf(http: Http, signal: AbortSignal): Promise<number> {
  const first = await blockAt(http, 0, signal);
  if (first !== null) return Number.parseInt(first.hash.slice(-8), 16);
  throw unreadable(http, 'wallet/getblockbynum', new Error('it has no first block'));
}

export const broadcastPath = 'wallet/broadcasthex';

export async function sendHex(http: Http, raw: string, signal: AbortSignal): Promise<void> {
  await askedFor(http, broadcastPath, { transaction: raw }, signal, (answer) => {
    const { result, code, message } = object(answer);
    if (result === true) return;
    throw new TronRefusal(typeof code === 'string' ? code : '', plainWords(message));
  });
}
