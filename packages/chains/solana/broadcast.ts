// Signed transactions: their effect, whether it is on chain, and giving it to a node.

import { ed25519 } from '@noble/curves/ed25519.js';
import { base64 } from '@scure/base';
import type { Signed } from '../interface/material.ts';
import type { ReadTransaction } from '../interface/sending.ts';
import type { Sending } from '../kit/adapter.ts';
import { NotNow } from '../nodes/exchange.ts';
import { onceHeard, refusedByNode } from '../nodes/offers.ts';
import { fewMiB, meaningIn, type Rpc, refusalIn } from '../nodes/rpc.ts';
import { solanaAddressBytes, solanaAddressOf } from './address.ts';
import { type ReadMessage, readTransaction, refuse } from './message.ts';
import { accountsAt, isBlockhashValid, isOnChain } from './node.ts';
import { fundedIn, learnFrom, touchesIn, type Watch } from './watch.ts';

const method = 'sendTransaction';
const config = { encoding: 'base64', preflightCommitment: 'confirmed' };

export const sending: Sending<Rpc, Watch> = {
  name: method,
  give: async (node, { raw, txid }, signal) => {
    try {
      if ((await node.call(method, [raw, config], signal, fewMiB)) === txid) return;
      throw new Error('an answer that is not its txid');
    } catch (failure) {
      const error = refusalIn(failure);
      const meaning = meaningIn(error);
      if (meaning === 'known') return;
      if (await onceHeard(isOnChain(node, txid, signal))) return;
      const about = { chain: node.chain, txid, words: error.message };
      const refusal = refusedByNode(about, { rpcCode: error.code }, error);
      if (meaning !== 'other block') throw refusal;
      // One of several machines behind an address may not have the block yet that another named.
      const { blockhash } = readTransaction(raw);
      const isValid = await onceHeard(isBlockhashValid(node, blockhash, 'confirmed', signal));
      throw new NotNow(error.message, isValid ? null : refusal);
    }
  },
  touched: (watch, raw) => {
    const { keys, message } = readTransaction(raw);
    const touched = new Set(keys.filter((key) => watch.known.has(key)));
    learnFrom(watch, touched, [message]);
    return touched;
  },
};

/** The id is a signature over all other bytes. */
export function isKnown(
  { rpc }: Watch,
  { txid }: ReadTransaction,
  signal: AbortSignal,
): Promise<boolean> {
  return isOnChain(rpc, txid, signal);
}

export async function readSigned(
  watch: Watch,
  signed: Signed,
  signal: AbortSignal,
): Promise<ReadTransaction> {
  if (typeof signed !== 'string') {
    throw refuse('it is a PSBT; a Solana transaction is given in base64');
  }
  const read = readTransaction(signed);
  const { signatures, keys, message, signers } = read;
  for (let at = 0; at < signers; at++) {
    const key = keys[at];
    const signature = signatures[at];
    if (key === undefined || signature === undefined) throw refuse('it names too few signers');
    if (!isSigned(signature, message, key)) throw refuse(`the signature of ${key} is not valid`);
  }
  const all = await allKeys(watch, read, signal);
  const touches = touchesIn(watch, read, all);
  const pays = fundedIn(watch, read, all);
  const [payer = ''] = keys;
  return { txid: read.txid, raw: base64.encode(base64.decode(signed)), touches, payer, pays };
}

function isSigned(signature: Uint8Array, message: Uint8Array, key: string): boolean {
  try {
    return ed25519.verify(signature, message, solanaAddressBytes(key), { zip215: false });
  } catch {
    return false;
  }
}

/** A lookup table's addresses begin here. */
const tableHead = 56;

/** The accounts it names; those of lookup tables are asked for only where our program is called. */
async function allKeys(
  { rpc, deployment }: Watch,
  { keys, lookups }: ReadMessage,
  signal: AbortSignal,
): Promise<string[]> {
  if (lookups.length === 0 || !keys.includes(deployment.program)) return [...keys];
  const tables = lookups.map(({ table }) => table);
  const { accounts } = await accountsAt(rpc, tables, 'confirmed', signal);
  const at = (table: number, index: number) => {
    const from = tableHead + 32 * index;
    const bytes = accounts[table]?.data.subarray(from, from + 32);
    return bytes?.length === 32 ? solanaAddressOf(bytes) : '';
  };
  const writable = lookups.flatMap((each, table) => each.writable.map((index) => at(table, index)));
  const rest = lookups.flatMap((each, table) => each.readonly.map((index) => at(table, index)));
  return [...keys, ...writable, ...rest];
}
