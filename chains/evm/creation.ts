// Transactions found without logs: by their receipts, and by the block that first shows code at an
// escrow. For nodes that lose or keep back logs.

import { blockAt, codeAt, receiptOf, txOf } from './node.ts';
import { callsIn, decodeCall } from './plan.ts';
import { firstBlock } from './scan.ts';
import { type Known, type Mark, noteLog, type Verb, type Watch } from './watch.ts';

/** Receipts asked for in one block when nothing in its calldata names the escrow. */
const mostReceipts = 300;

/**
 * The mark of a transaction, when its receipt says that it did this to the escrow: by a log, or
 * by having been exactly that call and succeeded. null when it did not, or is on chain no more.
 */
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
  return { verb, txid, block: receipt.block, index: 0 };
}

/** The transaction that funded an escrow whose code is there, found by state. */
export async function creationOf(
  watch: Watch,
  known: Known,
  head: number,
  signal: AbortSignal,
): Promise<Mark | null> {
  const { address, since } = known.watched;
  let low = Math.min(await firstBlock(watch, since, signal), head);
  let high = head;
  // Clocks further apart than firstBlock() allows for.
  if ((await codeAt(watch.rpc, address, low, signal)) !== '0x') low = 0;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await codeAt(watch.rpc, address, middle, signal)) === '0x') low = middle + 1;
    else high = middle;
  }
  const block = await blockAt(watch.rpc, low, true, signal);
  const txs = block?.txs ?? [];
  const { deployment } = watch;
  const named = txs.filter(({ input }) =>
    callsIn(input, deployment).some((call) => call.verb === 'fund' && call.escrow === address),
  );
  for (const { hash } of [...named, ...txs.slice(0, mostReceipts)]) {
    const found = await confirmed(watch, known, hash, 'fund', signal);
    if (found !== null) return found;
  }
  return null;
}
