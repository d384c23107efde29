// One IndexedDB database of entries by key. A write is answered when its transaction is complete
// on disk, and everything has a limit: other tabs, other versions and the browser itself interfere.

import { messageOf, StoreError } from '../errors.ts';
import type { Browser, Db, DbRequest, DbStore, DbTransaction } from './browser.ts';

/** For other tabs to let go of an older version. */
const openMs = 5_000;
/** For one transaction, those of other tabs before it included. */
const transactionMs = 30_000;

export type Entry = { readonly text: string; readonly keptAtMs: number };

/** `upgrades`: each brings the database to the next version, the first from nothing. */
export type Layout = {
  readonly name: string;
  readonly upgrades: readonly ((db: Db) => void)[];
  /** Whether a newer version must wait for this tab. */
  readonly isBusy: () => boolean;
};

export type Database = {
  read<T>(folder: string, ask: (entries: DbStore) => DbRequest<T>): Promise<T>;
  /** `next` gets the held entry; its null leaves that, and its error is thrown. */
  write(folder: string, key: string, next: (held: Entry | null) => Entry | null): Promise<void>;
  /** The entry, which is gone when it resolves: of several callers one gets it. */
  take(folder: string, key: string): Promise<Entry | null>;
  /** Throws where the database is not to be used any more. */
  mustBeOpen(): void;
  /** Lets go of the database if a newer version waits for it and nothing holds that up. */
  giveWay(): void;
  close(): void;
};

/** Throws StoreError. */
export async function openDatabase(browser: Browser, layout: Layout): Promise<Database> {
  const { name } = layout;
  const db = await over(name, () => opened(browser, layout));
  let ended: StoreError | null = null;
  let isAwaited = false;
  const end = (error: StoreError) => {
    ended ??= error;
    db.close();
  };
  const giveWay = () => {
    if (!isAwaited || layout.isBusy()) return;
    end(new StoreError('newer', `${newerOf(name)}: reload this page`));
  };
  // A page that would delete it waits until this tab is closed: a swap may need the entries.
  db.onversionchange = ({ newVersion }) => {
    isAwaited ||= newVersion !== null;
    giveWay();
  };
  db.onclose = () => {
    const sentence = `the browser has closed or deleted the store ${name}: it keeps nothing any more`;
    end(new StoreError('gone', `${sentence}. Leave this page open while a swap runs`));
  };
  const mustBeOpen = () => {
    if (ended !== null) throw ended;
  };
  const begin = (folder: string, mode: string): DbTransaction => {
    mustBeOpen();
    return db.transaction(folder, mode, { durability: 'strict' });
  };
  return {
    read: (folder, ask) =>
      over(name, async () => {
        const transaction = begin(folder, 'readonly');
        const request = ask(transaction.objectStore(folder));
        await completed(transaction);
        return request.result;
      }),
    write: (folder, key, next) =>
      over(name, async () => {
        const transaction = begin(folder, 'readwrite');
        const entries = transaction.objectStore(folder);
        let size = 0;
        let refused: { readonly why: unknown } | null = null;
        const held = entries.get(key);
        held.onsuccess = () => {
          try {
            const entry = next((held.result as Entry | undefined) ?? null);
            if (entry === null) return;
            size = entry.text.length;
            entries.put(entry, key);
          } catch (why) {
            refused = { why };
            transaction.abort();
          }
        };
        await completed(transaction).catch((error: unknown) => {
          if (refused !== null) throw new Refused(refused.why);
          throw (error as Error).name === 'QuotaExceededError' ? full(name, size, error) : error;
        });
      }),
    take: (folder, key) =>
      over(name, async () => {
        const transaction = begin(folder, 'readwrite');
        const entries = transaction.objectStore(folder);
        const held = entries.get(key);
        entries.delete(key);
        await completed(transaction);
        return (held.result as Entry | undefined) ?? null;
      }),
    mustBeOpen,
    giveWay,
    close: () => end(new StoreError('gone', `the store ${name} was closed by this page`)),
  };
}

const newerOf = (name: string) => `a newer version of this app has the store ${name}`;

function opened(browser: Browser, { name, upgrades }: Layout): Promise<Db> {
  return new Promise((resolve, reject) => {
    const indexedDB = databasesOf(browser);
    let isLate = false;
    const request = indexedDB.open(name, upgrades.length);
    const timer = setTimeout(() => {
      isLate = true;
      const why = 'another tab has it open in an older version, or it is being deleted';
      const what = `the store ${name} could not be opened within ${openMs} ms: ${why}`;
      reject(new StoreError('blocked', `${what}. Close the other tabs of this app, then reload`));
    }, openMs);
    request.onupgradeneeded = (event) => {
      for (const upgrade of upgrades.slice(event.oldVersion)) upgrade(request.result);
    };
    request.onsuccess = () => {
      clearTimeout(timer);
      // Left open it would hold up others, for nobody.
      if (isLate) request.result.close();
      else resolve(request.result);
    };
    request.onerror = () => {
      clearTimeout(timer);
      reject(request.error);
    };
  });
}

/** Where a person, or a private window, keeps a page from storing, to ask already throws. */
function databasesOf(browser: Browser): NonNullable<Browser['indexedDB']> {
  let cause: unknown;
  try {
    if (browser.indexedDB !== undefined) return browser.indexedDB;
  } catch (error) {
    cause = error;
  }
  const sentence = 'this browser keeps IndexedDB from this page: the page can keep nothing';
  throw new StoreError('unsupported', sentence, { cause });
}

function completed(transaction: DbTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`no answer within ${transactionMs} ms`));
      try {
        transaction.abort();
      } catch {
        // It is being committed: a write that was reported as failed may be kept.
      }
    }, transactionMs);
    transaction.oncomplete = () => {
      clearTimeout(timer);
      resolve();
    };
    transaction.onabort = () => {
      clearTimeout(timer);
      reject(transaction.error ?? new Error('the transaction was aborted'));
    };
  });
}

/** The error of the caller's own rule, as it is. */
class Refused {
  readonly why: unknown;

  constructor(why: unknown) {
    this.why = why;
  }
}

async function over<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) throw error.why;
    if (error instanceof StoreError) throw error;
    const { name: kind } = error as Error;
    if (kind === 'VersionError') throw new StoreError('newer', newerOf(name), { cause: error });
    const sentence = `the store ${name} failed: ${messageOf(error)}`;
    throw new StoreError('failed', sentence, { cause: error });
  }
}

function full(name: string, size: number, cause: unknown): StoreError {
  const sentence = `the browser has no room for ${size} characters more in the store ${name}`;
  return new StoreError('full', `${sentence}: they are not kept, what was there is`, { cause });
}
