// The rules of every store, whatever it keeps its entries in: names, secrets, readable records.

import { type Hashlock, opens, type Secret } from '@parley/core/hashlock.ts';
import { SettleError } from '../errors.ts';
import type { OwnTrade } from '../trade.ts';
import {
  type Nonces,
  readKept,
  type Store,
  type SwapNonces,
  type SwapRecord,
  writeKept,
} from './store.ts';

/** A disk's clock, or a clock that was set, beside the machine's. */
export const clockSlackMs = 60_000;
export const idShape = /^[0-9a-zA-Z-]{1,64}$/;

/**
 * The name of a file of an id. A disk that ignores case would take "A" and "a" for one file, so a
 * capital is a plus and its small letter. `idIn` reads it, and the id itself as older versions named it.
 */
export const fileNameOf = (id: string): string =>
  id.replaceAll(/[A-Z]/g, (capital) => `+${capital.toLowerCase()}`);
export const idIn = (name: string): string =>
  name.replaceAll(/\+([a-z])/g, (_, small: string) => small.toUpperCase());

/** Ids come from a market. Throws SettleError `bad_record`. */
function named(id: string): string {
  if (idShape.test(id)) return id;
  throw new SettleError('bad_record', `"${id.slice(0, 80)}" cannot be the name of a record`);
}

/**
 * The secret to write, null where it is kept already: a kept secret is never overwritten. Throws
 * SettleError `bad_record`.
 */
function newSecret(held: string | null, hashlock: Hashlock, secret: Secret): Secret | null {
  if (held === secret) return null;
  if (held !== null) throw new SettleError('bad_record', `${hashlock} already has a secret`);
  if (isSecret(secret, hashlock)) return secret;
  throw new SettleError('bad_record', `a secret that does not open ${hashlock}`);
}

/** Throws SettleError `bad_record`. */
function heldSecret(held: string | null, hashlock: Hashlock): Secret | null {
  if (held === null || isSecret(held, hashlock)) return held;
  throw new SettleError('bad_record', `the kept secret of ${hashlock} does not open it`);
}

const isSecret = (text: string, hashlock: Hashlock) =>
  /^[0-9a-f]{64}$/.test(text) && opens(text, hashlock);

/** Throws SettleError `bad_record`. */
const heldSwap = (text: string | null, id: string): SwapRecord | null =>
  held<SwapRecord>(text, id, ({ swap }) => swap.id);

/** Throws SettleError `bad_record`. */
const heldTrade = (text: string | null, id: string): OwnTrade | null =>
  held<OwnTrade>(text, id, ({ threadId }) => threadId);

function held<T extends SwapRecord | OwnTrade>(
  text: string | null,
  id: string,
  idOf: (found: T) => string,
): T | null {
  if (text === null) return null;
  let cause: unknown;
  try {
    const found = readKept<T>(text);
    if (idOf(found) === id) return found;
    cause = new Error('it is of another id');
  } catch (error) {
    cause = error;
  }
  const sentence = `the record ${id} is not readable: keep it as it is, it holds terms`;
  throw new SettleError('bad_record', sentence, { cause });
}

export type Folder = 'secrets' | 'trades' | 'swaps' | 'nonces';

/** Texts by folder and name, wherever they are kept. */
export type Entries = {
  get(folder: Folder, name: string): Promise<string | null>;
  /**
   * `next` gets the held text, of secrets at least; its null leaves that, and its error is thrown.
   * Returns when the text survives a power cut.
   */
  put(folder: Folder, name: string, next: (held: string | null) => string | null): Promise<void>;
  /** Returns when it is gone for ever. One of several callers gets the text. */
  take(folder: Folder, name: string): Promise<string | null>;
};

export function storeOver({ get, put, take }: Entries): Omit<Store, 'swapIds'> & SwapNonces {
  return {
    putSecret: async (hashlock, secret) =>
      put('secrets', named(hashlock), (held) => newSecret(held, hashlock, secret)),
    getSecret: async (hashlock) => heldSecret(await get('secrets', named(hashlock)), hashlock),
    putTrade: async (trade) => put('trades', named(trade.threadId), () => writeKept(trade)),
    getTrade: async (id) => heldTrade(await get('trades', named(id)), id),
    putSwap: async (record) => put('swaps', named(record.swap.id), () => writeKept(record)),
    getSwap: async (id) => heldSwap(await get('swaps', named(id)), id),
    putNonces: async (id, nonces) => put('nonces', named(id), () => writeKept(nonces)),
    takeNonces: async (id) => {
      const text = await take('nonces', named(id));
      return text === null ? null : readKept<Nonces>(text);
    },
  };
}
