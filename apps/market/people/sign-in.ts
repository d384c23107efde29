// The one place where the proof of a login becomes something: a session, a further login of the
// account, or a session that is fresh again. Two accounts never become one: a login that another
// account has is refused, and whoever proved it may sign in there instead.

import { createHash } from 'node:crypto';
import { ParleyError } from '@parley/core/errors.ts';
import type { Family } from '@parley/core/families.ts';
import {
  type AccountKind,
  insertAccount,
  lockIfLive,
  lockTrader,
  makeBrowserAccount,
  waitForLock,
} from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import {
  findLoginOf,
  insertLoginOf,
  type LoginName,
  loginsOf,
  markLoginUsed,
  type PasskeyFacts,
} from '../db/logins.ts';
import { insertOutbox } from '../db/outbox.ts';
import { insertPayout, payoutsOf } from '../db/payouts.ts';
import { findLogin, insertLogin, type WalletOf, walletsOf } from '../db/wallets.ts';
import { loginLock } from '../market/keys.ts';
import type { Making } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { mostLogins } from './bounds.ts';
import { waitOf } from './hold.ts';
import { isCounted } from './logins.ts';
import {
  type Browser,
  lockLive,
  type Means,
  mustBeFresh,
  openSession,
  renew,
  type Session,
} from './sessions.ts';

/** The identity that a login method has proven. */
export type Proven =
  | { readonly way: 'email'; readonly address: string }
  | {
      readonly way: 'provider';
      readonly issuer: string;
      readonly subject: string;
      readonly label: string;
      /** Where the bot may write; null = nowhere. */
      readonly chatId: string | null;
    }
  | {
      readonly way: 'passkey';
      readonly credentialId: string;
      readonly label: string;
      /** The facts of a passkey that is to be added; null = it is known. */
      readonly made: PasskeyFacts | null;
    }
  | {
      readonly way: 'wallet';
      readonly family: Family;
      readonly address: string;
      /** Bitcoin: the key, where the signature showed it. */
      readonly pubkey: string | null;
    };

export type Intent =
  | { readonly purpose: 'sign-in' }
  | { readonly purpose: 'add' | 'renew'; readonly session: Session };

export type TakenUp = {
  readonly token: string | null;
  readonly session: Session;
  readonly isNew: boolean;
  /** The outcome, for the counter. */
  readonly outcome: 'made' | 'signed_in' | 'added' | 'renewed';
  readonly way: Proven['way'];
};

/** Throws `login_taken`, `unknown_passkey`, `session_ended`, `session_stale`, `too_many_logins`. */
export async function takeUp(
  tx: Tx,
  deps: Making,
  proven: Proven,
  intent: Intent,
  browser: Browser,
): Promise<TakenUp> {
  // Two at once with one login make one account.
  await waitForLock(tx, lockOf(proven));
  if (intent.purpose === 'sign-in') {
    const owner = await lockedOwnerOf(tx, proven);
    const { accountId, loginId } = owner ?? (await makeAccount(tx, deps, proven));
    const isNew = owner === null;
    if (!isNew) await markUsed(tx, deps, proven, loginId);
    const means = meansOf(proven, loginId);
    const opened = await openSession(tx, deps, { accountId, means, browser, isNew });
    return { ...opened, isNew, outcome: isNew ? 'made' : 'signed_in', way: proven.way };
  }
  const { session } = intent;
  await lockLive(tx, deps, session);
  const owner = await ownerOf(tx, proven);
  if (owner !== null && owner.accountId !== session.accountId) throw taken(proven);
  if (owner !== null && isMade(proven)) {
    // A browser that makes a passkey names its id, and shows no detail of the one that has it.
    const sentence = 'this passkey is a login of the account already; the market changed nothing';
    throw new ParleyError('login_taken', sentence);
  }
  if (owner !== null) {
    await markUsed(tx, deps, proven, owner.loginId);
    const renewed = await renew(tx, deps, session, meansOf(proven, owner.loginId));
    return { ...renewed, isNew: false, outcome: 'renewed', way: proven.way };
  }
  if (intent.purpose === 'renew') {
    const sentence =
      'this is no login of the account that is signed in here; the market changed nothing';
    throw new ParleyError('unknown_login', sentence);
  }
  await addLogin(tx, deps, proven, session);
  return { token: null, session, isNew: false, outcome: 'added', way: proven.way };
}

/** The number of a lock on this login; that of a wallet is the one of key mints. */
function lockOf(proven: Proven): bigint {
  if (proven.way === 'wallet') return loginLock(proven.family, proven.address);
  const { way, issuer, subject } = nameOf(proven);
  const text = JSON.stringify([way, issuer, subject]);
  return createHash('sha256').update(text).digest().readBigInt64BE(0);
}

function nameOf(proven: Exclude<Proven, { way: 'wallet' }>): LoginName {
  switch (proven.way) {
    case 'email':
      return { way: 'email', issuer: '', subject: proven.address };
    case 'provider':
      return { way: 'provider', issuer: proven.issuer, subject: proven.subject };
    case 'passkey':
      return { way: 'passkey', issuer: '', subject: proven.credentialId };
  }
}

function isMade(proven: Proven): boolean {
  return proven.way === 'passkey' && proven.made !== null;
}

function meansOf(proven: Proven, loginId: string | null): Means {
  if (proven.way !== 'wallet') return { by: proven.way, wallet: null, loginId };
  const { family, address } = proven;
  return { by: 'wallet', wallet: { family, address }, loginId: null };
}

