// A store whose secrets come of a phrase: another device finds lost ones again (restore.ts).

import { bytesToHex } from '@noble/hashes/utils.js';
import type { Network } from '@parley/core/families.ts';
import { type Hashlock, hashlockOf } from '@parley/core/hashlock.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { RescueError } from '../errors.ts';
import type { Store } from '../stores/store.ts';
import { locked } from '../waiting.ts';
import { draws, mostInSlot, type PhraseKeys, phraseKeys, slotSeconds } from './derive.ts';

export type PhraseStore = Store & {
  readonly keys: PhraseKeys;
  readonly now: () => UnixSeconds | Promise<UnixSeconds>;
  /** A hashlock that this phrase never offered before; its secret is kept when it resolves. */
  newHashlock(): Promise<Hashlock>;
};

export type PhraseStoreOptions = {
  /** Keys and secrets of one network are of no use on another. */
  readonly network: Network;
  /** The customer's own clock, as in `accept`: an agreement is refused where it is off. */
  readonly now: () => UnixSeconds | Promise<UnixSeconds>;
};

/** The years 2025 to 2100: a clock before was never set, one beyond counts milliseconds. */
const leastClock = 1_735_689_600;
const mostClock = 4_102_444_800;
const lockLimitMs = 10_000;

/**
 * Everything but new secrets is kept by `inner`. Throws RescueError `bad_phrase`; `newHashlock`
 * throws `clock_unset`, `too_fast`, and `store_busy` when another process holds the lock for 10 s.
 */
export async function deterministicStore(
  phrase: string,
  inner: Store,
  { network, now }: PhraseStoreOptions,
): Promise<PhraseStore> {
  return storeWith(await phraseKeys(phrase, network), inner, now);
}

/** The same with keys that are derived already. */
export function storeWith(
  keys: PhraseKeys,
  inner: Store,
  now: PhraseStoreOptions['now'],
): PhraseStore {
  const [drawn = 0] = crypto.getRandomValues(new Uint16Array(1));
  const draw = drawn % draws;
  const fresh = async (): Promise<Hashlock> => {
    const clock = await now();
    if (!(clock >= leastClock && clock < mostClock)) {
      const sentence = `the clock says ${clock}: Unix seconds from 2025 to 2100 are wanted`;
      throw new RescueError('clock_unset', sentence);
    }
    const slot = Math.floor(clock / slotSeconds);
    for (let nth = 0; nth < mostInSlot; nth += 1) {
      const secret = bytesToHex(keys.secretAt({ slot, draw, nth }));
      const hashlock = hashlockOf(secret);
      if ((await inner.getSecret(hashlock)) !== null) continue;
      await inner.putSecret(hashlock, secret);
      return hashlock;
    }
    const sentence = `${mostInSlot} secrets in ${slotSeconds} seconds: try again in ${slotSeconds}`;
    throw new RescueError('too_fast', sentence);
  };
  return {
    ...inner,
    keys,
    now,
    newHashlock: () => locked(inner, () => alone(inner, fresh)),
  };
}

/** Two tabs that drew the same would make the same secret at the same time. */
async function alone<T>(inner: Store, work: () => Promise<T>): Promise<T> {
  if (inner.lock === undefined) return work();
  const lock = await inner.lock('rescue phrase', AbortSignal.timeout(lockLimitMs));
  if (lock === null) {
    const sentence = `another process has held the store's lock for ${lockLimitMs / 1_000} seconds`;
    throw new RescueError('store_busy', sentence);
  }
  try {
    return await work();
  } finally {
    await lock.release();
  }
}
