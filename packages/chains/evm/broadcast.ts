// Signed transactions: their effect, whether a node has it, and giving it to one.

import { ParleyError } from '@parley/core/errors.ts';
import type { Hashlock } from '@parley/core/hashlock.ts';
import { type Hex, recoverTransactionAddress, type TransactionSerialized } from 'viem';
import { getAddress, keccak256, parseTransaction } from 'viem/utils';
import type { Signed } from '../interface/material.ts';
import type { ReadTransaction, Touch } from '../interface/sending.ts';
import type { Sending } from '../kit/adapter.ts';
import { onceHeard, refusedByNode } from '../nodes/offers.ts';
import { fewMiB, meaningIn, type Rpc, refusalIn } from '../nodes/rpc.ts';
import { txOf } from './node.ts';
import { calledBy, callsIn, fundedIn } from './plan.ts';
import { touchesOf, type Watch } from './watch.ts';

const method = 'eth_sendRawTransaction';

export const sending: Sending<Rpc, Watch> = {
  name: method,
  give: async (node, { raw, txid }, signal) => {
    try {
      const answer = await node.call(method, [raw], signal, fewMiB);
      if (typeof answer === 'string' && answer.toLowerCase() === txid.toLowerCase()) return;
      throw new Error('an answer that is not its txid');
    } catch (failure) {
      const error = refusalIn(failure);
      if (meaningIn(error) === 'known') return;
      // A nonce that is too low is also what a node says of the very transaction it has mined.
      if ((await onceHeard(txOf(node, txid, signal))) !== null) return;
      const about = { chain: node.chain, txid, words: error.message };
      throw refusedByNode(about, { rpcCode: error.code }, error);
    }
  },
  touched: (watch, raw) => touchesOf(watch, calldataOf(raw)).keys(),
};

export async function isKnown(
  { rpc }: Watch,
  { txid }: ReadTransaction,
  signal: AbortSignal,
): Promise<boolean> {
  return (await txOf(rpc, txid, signal)) !== null;
}

export async function readSigned(watch: Watch, signed: Signed): Promise<ReadTransaction> {
  const { chain, chainId, deployment } = watch;
  const raw = await readRaw(signed);
  if (raw.chainId !== chainId) {
    throw new ParleyError(
      'bad_transaction',
      `the transaction was signed for chain id ${raw.chainId}; ${chain} is ${chainId}`,
      { signedFor: raw.chainId, chainId },
    );
  }
  const wanted = (hashlock: Hashlock) => watch.byHashlock.has(hashlock);
  const called = calledBy(raw.to, deployment);
  const touches: Touch[] = callsIn(raw.data, called, wanted)
    .filter(({ escrow }) => watch.known.has(escrow))
    .map(({ of: _, ...touch }) => touch);
  const pays = fundedIn(raw.data, called);
  return { txid: raw.txid, raw: raw.raw, touches, payer: raw.from, pays };
}

/** Nodes refuse more than 128 KiB. */
const mostBytes = 131_072;
/**
 * Addresses and storage keys of an access list. A swap reads a dozen; each costs 10 us to read here,
 * three times over.
 */
const mostListed = 200;

export type RawTransaction = {
  readonly raw: Hex;
  readonly txid: string;
  readonly chainId: number;
  readonly from: string;
  readonly to: string | null;
  readonly data: string;
};

function bad(why: string, cause?: unknown): ParleyError {
  return new ParleyError('bad_transaction', `not a signed EVM transaction: ${why}`, {}, { cause });
}

function rawHex(signed: Signed): Hex {
  if (typeof signed !== 'string') throw bad('it must be the raw transaction as hex');
  const digits = signed.startsWith('0x') ? signed.slice(2) : signed;
  if (digits.length > 2 * mostBytes) throw bad(`it has more than ${mostBytes} bytes`);
  if (!/^([0-9a-fA-F]{2})+$/.test(digits)) throw bad('it is not hex');
  return `0x${digits.toLowerCase()}`;
}

function parse(raw: Hex) {
  const type = Number.parseInt(raw.slice(2, 4), 16);
  // Blobs and code delegations have no place in a swap, and carry more than one effect.
  if (type === 3 || type === 4) throw bad(`type ${type} is not served; use type 0, 1 or 2`);
  if (type !== 1 && type !== 2 && type < 0xc0) throw bad(`type ${type} is unknown`);
  const parsed = decoded(raw);
  const listed = parsed.accessList?.flatMap(({ storageKeys }) => ['', ...storageKeys]).length ?? 0;
  if (listed > mostListed) {
    throw bad(`its access list names ${listed} addresses and keys; ${mostListed} are the most`);
  }
  return parsed;
}

function decoded(raw: Hex) {
  try {
    return parseTransaction(raw);
  } catch (cause) {
    throw bad('its bytes do not decode', cause);
  }
}

/** The chain a raw transaction was signed for. Throws `bad_transaction` when it names none. */
export function chainIdOfRaw(signed: Signed): number {
  return chainIdOf(parse(rawHex(signed)));
}

function chainIdOf({ chainId }: ReturnType<typeof parse>): number {
  if (chainId === undefined)
    throw bad('it names no chain id (EIP-155), so any chain may replay it');
  return chainId;
}

/** Reads it and checks its signature. Throws `bad_transaction`. */
export async function readRaw(signed: Signed): Promise<RawTransaction> {
  const raw = rawHex(signed);
  const parsed = parse(raw);
  const { to, data, r, s } = parsed;
  const chainId = chainIdOf(parsed);
  if (r === undefined || s === undefined) throw bad('it is not signed');
  let from: string;
  try {
    const serializedTransaction = raw as TransactionSerialized;
    from = await recoverTransactionAddress({ serializedTransaction });
  } catch (cause) {
    throw bad('its signature belongs to no key', cause);
  }
  return { raw, txid: keccak256(raw), chainId, from, to: to ?? null, data: data ?? '0x' };
}

function calldataOf(signed: Signed): { to: string | null; input: string } {
  const { to, data } = parse(rawHex(signed));
  return { to: to ? getAddress(to) : null, input: data ?? '0x' };
}
