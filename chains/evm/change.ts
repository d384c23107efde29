// Transactions found by receipts and by the second of an escrow's last change, without logs.

import { firstHeight } from '../kit/heights.ts';
import { learn } from '../kit/watch.ts';
import { blockAt, headBlock, receiptOf, txOf } from './node.ts';
import { calledBy, callsIn, decodeCall } from './plan.ts';
import { type Known, type Mark, noteLog, type Verb, type Watch } from './watch.ts';

/** Receipts asked for in one block when nothing in its calldata names the escrow. */
const mostReceipts = 300;
/** Blocks of one second that are looked into. */
const mostAlike = 16;

/** null when the transaction did not do this, or is on chain no more. */
export async function confirmed(
  watch: Watch,
  known: Known,
  txid: string,
  verb: Verb,
  signal: AbortSignal,
): Promise<Mark | null> {
  const receipt = await receiptOf(watch.rpc, txid, signal);
  if (receipt === null || !receipt.succeeded) return null;
  const { address } = known.watched;
  for (const log of receipt.logs) {
    if (noteLog(watch, log) !== address) continue;
    const found = known.marks.get(`${verb} ${txid}`);
    if (found !== undefined) return found;
  }
  const tx = await txOf(watch.rpc, txid, signal);
  const call = tx?.to ? decodeCall(tx.to, tx.input, watch.deployment) : null;
  if (call?.verb !== verb || call.escrow !== address) return null;
  if (call.secret !== null) learn(watch, call.secret);
  return { verb, txid, block: receipt.block, index: 0 };
}

export async function changeOf(
  watch: Watch,
  known: Known,
  verb: Verb,
  second: number,
  signal: AbortSignal,
): Promise<Mark | null> {
  for (const txid of known.callers) {
    const found = await confirmed(watch, known, txid, verb, signal);
    if (found !== null) return found;
  }
  const { address } = known.watched;
  const { number: head } = await headBlock(watch.rpc, signal);
  let number = await firstHeight(0, head, async (height) => {
    const block = await blockAt(watch.rpc, height, false, signal);
    return block === null || block.timestamp >= second;
  });
  for (let alike = 0; alike < mostAlike; alike += 1, number += 1) {
    const block = await blockAt(watch.rpc, number, true, signal);
    if (block === null || block.timestamp !== second) return null;
    const named = block.txs.filter((tx) =>
      callsIn(tx.input, calledBy(tx.to, watch.deployment)).some(
        (call) => call.verb === verb && call.escrow === address,
      ),
    );
    for (const { hash } of [...named, ...block.txs.slice(0, mostReceipts)]) {
      const found = await confirmed(watch, known, hash, verb, signal);
      if (found !== null) return found;
    }
  }
  return null;
}
