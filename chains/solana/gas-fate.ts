// What became of a transaction of an operator's gas key, and what it has cost.

import type { GasFate, GasTransaction, Paid } from '../gas/account.ts';
import { paidByAll } from '../gas/paid.ts';
import type { Rpc } from '../nodes/rpc.ts';
import { foundBySome, oneSource } from '../nodes/sources.ts';
import { chainClock, heldIn, statusOf, transactionOf } from './node.ts';

export async function fateOf(
  rpc: Rpc,
  { txid, diesAt }: Pick<GasTransaction, 'txid' | 'diesAt'>,
  signal: AbortSignal,
): Promise<GasFate> {
  const seen = await fateSeen(rpc, txid, signal);
  if (seen !== null) return seen;
  // Nodes tell of no transaction that waits.
  if (diesAt === null || (await chainClock(rpc, signal, 'finalized')) < diesAt) return 'unknown';
  // Of several nodes the one that was asked may be behind, or keep no history.
  return (await foundBySome(rpc, (one: Rpc) => fateSeen(one, txid, signal), signal)) ?? 'gone';
}

async function fateSeen(rpc: Rpc, txid: string, signal: AbortSignal): Promise<GasFate | null> {
  const status = await statusOf(rpc, txid, signal);
  if (status === null) return null;
  if (status.failed) return 'failed';
  return status.finalized ? 'deep' : 'mined';
}

/** Lamports that left the payer's account, fee and rents, by every node. */
export function paidFor(
  rpc: Rpc,
  own: string,
  txid: string,
  signal: AbortSignal,
): Promise<Paid | null> {
  const ask = async (at: number, until: AbortSignal) => {
    const transaction = await transactionOf(oneSource(rpc, at), txid, until);
    if (transaction === null || !('read' in transaction)) return null;
    const held = heldIn(transaction, own, false);
    return held === null || held.after > held.before ? null : held.before - held.after;
  };
  return paidByAll(rpc.sources, ask, signal);
}
