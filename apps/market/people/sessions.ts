// Sessions of browsers: made and renewed at a sign-in, used by a cookie, ended by their person.

import { createHash } from 'node:crypto';
import { ParleyError } from '@parley/core/errors.ts';
import type { Family } from '@parley/core/families.ts';
import { type AccountKind, lockAccount } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { insertOutbox } from '../db/outbox.ts';
import {
  holdSession,
  insertSession,
  liveSessionsOf,
  renewSession,
  revokeSession,
  type Session,
  type SignedInBy,
  seeDevice,
  tellReplaced,
  type Window,
} from '../db/sessions.ts';
import { type Wallet, waits, walletsOf } from '../db/wallets.ts';
import { base62 } from '../market/keys.ts';
import type { Deps, Making } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { freshMs, idleMs, mostSessions, sessionMs } from './bounds.ts';

export type { Session };

/** A browser that asks: the SHA-256 of its own cookie, what it says it is, and its network. */
export type Browser = { readonly hash: Buffer; readonly device: string; readonly place: string };

export type Means = {
  readonly by: SignedInBy;
  readonly wallet: { readonly family: Family; readonly address: string } | null;
  /** The login that is no wallet. */
  readonly loginId?: string | null;
};

const tokenBytes = 32;

export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The prefix of session tokens alone. */
export function sessionPrefix(shortName: string): string {
  return `${shortName}_session_`;
}

function newToken({ settings, randomBytes }: Pick<Deps, 'settings' | 'randomBytes'>): string {
  return sessionPrefix(settings.shortName) + base62(randomBytes(tokenBytes));
}

export function windowAt(nowMs: number): Window {
  return { now: new Date(nowMs), idleSince: new Date(nowMs - idleMs) };
}

export type Opened = {
  /** For the cookie alone: it is stored nowhere. */
  readonly token: string;
  readonly session: Session;
};

/** From a browser that is new to it, its person is told, unless the account is new. */
export async function openSession(
  tx: Tx,
  deps: Making,
  opened: { accountId: string; means: Means; browser: Browser; isNew: boolean },
): Promise<Opened> {
  const { accountId, means, browser, isNew } = opened;
  const at = new Date(deps.now());
  await makeRoom(tx, accountId, deps.now());
  const token = newToken(deps);
  const session: Session = {
    id: uuidv7(deps.now(), deps.randomBytes),
    accountId,
    madeAt: at,
    lastUsedAt: at,
    signedInAt: at,
    signedInBy: means.by,
    walletFamily: means.wallet?.family ?? null,
    walletAddress: means.wallet?.address ?? null,
    loginId: means.loginId ?? null,
    device: browser.device,
    place: browser.place,
    expiresAt: new Date(at.getTime() + sessionMs),
  };
  await insertSession(tx, { ...session, hash: hashOf(token) });
  const isKnown = await seeDevice(tx, accountId, browser.hash, at);
  if (!isKnown && !isNew) {
    const payload = { sessionId: session.id, device: session.device, place: session.place };
    await insertOutbox(tx, [{ topic: 'session.created', accountId, payload, at }]);
  }
  return { token, session };
}

async function makeRoom(tx: Tx, accountId: string, nowMs: number): Promise<void> {
  const live = await liveSessionsOf(tx, accountId, windowAt(nowMs));
  for (const { id } of live.slice(mostSessions - 1)) {
    await revokeSession(tx, accountId, id, new Date(nowMs));
  }
}

/** Its person has signed in again: fresh, under another token. Throws `session_ended`. */
export async function renew(
  tx: Tx,
  deps: Making,
  session: Session,
  { by, wallet, loginId = null }: Means,
): Promise<Opened> {
  const at = new Date(deps.now());
  const token = newToken(deps);
  const walletFamily = wallet?.family ?? null;
  const walletAddress = wallet?.address ?? null;
  const renewal = {
    id: session.id,
    hash: hashOf(token),
    at,
    by,
    walletFamily,
    walletAddress,
    loginId,
  };
  if (!(await renewSession(tx, renewal))) {
    throw new ParleyError('session_ended', 'the session has ended; sign in again');
  }
  await tellReplaced(tx, session.accountId);
  const told = { lastUsedAt: at, signedInAt: at, signedInBy: by, walletFamily, walletAddress };
  return { token, session: { ...session, ...told, loginId } };
}

/** A session that has ended can do no more. Throws `session_ended`, `account_deleted`. */
export async function lockLive(
  tx: Tx,
  deps: Pick<Deps, 'now'>,
  { id, accountId }: Session,
): Promise<AccountKind> {
  const kind = await lockAccount(tx, accountId);
  if (await holdSession(tx, id, windowAt(deps.now()))) return kind;
  throw new ParleyError('session_ended', 'the session has ended; the market did nothing');
}

/** Throws `session_stale` where the last sign-in is too long ago for what is asked. */
export function mustBeFresh({ signedInAt }: Pick<Session, 'signedInAt'>, nowMs: number): void {
  const age = nowMs - signedInAt.getTime();
  if (age <= freshMs) return;
  throw new ParleyError(
    'session_stale',
    `this needs a sign-in of the last ${freshMs / 60_000} minutes; the last one was ` +
      `${Math.floor(age / 60_000)} minutes ago`,
    { signedInAt: signedInAt.toISOString() },
  );
}

/** Only such a session changes where the account is paid. */
export async function isWalletSession(tx: Tx, session: Session, nowMs: number): Promise<boolean> {
  if (session.signedInBy !== 'wallet') return false;
  const wallets = await walletsOf(tx, session.accountId);
  return wallets.some((each) => signedInWith(session, each) && !waits(each, nowMs));
}

function signedInWith({ walletFamily, walletAddress }: Session, wallet: Wallet): boolean {
  const { family, address, standing } = wallet;
  return standing === 'login' && family === walletFamily && address === walletAddress;
}
