// Transactions that a node is late with, asked for beside all reads: bounded, each with its own
// time.

import type { Rpc } from '../nodes/rpc.ts';
import { sleep } from '../nodes/turn.ts';
import { type Transaction, transactionOf, type Unreadable } from './node.ts';
import type { Watch } from './watch.ts';

/** A node may give a transaction this much later. It is asked again. */
const lateMs = 30_000;
/** No transaction comes near it. */
const mostBytes = 8 * 2 ** 20;

/** As the first node gives it that does; null where none did in that time. */
export function lateTransaction(
  watch: Pick<Watch, 'rpc' | 'late' | 'lateAsked' | 'closed'>,
  txid: string,
): Promise<Transaction | Unreadable | null> {
  const { late, lateAsked } = watch;
  const asked = lateAsked.get(txid) ?? late(() => askAll(watch, txid));
  lateAsked.set(txid, asked);
  return asked.finally(() => lateAsked.delete(txid));
}

async function askAll({ rpc, closed }: Pick<Watch, 'rpc' | 'closed'>, txid: string) {
  const soon = AbortSignal.any([closed.signal, AbortSignal.timeout(lateMs)]);
  const unreadable: Unreadable[] = [];
  const asked = Array.from({ length: rpc.sources }, async (_, at) => {
    const own = { attemptTimeoutMs: lateMs, mostBytes };
    const call: Rpc['call'] = (method, params, signal) => rpc.ask(at, method, params, signal, own);
    const given = await transactionOf({ ...rpc, call }, txid, soon);
    if (given !== null && 'read' in given) return given;
    // Another node may show it as it is.
    if (given !== null) unreadable.push(given);
    throw new Error('not given');
  });
  return Promise.any(asked).catch(() => unreadable[0] ?? null);
}

/** Whether it ended in that time; it goes on if not. */
export async function endsWithin(
  work: Promise<unknown>,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const late = sleep(ms, AbortSignal.any([signal, over.signal])).catch(() => {});
  try {
    return await Promise.race([work.then(() => true), late.then(() => false)]);
  } finally {
    over.abort();
  }
}
