// What an Esplora server does not tell of a transaction that waits for a block: since when it does,
// and what of that which it spends waits too. The first is remembered, the second asked for.

import type { Ancestors, Conflict } from './fees.ts';

/** Far more than wait at once; some 2 MB. */
export const mostRemembered = 10_000;
/** Transactions asked for in one look at ancestors: no mempool takes longer chains (Core: 25). */
export const mostAncestorsAsked = 25;

export type WaitingTx = {
  readonly txid: string;
  readonly fee: number;
  readonly weight: number;
  readonly vin: readonly { readonly txid: string }[];
  readonly status: { readonly confirmed: boolean };
};

/** Null: the server does not have it. */
export type ReadTx = (txid: string, signal: AbortSignal) => Promise<WaitingTx | null>;

/** When each was seen the first time, Unix seconds; those not seen for long are forgotten. */
export type FirstSeen = { of(txid: string): number };

export function firstSeen(now: () => number, most = mostRemembered): FirstSeen {
  const seen = new Map<string, number>();
  return {
    of: (txid) => {
      const since = seen.get(txid) ?? now();
      seen.delete(txid);
      seen.set(txid, since);
      const [oldest] = seen.keys();
      if (seen.size > most && oldest !== undefined) seen.delete(oldest);
      return since;
    },
  };
}

const vsizeOf = ({ weight }: WaitingTx) => Math.ceil(weight / 4);

export async function waitingEntry(
  read: ReadTx,
  seen: FirstSeen,
  txid: string,
  signal: AbortSignal,
): Promise<Conflict | null> {
  const tx = await read(txid, signal);
  if (tx === null || tx.status.confirmed) return null;
  const feeSats = BigInt(tx.fee);
  const since = seen.of(txid);
  return { txid, vsize: vsizeOf(tx), feeSats, withDescendantsFeeSats: feeSats, since };
}

/** It and every unconfirmed transaction below it, as far as `mostAncestorsAsked` goes. */
export async function ancestorsOf(
  read: ReadTx,
  txid: string,
  signal: AbortSignal,
): Promise<Ancestors> {
  const queue = [txid];
  const asked = new Set(queue);
  let withAncestorsFeeSats = 0n;
  let withAncestorsVsize = 0;
  let isWhole = true;
  for (const [at, each] of queue.entries()) {
    // One more for the transaction itself, which is known to wait.
    if (at > mostAncestorsAsked) {
      isWhole = false;
      break;
    }
    const tx = await read(each, signal);
    if (tx === null) isWhole = false;
    if (tx === null || tx.status.confirmed) continue;
    withAncestorsFeeSats += BigInt(tx.fee);
    withAncestorsVsize += vsizeOf(tx);
    for (const { txid: parent } of tx.vin) {
      if (asked.has(parent)) continue;
      asked.add(parent);
      queue.push(parent);
    }
  }
  return { withAncestorsFeeSats, withAncestorsVsize, isWhole };
}
