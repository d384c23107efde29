// The caller of a request: the key of a request, and the account behind it.
//
// A key that was looked up is remembered for at most one second, and only while revocations by
// other processes are heard of (revocations.ts). Many look-ups at once are a few queries: a flood of
// made-up keys takes no connection from everybody else.

import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Scope, scopes } from '@parley/core/scopes.ts';
import { findLiveKeys } from '../db/keys.ts';
import { findLiveSessions } from '../db/sessions.ts';
import { idleMs } from '../people/bounds.ts';
import { sessionPrefix, windowAt } from '../people/sessions.ts';
import type { Deps } from '../ports/deps.ts';
import { inBatches } from './batches.ts';
import { openRevocations, rememberedMs } from './revocations.ts';

export type Caller = {
  readonly accountId: string;
  readonly by: 'key' | 'session';
  /** The key's id, or the session's. */
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** On the market's clock. */
  readonly expiresAtMs: number;
  /** The session's last sign-in; null of a key. */
  readonly signedInAt: Date | null;
  /** The account begins nothing new (blocked.ts). */
  readonly isBlocked: boolean;
};

/** The credential that a caller shows: an API key, or a session, whose token is none. */
export type Credential =
  | string
  | { readonly kind: 'session'; readonly token: string }
  /** The digest of a token that is not at hand: the stored one, in base64. */
  | { readonly kind: 'session-hash'; readonly digest: string };

/** Keys that a process remembers for a second each. */
const mostRemembered = 20_000;
/** The pool has ten connections; look-ups take four. */
const batches = { queriesAtOnce: 4, questionsOfQuery: 500 } as const;

/** `askedAt`: before the look-up began. A later revocation is not in it. */
type Remembered = { readonly caller: Caller; readonly askedAt: number };

export type Keys = {
  /**
   * The caller if it is remembered; undefined = it must be looked up; null = it can be none.
   * `socket`: a key shown on it again has the digest that it had.
   */
  known(shown: Credential, socket?: object): Caller | null | undefined;
  find(shown: Credential): Promise<Caller | null>;
  /** The memory of this account ends now; null = of any. */
  forget(accountId: string | null): void;
  /** Told, until it takes that back, of every `forget` after it. */
  onForgotten(listener: (accountId: string | null) => void): () => void;
};

export type SharedKeys = Keys & {
  /**
   * To be awaited after a revocation was committed, before anybody is answered: no process accepts
   * the key from then on. At most `rememberedMs`.
   */
  revoked(accountId: string): Promise<void>;
  close(): void;
};

/** The key in `Authorization: Bearer` or `X-Api-Key`; null without one. */
export function keyOf(headers: IncomingHttpHeaders): string | null {
  const { authorization } = headers;
  // Without a key behind it too: it is a header for one, and no cookie counts beside it.
  if (authorization !== undefined && /^bearer(?: |$)/i.test(authorization)) {
    return authorization.slice(6).trim();
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
    revoked: (accountId) => {
      keys.forget(accountId);
      return revocations.everywhere(accountId);
    },
    close: revocations.close,
  };
}

type Found = readonly [hash: Buffer, caller: Caller];

async function findByKeys(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  hashes: readonly Buffer[],
): Promise<Found[]> {
  const rows = await findLiveKeys(db, hashes, new Date(now()));
  return rows.map(({ hash, accountId, id: keyId, scopes, expiresAt, isBlocked }) => {
    const expiresAtMs = expiresAt.getTime();
    const own = { accountId, keyId, scopes, expiresAtMs, isBlocked };
    return [hash, { ...own, by: 'key', signedInAt: null }];
  });
}

/** As a key of all scopes, for as long as the session would live unused. */
async function findBySessions(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  hashes: readonly Buffer[],
): Promise<Found[]> {
  const rows = await findLiveSessions(db, hashes, windowAt(now()));
  return rows.map(({ hash, id: keyId, expiresAt, lastUsedAt, signedInAt, ...row }) => {
    const { accountId, isBlocked } = row;
    const expiresAtMs = Math.min(expiresAt.getTime(), lastUsedAt.getTime() + idleMs);
    const own = { accountId, keyId, scopes, expiresAtMs, isBlocked };
    return [hash, { ...own, by: 'session', signedInAt }];
  });
}

/** Whether a look-up could find it. */
function shapesOf({ shortName, network }: Pick<Deps['settings'], 'shortName' | 'network'>) {
  const world = network === 'mainnet' ? 'live' : 'test';
  const key = new RegExp(`^${shortName}_${world}_[0-9A-Za-z]{43}$`);
  const session = new RegExp(`^${sessionPrefix(shortName)}[0-9A-Za-z]{43}$`);
  return (shown: Credential): boolean => {
    if (typeof shown === 'string') return key.test(shown);
    return shown.kind === 'session-hash' || session.test(shown.token);
  };
}

function digestOf(shown: Credential): string {
  if (typeof shown === 'string') return hash('sha256', shown, 'base64');
  return shown.kind === 'session' ? hash('sha256', shown.token, 'base64') : shown.digest;
}

/** The process remembers no key while `isListening` is false. */
export function createKeys(
  deps: Pick<Deps, 'settings' | 'db' | 'now'>,
  isListening: () => boolean,
): Keys {
  const hasShape = shapesOf(deps.settings);
  const remembered = new Map<string, Remembered>();
  const listeners = new Set<(accountId: string | null) => void>();
  /** The last well-formed key of each socket. Whether it is still good is looked up each time. */
  const digests = new WeakMap<object, { readonly key: string; readonly digest: string }>();
  let generation = 0;

  const digestOn = (shown: Credential, socket: object | undefined): string | null => {
    const last = socket && digests.get(socket);
    if (last !== undefined && last.key === shown) return last.digest;
    if (!hasShape(shown)) return null;
    const digest = digestOf(shown);
    if (socket && typeof shown === 'string') digests.set(socket, { key: shown, digest });
    return digest;
  };

  const lookUpBy = (find: typeof findByKeys) => async (digests: readonly string[]) => {
    const started = isListening() ? generation : null;
    const askedAt = performance.now();
    const rows = await find(
      deps,
      digests.map((digest) => Buffer.from(digest, 'base64')),
    );
    const found = new Map(rows.map(([own, caller]) => [own.toString('base64'), caller]));
    return digests.map((digest) => {
      const caller = found.get(digest) ?? null;
      // A revocation since then may not be in what was read.
      if (caller !== null && started === generation) {
        if (remembered.size >= mostRemembered) remembered.clear();
        remembered.set(digest, { caller, askedAt });
      }
      return caller;
    });
  };
  const findKey = inBatches(batches, lookUpBy(findByKeys));
  const findSession = inBatches(batches, lookUpBy(findBySessions));

  return {
    known(shown, socket) {
      const digest = digestOn(shown, socket);
      if (digest === null) return null;
      const entry = remembered.get(digest);
      if (entry === undefined || performance.now() - entry.askedAt > rememberedMs) return undefined;
      return deps.now() < entry.caller.expiresAtMs ? entry.caller : null;
    },
    find(shown) {
      const find = typeof shown === 'string' ? findKey : findSession;
      return find(digestOf(shown));
    },
    forget(accountId) {
      generation += 1;
      for (const [digest, { caller }] of remembered) {
        if (accountId === null || caller.accountId === accountId) remembered.delete(digest);
      }
      for (const each of listeners) each(accountId);
    },
    onForgotten(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
