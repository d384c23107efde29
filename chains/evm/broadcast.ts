// Sends a signed transaction. Once a node has it, a secret in it is public.

import type { ReadTransaction } from '../adapter.ts';
import { type Offers, onceHeard, refusedByNode } from '../offers.ts';
import { fewMiB, type Rpc, refusalIn } from '../rpc.ts';
import { oneSource } from '../sources.ts';
import { txOf } from './node.ts';
import { calldataOf } from './raw.ts';
import { touchesOf, type Watch } from './watch.ts';

const method = 'eth_sendRawTransaction';
const alreadyKnown = /already (known|imported|exists)|known transaction/i;

/** To every node: the first that takes it, or has it, is the answer. */
export async function broadcast(
  watch: Watch,
  offers: Offers,
  { raw, txid }: ReadTransaction,
  signal: AbortSignal,
): Promise<string> {
  const give = (at: number, until: AbortSignal) =>
    giveTo(oneSource(watch.rpc, at), { raw, txid }, until);
  await offers.toAll({ name: method, txid, give }, signal);
  // A node has it, so a secret in it is public from now on, pending block or not.
  for (const [address] of touchesOf(watch, calldataOf(raw))) watch.owed.add(address);
  return txid;
}

async function giveTo(
  node: Rpc,
  { raw, txid }: Pick<ReadTransaction, 'raw' | 'txid'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const answer = await node.call(method, [raw], signal, fewMiB);
    if (typeof answer === 'string' && answer.toLowerCase() === txid.toLowerCase()) return;
    throw new Error('an answer that is not its txid');
  } catch (failure) {
    const error = refusalIn(failure);
    if (alreadyKnown.test(error.message)) return;
    // A nonce that is too low is also what a node says of the very transaction it has mined.
    if ((await onceHeard(txOf(node, txid, signal))) !== null) return;
    const about = { chain: node.chain, txid, words: error.message };
    throw refusedByNode(about, { rpcCode: error.code }, error);
  }
}
