// One run of a swap at a time, where the store has locks: two tabs or processes would fund twice.

import type { StoreLock } from '../stores/store.ts';
import type { Context } from './context.ts';

/** null: the store has no locks. Waits while another run has it; throws the signal's reason. */
export async function takeTurn(context: Context, signal: AbortSignal): Promise<StoreLock | null> {
  const { store, swapId, emit } = context;
  if (store.lock === undefined) return null;
  signal.throwIfAborted();
  const name = `settlement of ${swapId}`;
  const free = await store.lock(name, AbortSignal.abort());
  if (free !== null) return free;
  emit('elsewhere', null, 'another tab or process settles this swap: here it goes on after that');
  const lock = await store.lock(name, signal);
  if (lock === null) throw signal.reason;
  return lock;
}
