// Signed transactions: what one does, whether a node has it, and giving it to one.

import { ParleyError } from '../../core/errors.ts';
import type { Hashlock } from '../../core/hashlock.ts';
import type { Signed } from '../interface/material.ts';
import type { ReadTransaction, Touch } from '../interface/sending.ts';
import type { Sending } from '../kit/adapter.ts';
import { onceHeard, refusedByNode } from '../nodes/offers.ts';
import { fewMiB, type Rpc, refusalIn } from '../nodes/rpc.ts';
import { txOf } from './node.ts';
import { calledBy, callsIn, fundedIn } from './plan.ts';
import { calldataOf, readRaw } from './raw.ts';
import { touchesOf, type Watch } from './watch.ts';

const method = 'eth_sendRawTransaction';
const alreadyKnown = /already (known|imported|exists)|known transaction/i;

export const sending: Sending<Rpc, Watch> = {
  name: method,
  give: async (node, { raw, txid }, signal) => {
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
