// What one account does one thing at a time in this process, however many wallet objects, stores
// and settlements there are for it.

import type { Family } from '../../core/families.ts';

const lasts = new Map<string, Promise<unknown>>();

/** Begins when everything given before under this key has ended, however it did. */
export function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const run = (lasts.get(key) ?? Promise.resolve()).then(work);
  const ended = run.then(
    () => {},
    () => {},
  );
  lasts.set(key, ended);
  void ended.then(() => {
    if (lasts.get(key) === ended) lasts.delete(key);
  });
  return run;
}

/** One account of one chain, whichever way its address is spelt. */
export function accountKey(chain: string, family: Family, address: string): string {
  return `${chain} ${family === 'evm' ? address.toLowerCase() : address}`;
}
