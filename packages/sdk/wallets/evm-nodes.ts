// Questions of an EVM wallet to the nodes of its chain: all of them at once, since one may be gone,
// stand still or lie. Neither a stopped node nor a made-up count keeps a claim from being signed.

import {
  byEach,
  dearestFirst,
  feesOf,
  type Present,
  priceOf,
} from '@parley/chains/evm/gas-fees.ts';
import { evmGasPolicyOf, evmTransactionGas } from '@parley/chains/evm/gas-policy.ts';
import {
  asked,
  balanceAt,
  headBlock,
  receiptOf,
  transactionCount,
} from '@parley/chains/evm/node.ts';
import { amountOf, fewWords, type Rpc, rpcClient } from '@parley/chains/nodes/rpc.ts';
import { larger, smaller } from '@parley/core/amounts.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import { oneOfManyTimeoutMs, type TxOutcome, type Waiting } from './wallet.ts';

/** One's own node or several, the better one first. */
export type RpcUrls = string | readonly string[];

export type EvmNodes = { readonly rpc: Rpc; readonly chainId: number; readonly address: string };

export type EvmFees = {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
};

/** Once one has answered the others have so long: the first answer alone decides nothing. */
const othersMs = 1_500;
/** Gas beyond the estimate: the state may change between the two. */
const gasSharePercent = 125n;

export function nodesAt(rpcUrl: RpcUrls, chainId: number): Rpc {
  const urls = typeof rpcUrl === 'string' ? [rpcUrl] : rpcUrl;
  const short = urls.length < 2 ? {} : { rounds: 1, attemptTimeoutMs: oneOfManyTimeoutMs };
  return rpcClient({ chain: `EVM chain ${chainId}`, urls, ...short });
}

type Ask<T> = (one: Rpc, signal: AbortSignal) => Promise<T>;

function ofAll<T>({ rpc }: EvmNodes, ask: Ask<T>, signal: AbortSignal): Promise<readonly T[]> {
  signal.throwIfAborted();
  return byEach(rpc, ask, signal, othersMs);
}

type Call = { readonly to: string; readonly data?: string; readonly value: bigint };

/** The most that one of them wants: a node that stands still may not know of a first use. */
export async function estimatedGas(
  nodes: EvmNodes,
  { to, data, value }: Call,
  signal: AbortSignal,
): Promise<bigint> {
  const given = data === undefined ? {} : { data };
  const call = { from: nodes.address, to, value: `0x${value.toString(16)}`, ...given };
  const ask: Ask<bigint> = async (one, until) =>
    asked(one, 'eth_estimateGas', [call], until, amountOf, fewWords);
  const gas = (await ofAll(nodes, ask, signal)).reduce(larger);
  return smaller((gas * gasSharePercent) / 100n, evmTransactionGas);
}

/** One node's estimate of the gas, and the account's balance by it; null: it does not say. */
export type Look = { readonly present: Present; readonly has: BaseUnits | null };

export async function looksOf(nodes: EvmNodes, signal: AbortSignal): Promise<readonly Look[]> {
  const { chainId, address } = nodes;
  const policy = evmGasPolicyOf(chainId);
  const ask: Ask<Look> = async (one, until) => {
    const balance = balanceAt(one, null, address, 'latest', until).catch(() => null);
    const [{ present }, has] = await Promise.all([feesOf(one, policy, until), balance]);
    return { present, has };
  };
  return ofAll(nodes, ask, signal);
}

/** How far a base fee may rise before the block: by six full ones. The surplus is not paid. */
const risen = (base: bigint) => 2n * base;

type Priced = { readonly gas: bigint; readonly value: bigint; readonly most: bigint };

/**
 * The dearest that is within the limit and that the account can pay: a base fee of long ago is
 * passed over by every block, and one that is made up would have the transaction refused.
 */
export function payableFees(looks: readonly Look[], { gas, value, most }: Priced): EvmFees {
  const dearest = dearestFirst(looks);
  const has = looks.map((look) => look.has).filter((each) => each !== null);
  const payable = has.length === 0 ? most : (has.reduce(larger) - value) / gas;
  const limit = smaller(most, payable);
  const chosen = (dearest.find((each) => priceOf(each) <= limit) ?? dearest.at(-1)) as Present;
  const wanted = {
    maxFeePerGas: risen(chosen.base) + chosen.tip,
    maxPriorityFeePerGas: chosen.tip,
  };
  return bounded(wanted, priceOf(chosen) <= limit ? limit : most);
}

