// The questions to a node, parsed. An answer of another shape ends in `chain_unavailable`.

import { ParleyError } from '@parley/core/errors.ts';
import { erc20Abi, type Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData, getAddress } from 'viem/utils';
import type { Heads, Tip } from '../interface/reading.ts';
import { mustBeAsked } from '../kit/follow.ts';
import { gathering, noteGathered } from '../nodes/gathering.ts';
import type { EvmMethod } from '../nodes/methods.ts';
import {
  type Answered,
  type Asked,
  amountOf,
  cut,
  fewMiB,
  fewWords,
  isCallFailure,
  type OwnLimits,
  oneTransaction,
  quantity,
  type Rpc,
  RpcError,
  type RpcOptions,
  rpcClient,
} from '../nodes/rpc.ts';
import { evmBlockSeconds } from './policy.ts';

export type Tx = {
  readonly hash: string;
  readonly from: string;
  readonly to: string | null;
  readonly input: string;
  readonly value: bigint;
};

export type Block = {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: number;
  /** Empty when the block was asked for without its transactions. */
  readonly txs: readonly Tx[];
};

export type Log = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly txid: string;
  readonly block: number;
  readonly blockHash: string;
  readonly index: number;
};

export type Receipt = {
  readonly succeeded: boolean;
  readonly block: number;
  readonly blockHash: string;
  readonly logs: readonly Log[];
};

type BlockTag = 'latest' | 'pending' | 'safe' | 'finalized';
type Json = Record<string, unknown>;

export function object(value: unknown): Json {
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  return value as Json;
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('not a text');
  return value;
}

export function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error('not a list');
  return value;
}

/** Asks and reads; an unreadable answer is `chain_unavailable`, and so is a plain refusal. */
export async function asked<T>(
  rpc: Rpc,
  method: EvmMethod,
  params: readonly unknown[],
  signal: AbortSignal,
  read: (answer: unknown) => T,
  own: OwnLimits = {},
): Promise<T> {
  const answer = await rpc.call(method, params, signal, own).catch((error: unknown) => {
    throw error instanceof RpcError ? refused(rpc, method, error) : error;
  });
  try {
    return read(answer);
  } catch (cause) {
    // A reader of the error may quote the node's words, of any length.
    const why = cut(cause instanceof Error ? cause.message : 'unreadable', 300);
    throw new ParleyError(
      'chain_unavailable',
      `the ${rpc.chain} node gave an answer to ${method} that cannot be read: ${why}`,
      { chain: rpc.chain, method },
      { cause },
    );
  }
}

export function refused(rpc: Rpc, method: EvmMethod, cause: RpcError): ParleyError {
  return new ParleyError(
    'chain_unavailable',
    `the ${rpc.chain} node refused ${method}: ${cause.message}`,
    { chain: rpc.chain, method, rpcCode: cause.code },
    { cause },
  );
}

/** A block by its number, or by its hash: then nothing is answered once it was taken back. */
export type At = number | BlockTag | Pick<Block, 'hash'>;

export function atBlock(at: At): string | { readonly blockHash: string } {
  if (typeof at === 'object') return { blockHash: at.hash };
  return typeof at === 'number' ? `0x${at.toString(16)}` : at;
}

function readTx(value: unknown): Tx {
  const tx = object(value);
  return {
    hash: text(tx.hash),
    from: getAddress(text(tx.from)),
    to: typeof tx.to === 'string' ? getAddress(tx.to) : null,
    input: text(tx.input ?? tx.data),
    value: amountOf(tx.value),
  };
}

/** A block, or null when the node has none there. A pending block has an empty hash. */
export function blockAt(
  rpc: Rpc,
  at: number | BlockTag,
  withTxs: boolean,
  signal: AbortSignal,
): Promise<Block | null> {
  const read = (answer: unknown) => {
    if (answer === null) return null;
    const block = object(answer);
    const number = quantity(block.number);
    if (typeof at === 'number') mustBeAsked(at, number);
    return {
      number,
      hash: at === 'pending' ? '' : text(block.hash),
      parentHash: text(block.parentHash),
      timestamp: quantity(block.timestamp),
      txs: withTxs ? list(block.transactions).map(readTx) : [],
    };
  };
  const params = [atBlock(at), withTxs];
  return asked(rpc, 'eth_getBlockByNumber', params, signal, read, withTxs ? {} : fewMiB);
}

