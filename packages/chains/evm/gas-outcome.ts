// The outcome of a gas key's transaction. A receipt of a block that was taken back counts for
// nothing.

import { withResolvers } from '@parley/core/engines.ts';
import { topicOfVerb } from '../escrows/calls.ts';
import type { GasOutcome, GasSent } from '../gas/account.ts';
import { amountOf, type Rpc } from '../nodes/rpc.ts';
import { foundBySome, oneSource } from '../nodes/sources.ts';
import { sleep } from '../nodes/turn.ts';
import { reachBlocks } from './gas-fees.ts';
import {
  asked,
  blockAt,
  headBlock,
  object,
  type Receipt,
  receiptOf,
  transactionCount,
  txOf,
} from './node.ts';
import type { DepthTag } from './policy.ts';

const topics: readonly string[] = Object.values(topicOfVerb);

export type Depths = { readonly confirmations: number; readonly tag: DepthTag | null };

export async function outcomeOf(
  rpc: Rpc,
  own: string,
  depths: Depths,
  { txid, nonce, isPast = false }: Omit<GasSent, 'diesAt'>,
  signal: AbortSignal,
): Promise<GasOutcome> {
  const outcomeIn = async (one: Rpc, receipt: Receipt): Promise<GasOutcome> => {
    const outcome = await outcomeBy(one, own, depths, txid, receipt, signal);
    if (outcome !== 'deep' || nonce === null || isPast) return outcome;
    // A final transaction leaves no entry, and its nonce is never given out again.
    return (await isUsed(rpc, own, nonce, receipt.block, signal)) ? 'deep' : 'mined';
  };
  const receipt = await liveReceipt(rpc, txid, signal);
  if (receipt !== null) return outcomeIn(rpc, receipt);
  const tx = await txOf(rpc, txid, signal);
  const waits = tx === null ? 'unknown' : 'pending';
  if (nonce === null) return waits;
  const isTaken = async () => (await countByAll(rpc, own, { most: nonce }, signal)) > nonce;
  if (!isPast && !(await isTaken())) return waits;
  // Its own block may have come between the questions, or one of several nodes may be behind.
  let isSure = true as boolean;
  const find = async (one: Rpc) => {
    const mined = await liveReceipt(one, txid, signal);
    return mined === null ? null : { one, mined };
  };
  const found = await foundBySome(rpc, find, signal, () => {
    isSure = false;
  });
  if (found !== null) return outcomeIn(found.one, found.mined);
  // The node that is silent may be the only one with its block.
  return !isPast || isSure || (await isTaken()) ? 'gone' : waits;
}

/** By more than half of the nodes. One that has stopped far below the block is not counted. */
async function isUsed(rpc: Rpc, own: string, nonce: number, block: number, signal: AbortSignal) {
  const isCounted = async (one: Rpc) =>
    (await countByAll(one, own, { most: nonce }, signal)) > nonce;
  if (await isCounted(rpc)) return true;
  const places = Array.from({ length: rpc.sources }, (_, at) => at);
  const behind = await Promise.all(
    places.map(async (at) => {
      const head = await headBlock(oneSource(rpc, at), signal).catch(() => null);
      return head !== null && head.number < block - reachBlocks;
    }),
  );
  signal.throwIfAborted();
  const left = places.filter((at) => behind[at] === false);
  if (left.length === 0 || left.length === rpc.sources) return false;
  const ask: Rpc['ask'] = (at, ...args) => rpc.ask(left[at] as number, ...args);
  const call: Rpc['call'] = (...args) => ask(0, ...args);
  return isCounted({ ...rpc, sources: left.length, ask, call });
}

/** Some nodes keep receipts of blocks that were taken back. */
async function liveReceipt(rpc: Rpc, txid: string, signal: AbortSignal): Promise<Receipt | null> {
  const receipt = await receiptOf(rpc, txid, signal);
  if (receipt === null) return null;
  const block = await blockAt(rpc, receipt.block, false, signal);
  return block?.hash === receipt.blockHash ? receipt : null;
}

