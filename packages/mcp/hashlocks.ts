// Hashlocks that were given without keys. Each is for one thread: with a second swap the secret
// that opens the first opens both. No market is asked: it may be the one that gains by it.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateFolder } from '@parley/host/private-file.ts';
import { codeOf } from '@parley/sdk/errors.ts';
import { Failure } from '@parley/trader/failures.ts';
import { readUpTo, writePrivate } from '@parley/trader/places.ts';
import { Refusal } from './refusal.ts';

export type Hashlocks = {
  /** Throws Refusal `hashlock_used` where another thread has it, `too_many_hashlocks`. */
  check(hashlock: string, threadId: string): Promise<void>;
  /** The same, and it is this thread's from now on: on disk when it resolves. */
  take(hashlock: string, threadId: string): Promise<void>;
};

/**
 * Entries are never removed: the use of a hashlock stays true for ever. So many are 13 years of 20
 * swaps a day, and a folder that a look still reads in milliseconds.
 */
const mostHashlocks = 100_000;
/** An id has 64 at most. */
const mostOwnerBytes = 256;

/** `most`: a test has fewer. */
export function openHashlocks(folder: string, most = mostHashlocks): Hashlocks {
  const fileOf = (hashlock: string) => join(folder, hashlock);
  const mustHaveRoom = async () => {
    await makePrivateFolder(folder);
    const { length: kept } = await readdir(folder);
    if (kept < most) return;
    const sentence = `${folder} keeps ${kept} hashlocks, as many as may be: use another profile`;
    throw new Refusal('local', 'too_many_hashlocks', sentence, { kept, most });
  };
  const check = async (hashlock: string, threadId: string) => {
    const owner = await readUpTo(fileOf(hashlock), mostOwnerBytes);
    if (owner === null) return mustHaveRoom();
    if (owner === threadId) return;
    const sentence = `the hashlock is of thread ${owner}: a secret opens one swap, so make another`;
    throw new Refusal('needs_you', 'hashlock_used', sentence, { threadId: owner });
  };
  return {
    check,
    take: async (hashlock, threadId) => {
      await check(hashlock, threadId);
      try {
        await writePrivate(fileOf(hashlock), threadId, { isNew: true });
      } catch (error) {
        if (!(error instanceof Failure) || codeOf(error) !== 'exists') throw error;
        await check(hashlock, threadId);
      }
    },
  };
}
