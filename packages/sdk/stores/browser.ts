// The parts of a browser that the store uses. The types of lib.dom would make every global of a
// page known to the whole repository.

type Handler = (() => void) | null;

export type DbRequest<T = unknown> = {
  readonly result: T;
  readonly error: Error | null;
  onsuccess: Handler;
  onerror: Handler;
};
export type DbOpening = DbRequest<Db> & {
  onupgradeneeded: ((event: { readonly oldVersion: number }) => void) | null;
};

export type DbRange = object;
export type DbStore = {
  get(key: string): DbRequest;
  put(value: unknown, key: string): DbRequest;
  delete(key: string): DbRequest;
  createIndex(name: string, path: string): void;
  index(name: string): { getAllKeys(range: DbRange): DbRequest<string[]> };
  getAllKeys(): DbRequest<string[]>;
};

export type DbTransaction = {
  readonly error: Error | null;
  readonly durability?: string;
  oncomplete: Handler;
  onabort: Handler;
  objectStore(name: string): DbStore;
  abort(): void;
};

export type Db = {
  onclose: Handler;
  onversionchange: ((event: { readonly newVersion: number | null }) => void) | null;
  createObjectStore(name: string): DbStore;
  transaction(name: string, mode: string, options: { durability: string }): DbTransaction;
  close(): void;
};

export type Locks = {
  /** Holds the lock until what `held` returned is settled; null: `ifAvailable` found it taken. */
  request(
    name: string,
    options: { readonly signal?: AbortSignal; readonly ifAvailable?: boolean },
    held: (lock: object | null) => Promise<void>,
  ): Promise<void>;
};

export type Storage = {
  persist(): Promise<boolean>;
  persisted(): Promise<boolean>;
  estimate(): Promise<{ readonly usage?: number; readonly quota?: number }>;
  getDirectory?(): Promise<unknown>;
};

export type Browser = {
  readonly indexedDB?: { open(name: string, version: number): DbOpening };
  readonly IDBTransaction?: { readonly prototype: object };
  readonly IDBKeyRange: { lowerBound(least: number): DbRange };
  readonly navigator: { readonly locks?: Locks; readonly storage: Storage };
};
