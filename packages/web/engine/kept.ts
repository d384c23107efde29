// The app's storage beside the SDK's: the phrase, own nodes, accepted agreements. In IndexedDB of
// the page's origin, each entry on disk before it counts.

import type { Browser } from '@parley/sdk/stores/browser.ts';
import { openDatabase } from '@parley/sdk/stores/database.ts';

export type Kept = {
  /** null: the place is empty. */
  get(key: string): Promise<string | null>;
  /**
   * `next` gets the value there; null empties it. If it throws, the error passes on and the value
   * stays.
   */
  change(key: string, next: (held: string | null) => string | null): Promise<void>;
};

const folder = 'kept';

/** Throws StoreError, as does each call. `name`: one for all tabs of a person. */
export async function indexedDbKept(name: string): Promise<Kept> {
  const browser = globalThis as unknown as Browser;
  const upgrades = [
    (db: { createObjectStore(name: string): unknown }) => void db.createObjectStore(folder),
  ];
  const database = await openDatabase(browser, { name, upgrades, isBusy: () => false });
  // No entry is ever deleted, so that a write is one transaction: an empty text is none.
  const textOf = (held: unknown) => {
    const { text = '' } = (held ?? {}) as { readonly text?: string };
    return text === '' ? null : text;
  };
  return {
    get: async (key) => textOf(await database.read(folder, (entries) => entries.get(key))),
    change: (key, next) =>
      database.write(folder, key, (held) => ({
        text: next(textOf(held)) ?? '',
        keptAtMs: Date.now(),
      })),
  };
}

/** For tests, and for a page that may keep nothing. */
export function memoryKept(): Kept {
  const all = new Map<string, string>();
  return {
    get: async (key) => all.get(key) ?? null,
    change: async (key, next) => {
      const text = next(all.get(key) ?? null);
      if (text === null) all.delete(key);
      else all.set(key, text);
    },
  };
}
