// Hashlocks that were given without keys. Each is for one thread: with a second swap the secret
// that opens the first opens both. No market is asked: it may be the one that gains by it.

import { join } from 'node:path';
import { Failure } from '../cli/failures.ts';
import { readUpTo, writePrivate } from '../cli/places.ts';
import { codeOf } from '../sdk/errors.ts';
import { Refusal } from './refusal.ts';

export type Hashlocks = {
  /** Throws Refusal `hashlock_used` where another thread has it. */
  check(hashlock: string, threadId: string): Promise<void>;
  /** The same, and it is this thread's from now on: on disk when it resolves. */
  take(hashlock: string, threadId: string): Promise<void>;
};

export function openHashlocks(folder: string): Hashlocks {
  const fileOf = (hashlock: string) => join(folder, hashlock);
  const check = async (hashlock: string, threadId: string) => {
    const owner = await readUpTo(fileOf(hashlock));
    if (owner === null || owner === threadId) return;
    const sentence = `the hashlock is of thread ${owner}: a secret opens one swap, so make another`;
    throw new Refusal('needs_you', 'hashlock_used', sentence, { threadId: owner });
  };
  return {
    check,
    take: async (hashlock, threadId) => {
      try {
        await writePrivate(fileOf(hashlock), threadId, { isNew: true });
      } catch (error) {
        if (!(error instanceof Failure) || codeOf(error) !== 'exists') throw error;
        await check(hashlock, threadId);
      }
    },
  };
}
