// Sends a signed transaction. Once a node has it, a secret in it is public.

import type { ReadTransaction } from '../adapter.ts';
import { type Offers, onceHeard, refusedByNode } from '../offers.ts';
import { fewMiB, type Rpc, refusalIn } from '../rpc.ts';
import { oneSource } from '../sources.ts';
import { readTransaction } from './message.ts';
import { isOnChain } from './node.ts';
import { learnFrom, type Watch } from './watch.ts';

const method = 'sendTransaction';
const alreadyProcessed = /already been processed|AlreadyProcessed/;

/** To every node: the first that takes it, or has it, is the answer. */
export async function send(
  watch: Watch,
  offers: Offers,
  { raw, txid }: ReadTransaction,
  signal: AbortSignal,
): Promise<string> {
  const give = (at: number, until: AbortSignal) =>
    giveTo(oneSource(watch.rpc, at), { raw, txid }, until);
  await offers.toAll({ name: method, txid, give }, signal);
  const { keys, message } = readTransaction(raw);
  const touched = new Set(keys.filter((key) => watch.known.has(key)));
  learnFrom(watch, touched, [message]);
  for (const address of touched) watch.owed.add(address);
  return txid;
}

async function giveTo(
  node: Rpc,
  { raw, txid }: Pick<ReadTransaction, 'raw' | 'txid'>,
  signal: AbortSignal,
): Promise<void> {
  const config = { encoding: 'base64', preflightCommitment: 'confirmed' };
  try {
    if ((await node.call(method, [raw, config], signal, fewMiB)) === txid) return;
    throw new Error('an answer that is not its txid');
  } catch (failure) {
    const error = refusalIn(failure);
    if (alreadyProcessed.test(error.message)) return;
    if (await onceHeard(isOnChain(node, txid, signal))) return;
    const about = { chain: node.chain, txid, words: error.message };
    throw refusedByNode(about, { rpcCode: error.code }, error);
  }
}
