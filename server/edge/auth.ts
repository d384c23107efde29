// Who is calling: the key of a request, and the account behind it.
//
// A key that was looked up is remembered for at most one second, so a key revoked by another
// process works for at most one second more; one revoked by this process stops at once (`forget`).

import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { findLiveKey } from '../db/keys.ts';
import type { Deps } from '../deps.ts';
import type { Scope } from '../scopes.ts';

export type Caller = {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
};

const rememberedMs = 1_000;
const mostRemembered = 20_000;

type Remembered = { caller: Caller; expiresAt: number; readAt: number };

export type Keys = {
  /** The caller if it is remembered; undefined = it must be looked up. */
  known(key: string): Caller | null | undefined;
  find(key: string): Promise<Caller | null>;
  /** No key of this account is remembered from now on. */
  forget(accountId: string): void;
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

export function createKeys(deps: Pick<Deps, 'settings' | 'db' | 'now'>): Keys {
  const { shortName, network } = deps.settings;
  const shape = new RegExp(`^${shortName}_${network === 'mainnet' ? 'live' : 'test'}_\\w{43}$`);
  const remembered = new Map<string, Remembered>();
  const underway = new Map<string, Promise<Caller | null>>();
  let generation = 0;

  async function lookUp(digest: string): Promise<Caller | null> {
    const started = generation;
    const row = await findLiveKey(deps.db, Buffer.from(digest, 'base64'), new Date(deps.now()));
    if (row === null) return null;
    const caller = { accountId: row.accountId, keyId: row.id, scopes: row.scopes };
    // A revocation since then may not be in what was read.
    if (started === generation) {
      if (remembered.size >= mostRemembered) remembered.clear();
      const readAt = performance.now();
      remembered.set(digest, { caller, expiresAt: row.expiresAt.getTime(), readAt });
    }
    return caller;
  }

  return {
    known(key) {
      if (!shape.test(key)) return null;
      const entry = remembered.get(hash('sha256', key, 'base64'));
      if (entry === undefined || performance.now() - entry.readAt > rememberedMs) return undefined;
      return deps.now() < entry.expiresAt ? entry.caller : null;
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
        if (entry.caller.accountId === accountId) remembered.delete(digest);
      }
    },
  };
}
