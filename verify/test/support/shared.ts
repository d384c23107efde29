// Things that the test files of one process share, such as a market: made when the first of them
// asks for it, ended when the last one is done. A file that runs by itself has it alone.

import { after } from 'node:test';
import { apart } from '../runner/usage.ts';

/**
 * `take` is called where a file begins, before any test runs; its result gives the shared thing,
 * and is for `before`. The first who asks says from what it is made. `leave`: a file's work on it
 * at its end.
 */
export function shared<T, From extends unknown[]>(
  make: (...from: From) => Promise<T>,
  end: (made: T) => Promise<unknown>,
): (leave?: () => Promise<unknown>) => (...from: From) => Promise<T> {
  let users = 0;
  let made: Promise<T> | null = null;
  const release = async () => {
    users -= 1;
    if (users > 0 || made === null) return;
    const ended = made;
    made = null;
    // Its processes are counted as they end: the last file has no more to do with it than others.
    await apart('what files share: markets and browsers', async () => end(await ended));
  };
  return function take(leave = async () => {}) {
    users += 1;
    // One hook: after one that fails none is run.
    after(() => leave().finally(release));
    return (...from) => {
      made ??= make(...from);
      return made;
    };
  };
}
