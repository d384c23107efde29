// Who is calling: the key of a request, and the account behind it.
//
// A key that was looked up is remembered for at most one second, and only while revocations by
// other processes are heard of (revocations.ts). So is what turned out to be none. Many look-ups at
// once are a few queries: a flood of made-up keys takes no connection from everybody else.

import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { findLiveKeys, type LiveKey } from '../db/keys.ts';
import type { Deps } from '../deps.ts';
import type { Scope } from '../scopes.ts';
import { inBatches } from './batches.ts';
import { openRevocations, rememberedMs } from './revocations.ts';

export type Caller = {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** On the market's clock. */
  readonly expiresAtMs: number;
};

const mostRemembered = 20_000;
/** In a place of their own, so that they drive out no caller. */
const mostUnknown = 20_000;
/** Of ten connections. */
const batches = { queriesAtOnce: 4, questionsOfQuery: 500 } as const;

/** `askedAt`: before the look-up began. What is revoked later is not in it. */
type Remembered = { readonly caller: Caller | null; readonly askedAt: number };

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

function callerOf({ accountId, id: keyId, scopes, expiresAt }: LiveKey): Caller {
  return { accountId, keyId, scopes, expiresAtMs: expiresAt.getTime() };
}

/** What look-ups found. */
function createMemory() {
  const callers = new Map<string, Remembered & { caller: Caller }>();
  const unknown = new Map<string, Remembered>();
  return {
    get: (digest: string): Remembered | undefined => callers.get(digest) ?? unknown.get(digest),
    keep(digest: string, caller: Caller | null, askedAt: number): void {
      callers.delete(digest);
      unknown.delete(digest);
      if (caller === null) {
        if (unknown.size >= mostUnknown) unknown.clear();
        unknown.set(digest, { caller, askedAt });
      } else {
        if (callers.size >= mostRemembered) callers.clear();
        callers.set(digest, { caller, askedAt });
      }
    },
    /** Of the account, or of all; what was no key is asked for anew. */
    forget(accountId: string | null): void {
      unknown.clear();
      for (const [digest, { caller }] of callers) {
        if (accountId === null || caller.accountId === accountId) callers.delete(digest);
      }
    },
  };
}

/** Nothing is remembered while `isListening` is false. */
export function createKeys(
  deps: Pick<Deps, 'settings' | 'db' | 'now'>,
  isListening: () => boolean,
): Keys {
  const { shortName, network } = deps.settings;
  const shape = new RegExp(
    `^${shortName}_${network === 'mainnet' ? 'live' : 'test'}_[0-9A-Za-z]{43}$`,
  );
  const memory = createMemory();
  const underway = new Map<string, Promise<Caller | null>>();
  const find = inBatches(batches, lookUp);
  const listeners = new Set<(accountId: string | null) => void>();
  let generation = 0;

  async function lookUp(digests: readonly string[]): Promise<(Caller | null)[]> {
    const started = isListening() ? generation : null;
    const askedAt = performance.now();
    const hashes = digests.map((digest) => Buffer.from(digest, 'base64'));
    const rows = await findLiveKeys(deps.db, hashes, new Date(deps.now()));
    const found = new Map(rows.map((row) => [row.hash.toString('base64'), callerOf(row)]));
    return digests.map((digest) => {
      const caller = found.get(digest) ?? null;
      // A revocation since then may not be in what was read.
      if (started === generation) memory.keep(digest, caller, askedAt);
      return caller;
    });
  }

  return {
    known(key) {
      if (!shape.test(key)) return null;
      const digest = hash('sha256', key, 'base64');
      const entry = memory.get(digest);
      if (entry === undefined || performance.now() - entry.askedAt > rememberedMs) return undefined;
      const { caller } = entry;
      return caller !== null && deps.now() < caller.expiresAtMs ? caller : null;
    },
    find(key) {
      const digest = hash('sha256', key, 'base64');
      let looking = underway.get(digest);
      if (looking === undefined) {
        const own = find(digest).finally(() => {
          if (underway.get(digest) === own) underway.delete(digest);
        });
        looking = own;
        underway.set(digest, own);
      }
      return looking;
    },
    forget(accountId) {
      generation += 1;
      underway.clear();
      memory.forget(accountId);
      for (const each of listeners) each(accountId);
    },
    onForgotten(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
