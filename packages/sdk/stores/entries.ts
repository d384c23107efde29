// The rules of every store, whatever it keeps its entries in: names, secrets, readable records.

import { type Hashlock, opens, type Secret } from '@parley/core/hashlock.ts';
import { SettleError } from '../errors.ts';
import type { OwnTrade } from '../trade.ts';
import { readKept, type SwapRecord } from './store.ts';

/** A disk's clock, or a clock that was set, beside the machine's. */
export const clockSlackMs = 60_000;
export const idShape = /^[0-9a-zA-Z-]{1,64}$/;

/** Ids come from a market. Throws SettleError `bad_record`. */
export function named(id: string): string {
  if (idShape.test(id)) return id;
  throw new SettleError('bad_record', `"${id.slice(0, 80)}" cannot be the name of a record`);
}

/**
 * The secret to write, null where it is kept already: a kept secret is never overwritten. Throws
 * SettleError `bad_record`.
 */
export function newSecret(held: string | null, hashlock: Hashlock, secret: Secret): Secret | null {
  if (held === secret) return null;
  if (held !== null) throw new SettleError('bad_record', `${hashlock} already has a secret`);
  if (isSecret(secret, hashlock)) return secret;
  throw new SettleError('bad_record', `a secret that does not open ${hashlock}`);
}

/** Throws SettleError `bad_record`. */
export function heldSecret(held: string | null, hashlock: Hashlock): Secret | null {
  if (held === null || isSecret(held, hashlock)) return held;
  throw new SettleError('bad_record', `the kept secret of ${hashlock} does not open it`);
}

const isSecret = (text: string, hashlock: Hashlock) =>
  /^[0-9a-f]{64}$/.test(text) && opens(text, hashlock);

/** Throws SettleError `bad_record`. */
export const heldSwap = (text: string | null, id: string): SwapRecord | null =>
  held<SwapRecord>(text, id, ({ swap }) => swap.id);

/** Throws SettleError `bad_record`. */
export const heldTrade = (text: string | null, id: string): OwnTrade | null =>
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
