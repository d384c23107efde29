// What one account does one thing at a time in this process.

import type { Family } from '../../core/families.ts';

const lasts = new Map<string, Promise<unknown>>();

export type Patience<T> = { readonly limit: AbortSignal; readonly late: () => Promise<T> };

/** Begins when everything given before under this key has ended, however it did. */
export function locked<T>(key: string, work: () => Promise<T>, patience?: Patience<T>): Promise<T> {
  const before = lasts.get(key) ?? Promise.resolve();
  const run = patience === undefined ? before.then(work) : withPatience(before, work, patience);
  // Who did not wait to the end is no reason for others not to.
  const ended = Promise.allSettled([before, run]);
  lasts.set(key, ended);
  void ended.then(() => {
    if (lasts.get(key) === ended) lasts.delete(key);
  });
  return run;
}

async function withPatience<T>(
  before: Promise<unknown>,
  work: () => Promise<T>,
  { limit, late }: Patience<T>,
): Promise<T> {
  const came = before.then(() => true);
  return (await Promise.race([came, aborted(limit).then(() => false)])) ? work() : late();
}

/** Resolves once the signal has aborted. */
export function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

/** One account of one chain, whichever way its address is spelt. */
export function accountKey(chain: string, family: Family, address: string): string {
  return `${chain} ${family === 'evm' ? address.toLowerCase() : address}`;
}
