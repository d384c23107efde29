// The customer's store as one settlement has it. A transaction that is not on disk is not sent,
// until the secret is public or a refund is due: then a silent or full disk stops nothing.

import { withResolvers } from '@parley/core/engines.ts';
import { messageOf } from '../errors.ts';
import { type Store, type SwapNonces, type SwapRecord, writeKept } from '../stores/store.ts';

/** The store gave no answer in time: whether it has done what it was asked is not known. */
export class StoreSilent extends Error {}

export type KeptStore = Omit<Store, 'swapIds'> & {
  /** The record of this settlement, as it was kept last; null before there is any. */
  latest(): SwapRecord | null;
  /** `isUrgent`: for what waits for no store. */
  swapIds(sinceMs?: number, isUrgent?: boolean): Promise<string[]>;
  /** `still` is asked after writing, and unless it resolves all is as before. */
  putTelling(record: SwapRecord, before: SwapRecord, still: () => Promise<void>): Promise<void>;
  /** Keeps what was seen in public, whatever the store does with it. */
  putSeen(record: SwapRecord): Promise<void>;
  /** Tries again to write what the store did not take. */
  writeAgain(): Promise<void>;
};

export type Keeping = {
  readonly store: Store;
  readonly swapId: string;
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly emit: (step: 'store', leg: null, text: string) => void;
};

/**
 * Records that no write has taken yet: others with the same store in this process read them here.
 */
const unwritten = new WeakMap<Store, Map<string, SwapRecord>>();

function unwrittenOf(store: Store): Map<string, SwapRecord> {
  const found = unwritten.get(store) ?? new Map<string, SwapRecord>();
  unwritten.set(store, found);
  return found;
}

