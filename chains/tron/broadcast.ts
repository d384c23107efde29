// Sends a signed transaction. Once a node has it, a secret in it is public.

import type { ReadTransaction } from '../adapter.ts';
import { type Offers, onceHeard, refusedByNode } from '../offers.ts';
import { oneSource } from '../sources.ts';
import { type Http, TronRefusal } from './http.ts';
import { broadcastPath, knows, sendHex } from './node.ts';
import { readTronSigned } from './signed.ts';
import { touchesOf, type Watch } from './watch.ts';

/** To every node: the first that takes it, or has it, is the answer. */
export async function broadcast(
  watch: Watch,
  offers: Offers,
  { raw, txid }: ReadTransaction,
  signal: AbortSignal,
): Promise<string> {
  const give = (at: number, until: AbortSignal) =>
    giveTo(oneSource(watch.http, at), { raw, txid }, until);
  await offers.toAll({ name: broadcastPath, txid, give }, signal);
  // A node has it, so a secret in it is public from now on, in a block or not.
  for (const [escrow] of touchesOf(watch, readTronSigned(raw).rawData)) watch.owed.add(escrow);
  return txid;
}

/** What a node answers whatever it is given, bad or good: no peers, or too much to do. */
const ofTheNode: ReadonlySet<string> = new Set([
  'NO_CONNECTION',
  'NOT_ENOUGH_EFFECTIVE_CONNECTION',
  'BLOCK_UNSOLIDIFIED',
  'SERVER_BUSY',
]);

async function giveTo(
  node: Http,
  { raw, txid }: Pick<ReadTransaction, 'raw' | 'txid'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await sendHex(node, raw, signal);
  } catch (error) {
    if (!(error instanceof TronRefusal)) throw error;
    const { code, message } = error;
    if (code === 'DUP_TRANSACTION_ERROR') return;
    // One that is in a block may be refused for what it did, or for being old by now.
    if (await onceHeard(knows(node, txid, signal))) return;
    // It has heard the bytes all the same, and a secret in them.
    if (ofTheNode.has(code)) throw new Error(`${code}, ${message}`);
    const words = code === '' ? message : `${code}, ${message}`;
    const about = { chain: node.chain, txid, words };
    throw refusedByNode(about, { nodeCode: code }, error);
  }
}
