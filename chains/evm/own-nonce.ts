// A gas key's nonce by all nodes: one alone could leave a nonce behind, or count a transaction
// lost.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Rpc } from '../nodes/rpc.ts';
import { transactionCount } from './node.ts';

/** Once one has answered the others have so long: a node that hangs holds up no signature. */
const usualOthersMs = 400;

export type Expected = {
  /** Above it what one node says is not believed while another may still answer. */
  readonly most: number;
  readonly othersMs?: number;
  readonly answerMs?: number;
  readonly at?: 'latest' | 'pending';
};

function askingAll(
  rpc: Rpc,
  own: string,
  { at, answerMs }: { readonly at: 'latest' | 'pending'; readonly answerMs?: number | undefined },
  signal: AbortSignal,
): Promise<number>[] {
  return Array.from({ length: rpc.sources }, (_, source) => {
    const call: Rpc['call'] = (method, params, until, limits) => {
      const own = answerMs === undefined ? limits : { ...limits, attemptTimeoutMs: answerMs };
      return rpc.ask(source, method, params, until, own);
    };
    return transactionCount({ ...rpc, call }, own, signal, at);
  });
}

/** What each node that answers counts, with what waits in its mempool; the lowest first. */
export async function pendingCounts(
  rpc: Rpc,
  own: string,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const asked = await Promise.allSettled(askingAll(rpc, own, { at: 'pending' }, signal));
  signal.throwIfAborted();
  const said = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  return said.toSorted((one, other) => one - other);
}

/** What more than half of the nodes say. Above `most` a second answer is waited for. */
export async function countByAll(
  rpc: Rpc,
  own: string,
  { most, othersMs = usualOthersMs, answerMs, at = 'latest' }: Expected,
  signal: AbortSignal,
): Promise<number> {
  if (rpc.sources < 2) return transactionCount(rpc, own, signal, at);
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const asking = askingAll(rpc, own, { at, answerMs }, until);
  const said: number[] = [];
  const second = Promise.withResolvers<void>();
  const hear = (count: number) => {
    if (said.push(count) === 2) second.resolve();
  };
  const all = Promise.all(asking.map((each) => each.then(hear, () => {})));
  const believed = () => said.toSorted((one, other) => one - other)[(said.length - 1) >> 1] ?? 0;
  const isOne = () => said.length === 1;
  try {
    // None answered: ask again as a plain call does, which says why.
    await Promise.any(asking).catch(() => {});
    if (said.length === 0) return await transactionCount(rpc, own, signal, at);
    await Promise.race([all, sleep(othersMs, undefined, { signal: until }).catch(() => {})]);
    if (isOne() && believed() > most) {
      await Promise.race([all, second.promise]);
      if (isOne() && signal.aborted) {
        return await transactionCount(rpc, own, signal, at);
      }
    }
    return believed();
  } finally {
    over.abort();
  }
}