export function keptStore({ store, swapId, limitMs, signal, emit }: Keeping): KeptStore {
  let latest: SwapRecord | null = null;
  /** Calls that were not answered in time: until they are, no other is made. */
  let hanging = 0;
  let isBehind = false;
  let isSilent = false;
  /**
   * A write that failed, or was taken back, may be there all the same. Its transaction was not
   * sent.
   */
  let isDoubted = false;

  const inTime = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (hanging > 0) throw new StoreSilent('it has not answered yet');
    const call = ask();
    const late = withResolvers<never>();
    const timer = setTimeout(() => {
      hanging += 1;
      const answered = () => {
        hanging -= 1;
      };
      call.then(answered, answered);
      late.reject(new StoreSilent(`no answer within ${Math.ceil(limitMs)} ms`));
    }, limitMs);
    try {
      return await Promise.race([call, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
  const failed = (what: string, error: unknown) => {
    signal?.throwIfAborted();
    emit('store', null, `${what}: ${messageOf(error)}`);
  };
  const strictly = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      const answer = await inTime(ask);
      if (isSilent) emit('store', null, 'the store answers again');
      isSilent = false;
      return answer;
    } catch (error) {
      isSilent ||= error instanceof StoreSilent;
      if (error instanceof StoreSilent) failed('the store is silent', error);
      throw error;
    }
  };
  const putStrictly = async (record: SwapRecord) => {
    try {
      await strictly(() => store.putSwap(record));
    } catch (error) {
      // One that is told as failed may have been done.
      const found = await inTime(() => store.getSwap(swapId)).catch(() => null);
      if (!isSame(found, record)) {
        isDoubted = !isSame(found, latest);
        throw error;
      }
    }
    // An older one must not be written over it.
    unwrittenOf(store).delete(swapId);
    latest = record;
    isDoubted = false;
  };
  /** For a restart, which can ask nobody whether it was sent. */
  const restore = async () => {
    const record = latest;
    if (!isDoubted || record === null) return;
    try {
      await inTime(() => store.putSwap(record));
      isDoubted = false;
    } catch (error) {
      failed('the store may hold what was not sent', error);
    }
  };
  const isUrgentNow = () => latest !== null && mayGoUnwritten(latest, latest);
  const writeAgain = async () => {
    const record = unwrittenOf(store).get(swapId);
    if (record === undefined) return;
    try {
      await inTime(() => store.putSwap(record));
    } catch (error) {
      isBehind = true;
      return failed('the record is in memory alone, and lost with this process', error);
    }
    if (unwrittenOf(store).get(swapId) === record) unwrittenOf(store).delete(swapId);
    if (isBehind) emit('store', null, 'the record is in the store again');
    isBehind = false;
  };
  const putAnyway = async (record: SwapRecord) => {
    latest = record;
    isDoubted = false;
    unwrittenOf(store).set(swapId, record);
    await writeAgain();
  };
  return {
    latest: () => latest,
    putSecret: (hashlock, secret) => strictly(() => store.putSecret(hashlock, secret)),
    getSecret: (hashlock) => strictly(() => store.getSecret(hashlock)),
    putTrade: (trade) => strictly(() => store.putTrade(trade)),
    getTrade: (threadId) => strictly(() => store.getTrade(threadId)),
    putSwap: async (record) => {
      if (latest !== null && mayGoUnwritten(latest, record)) return putAnyway(record);
      await putStrictly(record);
    },
    putTelling: async (record, before, still) => {
      // A store that hangs is met here, while all that it can hold is undecided.
      await putStrictly(before);
      await putStrictly(record);
      try {
        await still();
      } catch (error) {
        latest = before;
        isDoubted = true;
        await restore();
        throw error;
      }
    },
    putSeen: async (record) => {
      const { publicSecret: secret, swap } = record;
      await putAnyway(record);
      if (secret === null) return;
      try {
        await inTime(() => store.putSecret(swap.hashlock, secret));
      } catch (error) {
        failed('the secret is in the record of its swap alone', error);
      }
    },
    getSwap: async (id) => {
      if (id === swapId && latest !== null) return latest;
      const held = unwrittenOf(store).get(id);
      const asked = isUrgentNow() ? inTime : strictly;
      const kept = held ?? (await asked(() => store.getSwap(id)));
      if (id === swapId) latest = kept;
      return kept;
    },
    swapIds: async (sinceMs, isUrgent = isUrgentNow()) => {
      const withHeld = (ids: readonly string[]) => [
        ...new Set([...ids, ...unwrittenOf(store).keys()]),
      ];
      if (!isUrgent) return withHeld(await strictly(() => store.swapIds(sinceMs)));
      try {
        return withHeld(await inTime(() => store.swapIds(sinceMs)));
      } catch (error) {
        failed('nonces are chosen without what the store keeps', error);
        return withHeld([swapId]);
      }
    },
    // A nonce must not sign unless it is gone from the disk for certain.
    ...noncesOf(store, strictly),
    // Its own waits have a limit, and say what they are for.
    ...(store.lock === undefined ? {} : { lock: (name, until) => lockOf(store, name, until) }),
    writeAgain: async () => {
      await restore();
      await writeAgain();
    },
  };
}

function isSame(one: SwapRecord | null, other: SwapRecord | null): boolean {
  return one === other || (one !== null && other !== null && writeKept(one) === writeKept(other));
}

type Strictly = <T>(ask: () => Promise<T>) => Promise<T>;

function noncesOf(store: Store, strictly: Strictly): Partial<SwapNonces> {
  const { putNonces, takeNonces } = store;
  if (putNonces === undefined || takeNonces === undefined) return {};
  return {
    putNonces: (id, nonces) => strictly(() => putNonces.call(store, id, nonces)),
    takeNonces: (id) => strictly(() => takeNonces.call(store, id)),
  };
}

const lockOf = async (store: Store, name: string, until: AbortSignal) =>
  (await store.lock?.(name, until)) ?? null;

/**
 * With the secret public only the chain may refuse; a refund made twice harms nobody. A run that
 * forgot its word to give up could show its secret.
 */
function mayGoUnwritten(before: SwapRecord, next: SwapRecord): boolean {
  if (before.givenUp !== next.givenUp && before.publicSecret === null) return false;
  return before.publicSecret !== null || before.refund !== null || next.refund !== null;
}
