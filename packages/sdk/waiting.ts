// Waiting, with a limit: for a time, for work, and for one's place in a queue of this process.

import { unlessAborted } from '@parley/chains/nodes/sources.ts';

/** Resolves once the signal has aborted. */
export function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

/** Rejects with the signal's reason once it aborts: a later result of the work is dropped. */
export async function inTime<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return unlessAborted(work(), signal);
}

const lasts = new Map<unknown, Promise<unknown>>();

/** `late`: the work to do instead when the lock was not had within the limit. */
export type Patience<T> = { readonly limit: AbortSignal; readonly late: () => Promise<T> };

/** Begins when everything given before under this key has ended, however it did. */
export function locked<T>(key: unknown, work: () => Promise<T>, patience?: Patience<T>) {
  const before = lasts.get(key) ?? Promise.resolve();
  const begin = async (): Promise<T> => {
    if (patience === undefined) return before.then(work);
    const { limit, late } = patience;
    const came = before.then(() => true);
    return (await Promise.race([came, aborted(limit).then(() => false)])) ? work() : late();
  };
  const run = begin();
  // A caller that did not wait to the end is no reason for others not to.
  const ended = Promise.allSettled([before, run]);
  lasts.set(key, ended);
  void ended.then(() => {
    if (lasts.get(key) === ended) lasts.delete(key);
  });
  return run;
}

/** Each begins when the one before has ended, or its signal has aborted; late ones never begin. */
export function oneByOne() {
  const key = {};
  return <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> =>
    inTime(() => locked(key, () => inTime(work, signal)), signal);
}
