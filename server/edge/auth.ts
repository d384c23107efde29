// Who is calling: the key of a request, and the account behind it.
//
// A key that was looked up is remembered for at most one second, and only while revocations by
// other processes are heard of (revocations.ts).

import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { findLiveKey } from '../db/keys.ts';
import type { Deps } from '../deps.ts';
import type { Scope } from '../scopes.ts';
import { openRevocations, rememberedMs } from './revocations.ts';

export type Caller = {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** On the market's clock. */
  readonly expiresAtMs: number;
};

const mostRemembered = 20_000;

/** `askedAt`: before the look-up began. What is revoked later is not in it. */
type Remembered = { caller: Caller; askedAt: number };

export type Keys = {
  /** The caller if it is remembered; undefined = it must be looked up. */
  known(key: string): Caller | null | undefined;
  find(key: string): Promise<Caller | null>;
  /** No key of this account is remembered from now on; null = of any. */
  forget(accountId: string | null): void;
  /** Told, until it takes that back, of every `forget` after it. */
  onForgotten(listener: (accountId: string | null) => void): () => void;
};

export type SharedKeys = Keys & {
  /**
   * To be awaited after a revocation was committed under this notice, before anybody is told: no
   * process accepts the key from then on. At most `rememberedMs`.
   */
  revoked(accountId: string, notice: string): Promise<void>;
  close(): void;
};

/** The key in `Authorization: Bearer` or `X-Api-Key`; null without one. */
export function keyOf(headers: IncomingHttpHeaders): string | null {
  const { authorization } = headers;
  if (authorization !== undefined && /^bearer /i.test(authorization)) {
    return authorization.slice(7).trim();
  }
  const given = headers['x-api-key'];
  return typeof given === 'string' ? given.trim() : null;
}

/** The keys of a process among others on one database. */
export async function openKeys(
  deps: Pick<Deps, 'settings' | 'db' | 'now' | 'log'>,
): Promise<SharedKeys> {
  let isListening = () => false;
  const keys = createKeys(deps, () => isListening());
  const { db, log } = deps;
  const revocations = await openRevocations({ db, log, forget: keys.forget });
  isListening = revocations.isListening;
  return {
    ...keys,
    revoked: (accountId, notice) => {
      keys.forget(accountId);
      return revocations.everywhere(notice);
    },
    close: revocations.close,
  };
}

/** Nothing is remembered while `isListening` is false. */
export function createKeys(
  deps: Pick<Deps, 'settings' | 'db' | 'now'>,
  isListening: () => boolean,
): Keys {
  const { shortName, network } = deps.settings;
  const shape = new RegExp(`^${shortName}_${network === 'mainnet' ? 'live' : 'test'}_\\w{43}$`);
  const remembered = new Map<string, Remembered>();
  const underway = new Map<string, Promise<Caller | null>>();
  const listeners = new Set<(accountId: string | null) => void>();
  let generation = 0;

  async function lookUp(digest: string): Promise<Caller | null> {
    const started = isListening() ? generation : null;
    const askedAt = performance.now();
    const row = await findLiveKey(deps.db, Buffer.from(digest, 'base64'), new Date(deps.now()));
    if (row === null) return null;
    const { accountId, id: keyId, scopes } = row;
    const caller = { accountId, keyId, scopes, expiresAtMs: row.expiresAt.getTime() };
    // A revocation since then may not be in what was read.
    if (started === generation) {
      if (remembered.size >= mostRemembered) remembered.clear();
      remembered.set(digest, { caller, askedAt });
    }
    return caller;
  }

  return {
    known(key) {
      if (!shape.test(key)) return null;
      const entry = remembered.get(hash('sha256', key, 'base64'));
      if (entry === undefined || performance.now() - entry.askedAt > rememberedMs) return undefined;
      return deps.now() < entry.caller.expiresAtMs ? entry.caller : null;
    },
    find(key) {
      const digest = hash('sha256', key, 'base64');
      let looking = underway.get(digest);
      if (looking === undefined) {
        looking = lookUp(digest).finally(() => underway.delete(digest));
        underway.set(digest, looking);
      }
      return looking;
    },
    forget(accountId) {
      generation += 1;
      underway.clear();
      for (const [digest, entry] of remembered) {
        if (accountId === null || entry.caller.accountId === accountId) remembered.delete(digest);
      }
      for (const each of listeners) each(accountId);
    },
    onForgotten(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