type Owner = { readonly accountId: string; readonly loginId: string | null };

async function ownerOf(tx: Tx, proven: Proven): Promise<Owner | null> {
  if (proven.way === 'wallet') {
    const accountId = await findLogin(tx, proven.family, proven.address);
    return accountId === null ? null : { accountId, loginId: null };
  }
  const login = await findLoginOf(tx, nameOf(proven));
  return login === null ? null : { accountId: login.accountId, loginId: login.id };
}

/** Its account is locked: a login that was removed meanwhile signs nobody in. */
async function lockedOwnerOf(tx: Tx, proven: Proven): Promise<Owner | null> {
  const owner = await ownerOf(tx, proven);
  if (owner === null) return null;
  await lockIfLive(tx, owner.accountId);
  return ownerOf(tx, proven);
}

async function markUsed(
  tx: Tx,
  deps: Making,
  proven: Proven,
  loginId: string | null,
): Promise<void> {
  if (loginId === null || proven.way === 'wallet') return;
  const chatId = proven.way === 'provider' ? proven.chatId : null;
  await markLoginUsed(tx, {
    id: loginId,
    label: labelOf(proven),
    chatId,
    at: new Date(deps.now()),
  });
}

function labelOf(proven: Exclude<Proven, { way: 'wallet' }>): string {
  return proven.way === 'email' ? proven.address : proven.label;
}

/** A passkey alone makes none: it is a login of an account that has another. */
async function makeAccount(tx: Tx, deps: Making, proven: Proven): Promise<Owner> {
  if (proven.way === 'passkey') {
    const sentence = 'no account has this passkey; sign in another way and add it there';
    throw new ParleyError('unknown_passkey', sentence);
  }
  const at = new Date(deps.now());
  const accountId = uuidv7(deps.now(), deps.randomBytes);
  const kind: AccountKind = proven.way === 'wallet' ? 'wallet' : 'browser';
  await insertAccount(tx, { id: accountId, kind, createdAt: at });
  return { accountId, loginId: await storeLogin(tx, deps, proven, accountId, null) };
}

async function storeLogin(
  tx: Tx,
  deps: Making,
  proven: Proven,
  accountId: string,
  waitsUntil: Date | null,
): Promise<string | null> {
  const at = new Date(deps.now());
  if (proven.way === 'wallet') {
    const { family, address, pubkey } = proven;
    await insertLogin(tx, { accountId, family, address, pubkey, at, waitsUntil });
    return null;
  }
  const id = uuidv7(deps.now(), deps.randomBytes);
  await insertLoginOf(tx, {
    ...nameOf(proven),
    id,
    accountId,
    label: labelOf(proven),
    chatId: proven.way === 'provider' ? proven.chatId : null,
    passkey: proven.way === 'passkey' ? proven.made : null,
    at,
  });
  return id;
}

async function mustLackLogin(tx: Tx, accountId: string, family: Family): Promise<void> {
  const wallets = await walletsOf(tx, accountId);
  const held = wallets.find((each) => each.standing === 'login' && each.family === family);
  if (held === undefined) return;
  throw new ParleyError(
    'login_family_taken',
    `the account signs in with ${held.address} on this family already; remove it first`,
  );
}

/** From an e-mail, provider or messaging login on, the account holds ten keys. */
async function addLogin(tx: Tx, deps: Making, proven: Proven, session: Session): Promise<void> {
  mustBeFresh(session, deps.now());
  const { accountId } = session;
  const at = new Date(deps.now());
  if (proven.way === 'wallet') {
    await lockTrader(tx, accountId);
    await mustLackLogin(tx, accountId, proven.family);
  } else if ((await loginsOf(tx, accountId)).length >= mostLogins) {
    const sentence = `the account has ${mostLogins} logins already; remove one first`;
    throw new ParleyError('too_many_logins', sentence);
  }
  const waitsUntil =
    proven.way === 'wallet' ? await waitOf(tx, deps, { accountId, ...proven }) : null;
  await storeLogin(tx, deps, proven, accountId, waitsUntil);
  if (proven.way === 'wallet') await payNext(tx, deps, { accountId, ...proven }, waitsUntil);
  if (proven.way === 'email' || proven.way === 'provider') await makeBrowserAccount(tx, accountId);
  const what = proven.way === 'wallet' ? proven.address : labelOf(proven);
  const payload = { way: proven.way, what, waitsUntil: waitsUntil?.toISOString() ?? null };
  await insertOutbox(tx, [{ topic: 'login.added', accountId, payload, at }]);
}

/** It is paid once it counts, where the wallet that its family paid was removed. */
async function payNext(
  tx: Tx,
  deps: Making,
  { accountId, family, address }: WalletOf,
  waitsUntil: Date | null,
): Promise<void> {
  const at = new Date(deps.now());
  const chosen = (await payoutsOf(tx, accountId, at)).find((each) => isCounted(each, family, at));
  const held = await walletsOf(tx, accountId);
  if (chosen === undefined || chosen.address === address) return;
  if (held.some((each) => each.family === family && each.address === chosen.address)) return;
  const id = uuidv7(deps.now(), deps.randomBytes);
  const fromAt = waitsUntil ?? at;
  const told = waitsUntil === null;
  await insertPayout(tx, { id, accountId, family, address, askedAt: at, fromAt, told });
}

function taken(proven: Proven): ParleyError {
  const what = proven.way === 'wallet' ? proven.address : labelOf(proven);
  return new ParleyError(
    'login_taken',
    `${what} belongs to another account; sign in there with it, or use another login here`,
  );
}
