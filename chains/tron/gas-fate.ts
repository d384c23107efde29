// What became of a gas key's transaction. One that failed is in a block: its receipt says so.

import type { GasFate, GasTransaction, Paid } from '../gas/account.ts';
import { paidByAll } from '../gas/paid.ts';
import { foundBySome, oneSource } from '../nodes/sources.ts';
import type { Http } from './http.ts';
import { burntBy, headBlock, infoOf, knows } from './node.ts';

export async function fateOf(
  http: Http,
  { txid, diesAt }: Pick<GasTransaction, 'txid' | 'diesAt'>,
  signal: AbortSignal,
): Promise<GasFate> {
  const seen = await fateSeen(http, txid, signal);
  if (seen !== null) return seen;
  // A solid block as late as the expiration: no later block takes the transaction.
  const { timestampMs } = await headBlock(http, 'solid', signal);
  if (diesAt === null || timestampMs < diesAt * 1_000) {
    return (await knows(http, txid, signal)) ? 'pending' : 'unknown';
  }
  // Of several nodes the one that was asked may be behind.
  return (await foundBySome(http, (one: Http) => fateSeen(one, txid, signal), signal)) ?? 'gone';
}

async function fateSeen(http: Http, txid: string, signal: AbortSignal): Promise<GasFate | null> {
  const solid = await infoOf(http, txid, 'solid', signal);
  if (solid !== null) return solid.succeeded ? 'deep' : 'failed';
  const head = await infoOf(http, txid, 'head', signal);
  if (head !== null) return head.succeeded ? 'mined' : 'failed';
  return null;
}

export function paidFor(http: Http, txid: string, signal: AbortSignal): Promise<Paid | null> {
  const ask = (at: number, until: AbortSignal) => burntBy(oneSource(http, at), txid, until);
  return paidByAll(http.sources, ask, signal);
}
