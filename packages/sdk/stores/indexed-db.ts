// A store in a browser: IndexedDB of the page's origin, and Web Locks, so that two tabs never act
// twice. It is lost with the browser's data: keep what brings it back elsewhere.

import { withResolvers } from '@parley/core/engines.ts';
import { StoreError } from '../errors.ts';
import type { Browser, Db, DbStore, Locks } from './browser.ts';
import { type Database, openDatabase } from './database.ts';
import { clockSlackMs, type Entries, type Folder, storeOver } from './entries.ts';
import type { Store, StoreLock, SwapNonces } from './store.ts';

const upgrades: readonly ((db: Db) => void)[] = [
  (db) => {
    const folders = ['secrets', 'trades', 'nonces'] satisfies Folder[];
    for (const folder of folders) db.createObjectStore(folder);
    db.createObjectStore('swaps' satisfies Folder).createIndex('keptAtMs', 'keptAtMs');
  },
];

export type StoreHealth = {
  /**
   * `persisted`: the browser deletes nothing unless a person does. `ephemeral`: a private window,
   * and all is lost with it. `unpromised`: the browser may delete all when room is short. Chromium
   * shows no private window as such: it is `unpromised` there.
   */
  readonly kept: 'persisted' | 'ephemeral' | 'unpromised';
  /**
   * Bytes of the whole origin, by the browser's word; null: it does not say. Chromium says that 10
   * GiB are left whatever the disk has.
   */
  readonly usedBytes: number | null;
  readonly leftBytes: number | null;
};

export type BrowserStore = Store &
  SwapNonces & {
    lock: NonNullable<Store['lock']>;
    health(): Promise<StoreHealth>;
    /** Calls fail from then on, but for locks that are held. */
    close(): void;
  };

/**
 * Throws StoreError: `unsupported` without Web Locks (they want https or localhost) or strict
 * durability, `blocked` by other tabs, `newer`, `full`, `failed`. Every call of the store may throw
 * one too. `name`: one for all tabs of a person.
 */
export async function indexedDbStore(name: string): Promise<BrowserStore> {
  const browser = globalThis as unknown as Browser;
  const locks = mustBeSafe(browser);
  let locksHeld = 0;
  const isBusy = () => locksHeld > 0;
  const database = await openDatabase(browser, { name, upgrades, isBusy });
  const { storage } = browser.navigator;
  let isAsked = false;
  const put: Entries['put'] = async (folder, name, next) => {
    // From the first entry on there is something to lose. Some browsers ask the person.
    if (!isAsked) storage.persist().catch(() => false);
    isAsked = true;
    await database.write(folder, name, (held) => {
      const text = next(held?.text ?? null);
      return text === null ? null : { text, keptAtMs: Date.now() };
    });
  };
  return {
    ...storeOver({
      get: textsOf(database),
      put,
      take: async (folder, key) => (await database.take(folder, key))?.text ?? null,
    }),
    swapIds: (sinceMs) =>
      database.read('swaps', (swaps) =>
        sinceMs === undefined ? swaps.getAllKeys() : keptSince(browser, swaps, sinceMs),
      ),
    lock: async (what, signal) => {
      database.mustBeOpen();
      const lock = await lockOf(locks, `parley ${name}: ${what}`, signal);
      if (lock === null) return null;
      locksHeld += 1;
      let isHeld = true;
      const release = async () => {
        await lock.release();
        if (isHeld) locksHeld -= 1;
        isHeld = false;
        database.giveWay();
      };
      try {
        // A newer version may have come while this one waited.
        database.mustBeOpen();
      } catch (error) {
        await release();
        throw error;
      }
      return { release };
    },
    health: async () => {
      const [isPersisted, isEphemeral, { usage = null, quota = null }] = await Promise.all([
        storage.persisted().catch(() => false),
        forgets(browser),
        storage.estimate().catch(() => ({ usage: undefined, quota: undefined })),
      ]);
      const kept = isEphemeral ? 'ephemeral' : isPersisted ? 'persisted' : 'unpromised';
      const isKnown = usage !== null && quota !== null;
      const leftBytes = isKnown ? Math.max(0, quota - usage) : null;
      return { kept, usedBytes: usage, leftBytes };
    },
    close: () => database.close(),
  };
}

function mustBeSafe({ navigator: { locks }, IDBTransaction }: Browser): Locks {
  if (locks === undefined) {
    const why = 'without Web Locks two tabs could act twice';
    throw new StoreError('unsupported', `${why}: open this page by https, in a current browser`);
  }
  if (IDBTransaction === undefined || !('durability' in IDBTransaction.prototype)) {
    const why = 'this browser does not say when a record is on disk (strict durability)';
    throw new StoreError('unsupported', `${why}: use a current one`);
  }
  return locks;
}

const textsOf =
  (database: Database): Entries['get'] =>
  async (folder, name) => {
    const entry = await database.read(folder, (entries) => entries.get(name));
    return entry === undefined ? null : String((entry as { text?: unknown }).text);
  };

function keptSince({ IDBKeyRange }: Browser, swaps: DbStore, sinceMs: number) {
  return swaps.index('keptAtMs').getAllKeys(IDBKeyRange.lowerBound(sinceMs - clockSlackMs));
}

/** null: another had it as the signal aborted. */
function lockOf(locks: Locks, name: string, signal: AbortSignal): Promise<StoreLock | null> {
  return new Promise((resolve, reject) => {
    const freed = withResolvers<void>();
    const how = signal.aborted ? { ifAvailable: true } : { signal };
    const ended = locks
      .request(name, how, async (lock) => {
        if (lock === null) return resolve(null);
        resolve({
          release: () => {
            freed.resolve();
            return ended;
          },
        });
        await freed.promise;
      })
      .catch((cause: unknown) => {
        if (signal.aborted) return resolve(null);
        reject(new StoreError('failed', `the lock "${name}" was not to be had`, { cause }));
      });
  });
}

/** Firefox and Safari refuse their file system in a private window. */
async function forgets({ navigator: { storage } }: Browser): Promise<boolean> {
  if (storage.getDirectory === undefined) return false;
  return storage.getDirectory().then(
    () => false,
    () => true,
  );
}