/**
 * A node refuses an offer above what it says the account has, while another may have made up a
 * balance and a price. The fees of the `turn`th of those that refuse it, within what it says. null:
 * each says that the account can pay.
 */
export function lowerFees(
  looks: readonly Look[],
  { gas, value, most }: Priced,
  { offered, turn }: { readonly offered: BaseUnits; readonly turn: number },
): EvmFees | null {
  const able = looks.filter(({ present, has }) => {
    const isPoor = has !== null && has < value + offered;
    return isPoor && value + gas * priceOf(present) <= has;
  });
  const look = able[turn % able.length];
  return look === undefined ? null : payableFees([look], { gas, value, most });
}

export function bounded(fees: EvmFees, mostFeePerGas: bigint): EvmFees {
  const maxFeePerGas = smaller(fees.maxFeePerGas, mostFeePerGas);
  return {
    maxFeePerGas,
    maxPriorityFeePerGas: smaller(fees.maxPriorityFeePerGas, maxFeePerGas),
  };
}

export async function countsOf(
  nodes: EvmNodes,
  at: 'latest' | 'pending',
  signal: AbortSignal,
): Promise<readonly number[]> {
  return ofAll(nodes, (one, until) => transactionCount(one, nodes.address, until, at), signal);
}

/**
 * As many blocks ago, by each of them that answers: a block that only one has seen ends nothing.
 */
export async function isNonceDeep(
  nodes: EvmNodes,
  nonce: number,
  confirmations: number,
  signal: AbortSignal,
): Promise<boolean> {
  const ask: Ask<boolean> = async (one, until) => {
    const { number } = await headBlock(one, until);
    const at = number - confirmations + 1;
    return at >= 0 && (await transactionCount(one, nodes.address, until, at)) > nonce;
  };
  return (await ofAll(nodes, ask, signal)).every((isDeep) => isDeep);
}

type Sent = { readonly nonce: number; readonly versions: readonly string[] };

export async function outcomeOf(
  nodes: EvmNodes,
  sent: Sent,
  signal: AbortSignal,
): Promise<TxOutcome> {
  const ask: Ask<TxOutcome> = (one, until) => outcomeAt(one, nodes.address, sent, until);
  return togetherOf(await ofAll(nodes, ask, signal));
}

async function outcomeAt(
  one: Rpc,
  address: string,
  { nonce, versions }: Sent,
  signal: AbortSignal,
): Promise<TxOutcome> {
  // Asked first: a version that is mined between the two questions only looks as if it waited.
  const used = await transactionCount(one, address, signal, 'latest');
  if (used <= nonce) {
    const pending = await transactionCount(one, address, signal, 'pending');
    return { state: 'waiting', next: used === nonce, gap: pending <= used && used < nonce };
  }
  for (const txid of versions) {
    const mined = await receiptOf(one, txid, signal);
    if (mined !== null) return { state: mined.succeeded ? 'succeeded' : 'reverted' };
  }
  return { state: 'lost' };
}

/** Mined where one has it in a block; lost and a gap where all that answer find it so. */
export function togetherOf(all: readonly TxOutcome[]): TxOutcome {
  const waiting = all.flatMap((each) => (each.state === 'waiting' ? [each] : []));
  const ended = all.flatMap((each) => (each.state === 'waiting' ? [] : [each.state]));
  const mined = (['succeeded', 'reverted'] as const).find((each) => ended.includes(each));
  if (waiting.length === 0) return { state: mined ?? 'lost' };
  const gaps = waiting.filter(({ gap }) => gap).length;
  const doubt: Waiting = {
    state: 'waiting',
    next: waiting.some(({ next }) => next),
    gap: gaps === all.length,
  };
  if (mined !== undefined) return { state: mined, doubt };
  const isDisputed = waiting.length < all.length || (gaps > 0 && gaps < all.length);
  return isDisputed ? { ...doubt, isDisputed } : doubt;
}
