// The customer's store as one settlement has it. Until the secret is public it is strict: what is
// not on disk is not sent, and what cannot be read is not guessed. From then on only haste helps,
// and a disk that is full, gone or silent stops no claim: the record stays in memory, that is said,
// and it is written once the store works again. The same goes for the refund of one's own leg.

import type { Store, SwapRecord } from '../stores/store.ts';
import type { ProgressStep } from './context.ts';

export type KeptStore = Store & {
  /** Keeps what was seen in public, whatever the store does with it. */
  putSeen(record: SwapRecord): Promise<void>;
  /** Tries again to write what the store did not take. */
  writeAgain(): Promise<void>;
};

export type Keeping = {
  readonly store: Store;
  readonly swapId: string;
  /** How long a write or a read is waited for where nothing may wait for the store. */
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly tell: (step: ProgressStep, leg: null, text: string) => void;
};

/** What no write has taken yet: whoever has the same store in this process reads it here. */
const unwritten = new WeakMap<Store, Map<string, SwapRecord>>();

function unwrittenOf(store: Store): Map<string, SwapRecord> {
  const found = unwritten.get(store) ?? new Map<string, SwapRecord>();
  unwritten.set(store, found);
  return found;
}

export function keptStore({ store, swapId, limitMs, signal, tell }: Keeping): KeptStore {
  let latest: SwapRecord | null = null;
  /** A call that was not answered in time: until it is, no other is made. */
  let hanging: Promise<unknown> | null = null;
  let isBehind = false;
  /** A write failed, and may have been done all the same: then what is there counts at once. */
  let isDoubted = false;

  const inTime = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (hanging !== null) throw new Error('it has not answered yet');
    const call = ask();
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      hanging = call
        .catch(() => {})
        .finally(() => {
          hanging = null;
        });
      late.reject(new Error(`no answer within ${limitMs} ms`));
    }, limitMs);
    try {
      return await Promise.race([call, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
  const failed = (what: string, error: unknown) => {
    signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    tell('store', null, `${what}: ${why}`);
  };
  const isUrgent = () => latest !== null && mayGoUnwritten(latest, latest);
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
    if (isBehind) tell('store', null, 'the record is in the store again');
    isBehind = false;
  };
  const putAnyway = async (record: SwapRecord) => {
    latest = record;
    unwrittenOf(store).set(swapId, record);
    await writeAgain();
  };
  const readAnew = async (known: SwapRecord) => {
    try {
      latest = (await inTime(() => store.getSwap(swapId))) ?? known;
      isDoubted = false;
    } catch (error) {
      failed('whether the last write was done is not known', error);
    }
    return latest;
  };
  return {
    putSecret: (hashlock, secret) => store.putSecret(hashlock, secret),
    getSecret: (hashlock) => store.getSecret(hashlock),
    putTrade: (trade) => store.putTrade(trade),
    getTrade: (threadId) => store.getTrade(threadId),
    putSwap: async (record) => {
      if (latest !== null && mayGoUnwritten(latest, record)) return putAnyway(record);
      try {
        await store.putSwap(record);
      } catch (error) {
        isDoubted = true;
        throw error;
      }
      latest = record;
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
      if (id === swapId && latest !== null) return isDoubted ? readAnew(latest) : latest;
      const held = unwrittenOf(store).get(id);
      const found =
        held ?? (await (isUrgent() ? inTime(() => store.getSwap(id)) : store.getSwap(id)));
      if (id === swapId) latest = found;
      return found;
    },
    swapIds: async (sinceMs) => {
      const withHeld = (ids: readonly string[]) => [
        ...new Set([...ids, ...unwrittenOf(store).keys()]),
      ];
      if (!isUrgent()) return withHeld(await store.swapIds(sinceMs));
      try {
        return withHeld(await inTime(() => store.swapIds(sinceMs)));
      } catch (error) {
        failed('nonces are chosen without what the store keeps', error);
        return withHeld([swapId]);
      }
    },
    // Its own waits have a limit, and say what they are for.
    ...(store.lock === undefined ? {} : { lock: (name, until) => lockOf(store, name, until) }),
    writeAgain,
  };
}

const lockOf = async (store: Store, name: string, until: AbortSignal) =>
  (await store.lock?.(name, until)) ?? null;

/** With the secret public only the chain may refuse; a refund made twice harms nobody. */
function mayGoUnwritten(before: SwapRecord, next: SwapRecord): boolean {
  return before.publicSecret !== null || before.refund !== null || next.refund !== null;
}