async function outcomeBy(
  rpc: Rpc,
  own: string,
  depths: Depths,
  txid: string,
  receipt: Receipt,
  signal: AbortSignal,
): Promise<GasOutcome> {
  if (!receipt.succeeded) return 'failed';
  // A call to an address without code works for nothing.
  const to = (await txOf(rpc, txid, signal))?.to;
  const moved = receipt.logs.some(({ address, topics: [topic] }) => {
    return address === to && topic !== undefined && topics.includes(topic);
  });
  if (to !== own && !moved) return 'failed';
  const head = await headBlock(rpc, signal);
  if (receipt.block > head.number - depths.confirmations + 1) return 'mined';
  if (depths.tag === null) return 'deep';
  const tagged = await blockAt(rpc, depths.tag, false, signal);
  return tagged !== null && receipt.block <= tagged.number ? 'deep' : 'mined';
}

/** Wei, by one node: gas, and on OP chains what its bytes cost on Ethereum. */
export function costBy(one: Rpc, txid: string, signal: AbortSignal): Promise<bigint | null> {
  return asked(one, 'eth_getTransactionReceipt', [txid], signal, (answer) => {
    if (answer === null) return null;
    const { gasUsed, effectiveGasPrice, l1Fee } = object(answer);
    if (effectiveGasPrice === undefined) return null;
    const gas = amountOf(gasUsed) * amountOf(effectiveGasPrice);
    return gas + (l1Fee == null ? 0n : amountOf(l1Fee));
  });
}

/** Once one has answered the others have so long: a node that hangs holds up no signature. */
const usualOthersMs = 400;

export type Expected = {
  /** Above it what one node says is not believed while another may still answer. */
  readonly most: number;
  readonly othersMs?: number;
  readonly answerMs?: number;
  readonly at?: 'latest' | 'pending';
};

function askingAll(
  rpc: Rpc,
  own: string,
  { at, answerMs }: { readonly at: 'latest' | 'pending'; readonly answerMs?: number | undefined },
  signal: AbortSignal,
): Promise<number>[] {
  return Array.from({ length: rpc.sources }, (_, source) => {
    const call: Rpc['call'] = (method, params, until, limits) => {
      const own = answerMs === undefined ? limits : { ...limits, attemptTimeoutMs: answerMs };
      return rpc.ask(source, method, params, until, own);
    };
    return transactionCount({ ...rpc, call }, own, signal, at);
  });
}

/** The nonce count of each node that answers, with its mempool; the lowest first. */
export async function pendingCounts(
  rpc: Rpc,
  own: string,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const asked = await Promise.allSettled(askingAll(rpc, own, { at: 'pending' }, signal));
  signal.throwIfAborted();
  const said = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  return said.toSorted((one, other) => one - other);
}

/**
 * The count that more than half of the nodes report. Above `most` a second answer is waited for.
 */
export async function countByAll(
  rpc: Rpc,
  own: string,
  { most, othersMs = usualOthersMs, answerMs, at = 'latest' }: Expected,
  signal: AbortSignal,
): Promise<number> {
  if (rpc.sources < 2) return transactionCount(rpc, own, signal, at);
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const asking = askingAll(rpc, own, { at, answerMs }, until);
  const said: number[] = [];
  const second = withResolvers<void>();
  const hear = (count: number) => {
    if (said.push(count) === 2) second.resolve();
  };
  const all = Promise.all(asking.map((each) => each.then(hear, () => {})));
  const believed = () => said.toSorted((one, other) => one - other)[(said.length - 1) >> 1] ?? 0;
  const isOne = () => said.length === 1;
  try {
    // Without an answer, ask again as a plain call does, which says why.
    await Promise.any(asking).catch(() => {});
    if (said.length === 0) return await transactionCount(rpc, own, signal, at);
    await Promise.race([all, sleep(othersMs, until).catch(() => {})]);
    if (isOne() && believed() > most) {
      await Promise.race([all, second.promise]);
      if (isOne() && signal.aborted) {
        return await transactionCount(rpc, own, signal, at);
      }
    }
    return believed();
  } finally {
    over.abort();
  }
}
