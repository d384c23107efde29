// Signed transactions: what one does, whether a node has it, and giving it to one.

import type { Hashlock } from '../../core/hashlock.ts';
import { contractsOf } from '../escrows/plan.ts';
import type { Signed } from '../interface/material.ts';
import type { ReadTransaction, Touch } from '../interface/sending.ts';
import type { Sending } from '../kit/adapter.ts';
import { onceHeard, refusedByNode } from '../nodes/offers.ts';
import { type Http, TronRefusal } from './http.ts';
import { broadcastPath, knows, sendHex } from './node.ts';
import { callsIn, fundedIn } from './plan.ts';
import { readTronSigned } from './signed.ts';
import { touchesOf, type Watch } from './watch.ts';

/** What a node answers whatever it is given, bad or good: no peers, or too much to do. */
const ofTheNode: ReadonlySet<string> = new Set([
  'NO_CONNECTION',
  'NOT_ENOUGH_EFFECTIVE_CONNECTION',
  'BLOCK_UNSOLIDIFIED',
  'SERVER_BUSY',
]);

export const sending: Sending<Http, Watch> = {
  name: broadcastPath,
  give: async (node, { raw, txid }, signal) => {
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
  },
  touched: (watch, raw) => touchesOf(watch, readTronSigned(raw).rawData).keys(),
};

/** The id is a hash over all that a transaction does; only its signatures are beside it. */
export function isKnown(
  { http }: Watch,
  { txid }: ReadTransaction,
  signal: AbortSignal,
): Promise<boolean> {
  return knows(http, txid, signal);
}

export async function readSigned(
  { known, deployment, byHashlock }: Watch,
  signed: Signed,
): Promise<ReadTransaction> {
  const { txid, raw, rawData, owner, called } = readTronSigned(signed);
  const wanted = (hashlock: Hashlock) => byHashlock.has(hashlock);
  // Calldata may be repeated in a memo: only a call of the contract by the funder funds.
  const canFund = (escrow: string) =>
    escrow.startsWith(`${called}:`) && known.get(escrow)?.watched.terms.refund.address === owner;
  const touches: Touch[] = callsIn(rawData, deployment, wanted)
    .filter(({ verb, escrow }) => known.has(escrow) && (verb !== 'fund' || canFund(escrow)))
    .map(({ verb, escrow, secret }) => ({ verb, escrow, secret }));
  const isOurs = called !== null && contractsOf(deployment).includes(called);
  const pays = isOurs ? fundedIn(rawData, deployment) : [];
  return { txid, raw, touches, payer: owner, pays };
}