export async function headBlock(rpc: Rpc, signal: AbortSignal): Promise<Block> {
  const head = await blockAt(rpc, 'latest', false, signal);
  if (head !== null) return head;
  throw new ParleyError('chain_unavailable', `the ${rpc.chain} node has no block yet`, {
    chain: rpc.chain,
  });
}

/** The nodes of a chain, of which one that is behind by `blocks` is asked last. */
export function evmNodes(options: RpcOptions, chainId: number, blocks: number): Rpc {
  const read = async (one: Rpc, signal: AbortSignal) => {
    const { number: height, timestamp: time } = await headBlock(one, signal);
    return { height, time };
  };
  const seconds = blocks * evmBlockSeconds(chainId);
  return rpcClient({ ...options, heads: { blocks, seconds, read } });
}

function readLog(value: unknown): Log {
  const log = object(value);
  return {
    address: getAddress(text(log.address)),
    topics: list(log.topics).map(text),
    data: text(log.data),
    txid: text(log.transactionHash),
    block: quantity(log.blockNumber),
    blockHash: text(log.blockHash),
    index: quantity(log.logIndex),
  };
}

export type LogFilter = {
  readonly address?: string | readonly string[];
  readonly topics: readonly (string | readonly string[] | null)[];
};

/** The logs of one range of blocks. Throws RpcError when the node finds the range too large. */
export async function logsOf(
  rpc: Rpc,
  filter: LogFilter,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Log[]> {
  const range = { fromBlock: atBlock(from), toBlock: atBlock(to) };
  const answer = await rpc.call('eth_getLogs', [{ ...filter, ...range }], signal);
  return asked({ ...rpc, call: async () => answer }, 'eth_getLogs', [], signal, (value) =>
    list(value).map(readLog),
  );
}

export function receiptOf(rpc: Rpc, txid: string, signal: AbortSignal): Promise<Receipt | null> {
  return asked(rpc, 'eth_getTransactionReceipt', [txid], signal, (answer) => {
    if (answer === null) return null;
    const receipt = object(answer);
    mustBeAsked(txid.toLowerCase(), text(receipt.transactionHash).toLowerCase());
    return {
      succeeded: receipt.status === '0x1',
      block: quantity(receipt.blockNumber),
      blockHash: text(receipt.blockHash),
      logs: list(receipt.logs).map(readLog),
    };
  });
}

export function txOf(rpc: Rpc, txid: string, signal: AbortSignal): Promise<Tx | null> {
  const read = (answer: unknown) => {
    if (answer === null) return null;
    const tx = readTx(answer);
    mustBeAsked(txid.toLowerCase(), tx.hash.toLowerCase());
    return tx;
  };
  return asked(rpc, 'eth_getTransactionByHash', [txid], signal, read, oneTransaction);
}

export function codeAt(
  rpc: Rpc,
  address: string,
  at: number | BlockTag,
  signal: AbortSignal,
): Promise<string> {
  return asked(rpc, 'eth_getCode', [address, atBlock(at)], signal, text, fewMiB);
}

export function storageAt(
  rpc: Rpc,
  address: string,
  slot: string,
  signal: AbortSignal,
): Promise<string> {
  const read = (answer: unknown) => {
    const word = text(answer);
    if (!/^0x[0-9a-fA-F]{1,64}$/.test(word)) throw new Error('no word');
    return word;
  };
  return asked(rpc, 'eth_getStorageAt', [address, slot, 'latest'], signal, read, fewWords);
}

export function balanceAt(
  rpc: Rpc,
  token: string | null,
  holder: string,
  at: At,
  signal: AbortSignal,
): Promise<bigint> {
  if (token === null) {
    const params = [holder, atBlock(at)];
    return asked(rpc, 'eth_getBalance', params, signal, amountOf, fewWords);
  }
  const call = { to: token, data: balanceOfCall(holder) };
  const read = (answer: unknown) => wordOf(text(answer));
  return asked(rpc, 'eth_call', [call, atBlock(at)], signal, read, fewMiB);
}

/** Throws `chain_unavailable` where it is no token too. */
export function decimalsOf(rpc: Rpc, token: string, signal: AbortSignal): Promise<number> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' });
  const read = (answer: unknown) => Number(wordOf(text(answer)));
  return asked(rpc, 'eth_call', [{ to: token, data }, 'latest'], signal, read, fewMiB);
}

