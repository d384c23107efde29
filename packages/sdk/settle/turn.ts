// One run of a swap at a time, where the store has locks: two tabs or processes would fund twice.
// An act that two may do does not wait long for the lock: a holder may be frozen, and hold it all
// the same.

import { sleep } from '@parley/chains/nodes/turn.ts';
import type { StoreLock } from '../stores/store.ts';
import type { Context } from './context.ts';

/** For so long a public claim or a refund may be open while another run has the swap. */
const patienceSeconds = 300;
/** Pauses between polls, from one look of a run that waits to the next. */
const pausesBetween = 15;

/**
 * Waits while another run has the swap. null: the store has no locks, or `isOpen` was so for five
 * minutes. `isOpen`: a claim with a public secret, or a refund, is undone. Throws the signal's
 * reason.
 */
export async function takeTurn(
  context: Context,
  signal: AbortSignal,
  isOpen: () => Promise<boolean>,
): Promise<StoreLock | null> {
  const { store, swapId, emit } = context;
  if (store.lock === undefined) return null;
  signal.throwIfAborted();
  const name = `settlement of ${swapId}`;
  const free = await store.lock(name, AbortSignal.abort());
  if (free !== null) return free;
  emit('elsewhere', null, 'another tab or process settles this swap: here it goes on after that');
  const over = new AbortController();
  const waiting = store.lock(name, AbortSignal.any([signal, over.signal]));
  const had = waiting.then((lock) => lock ?? never());
  const left = untilLeft(context, AbortSignal.any([signal, over.signal]), isOpen);
  try {
    return await Promise.race([had, left]);
  } finally {
    over.abort(new Error('it has its turn'));
    left.catch(() => {});
    signal.throwIfAborted();
  }
}

const never = () => new Promise<never>(() => {});

async function untilLeft(
  context: Context,
  signal: AbortSignal,
  isOpen: () => Promise<boolean>,
): Promise<null> {
  let since: number | null = null;
  for (;;) {
    await sleep(context.pollMs * pausesBetween, signal);
    const isStill = await isOpen().catch(() => null);
    signal.throwIfAborted();
    // A chain that is silent now says nothing of what was open.
    if (isStill === null) continue;
    const now = await context.now();
    since = isStill ? (since ?? now) : null;
    // A clock that was set back makes no wait longer.
    if (since === null || Math.abs(now - since) < patienceSeconds) continue;
    const what = 'a step was open for five minutes, and the other run did not take it';
    context.emit('elsewhere', null, `${what}: it is done here`);
    return null;
  }
}