export function balanceOfCall(holder: string): string {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder as Hex] });
}

export function wordOf(answer: string): bigint {
  if (!/^0x[0-9a-fA-F]{64}/.test(answer)) throw new Error('no word: is there a token?');
  return BigInt(answer.slice(0, 66));
}

export function allowanceOf(
  rpc: Rpc,
  token: string,
  owner: string,
  spender: string,
  signal: AbortSignal,
): Promise<bigint> {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'allowance',
    args: [owner as Hex, spender as Hex],
  });
  const read = (answer: unknown) =>
    decodeFunctionResult({ abi: erc20Abi, functionName: 'allowance', data: answer as Hex });
  return asked(rpc, 'eth_call', [{ to: token, data }, 'latest'], signal, read, fewMiB);
}

export function gasPrice(rpc: Rpc, signal: AbortSignal): Promise<bigint> {
  return asked(rpc, 'eth_gasPrice', [], signal, amountOf, fewWords);
}

/** How many transactions of an account are in blocks: its lowest free nonce. */
export function transactionCount(
  rpc: Rpc,
  address: string,
  signal: AbortSignal,
  at: number | 'latest' | 'pending' = 'latest',
): Promise<number> {
  const params = [address, atBlock(at)];
  return asked(rpc, 'eth_getTransactionCount', params, signal, quantity, fewWords);
}

export function chainIdOf(rpc: Rpc, signal: AbortSignal): Promise<number> {
  return asked(rpc, 'eth_chainId', [], signal, quantity, fewWords);
}

const looks = new WeakMap<Tip, Rpc>();

export const lookedAt = (rpc: Rpc, heads: Tip): Rpc => looks.get(heads) ?? rpc;

/** `rpc` in whose calls the best block is that of the look. The head of one poll is always the
 * same. */
export function atLook(rpc: Rpc, heads: Heads): Rpc {
  const known = looks.get(heads);
  if (known !== undefined) return known;
  const { hash } = heads;
  // Its size is bounded by the 50 escrows of a read and a request's gates.
  const told = new Map<string, Answered>();
  const pinned: Rpc = {
    ...rpc,
    call: async (method, params, signal, own = {}) => {
      const asked = named({ method, params, own }, hash);
      const key = JSON.stringify([method, asked.params]);
      const known = told.get(key) ?? (await answered(gathering(rpc, signal), asked, signal));
      if (key.includes(hash)) told.set(key, known);
      if ('failure' in known) throw known.failure;
      return known.result;
    },
  };
  noteGathered(pinned);
  looks.set(heads, pinned);
  return pinned;
}

/** Another answer than a contract's is thrown: it may be the node's own. */
async function answered(rpc: Rpc, { method, params, own }: Asked, signal: AbortSignal) {
  try {
    return { result: await rpc.call(method, params, signal, own) };
  } catch (failure) {
    if (isCallFailure(failure)) return { failure };
    throw failure;
  }
}

/** A block that is asked for by a tag is whichever it is by then. */
function named({ method, params, own }: Asked, hash: string): Asked {
  if (method === 'eth_getBlockByNumber') return { method, params, own };
  const by = params.map((each) => (each === 'latest' ? atBlock({ hash }) : each));
  return { method, params: by, own };
}
