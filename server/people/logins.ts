// The logins of an account, as its person sees and removes them.

import { ParleyError } from '../../core/errors.ts';
import { type Family, families } from '../../core/families.ts';
import { lockAccount } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { deleteLogin, type Login, loginsOf } from '../db/logins.ts';
import { insertOutbox } from '../db/outbox.ts';
import { revokeSessions } from '../db/sessions.ts';
import { deleteLoginWallet, type Wallet, waits, walletsOf } from '../db/wallets.ts';
import type { Deps } from '../deps.ts';
import type { Session } from './sessions.ts';

export type ShownLogin = {
  readonly id: string;
  readonly way: 'email' | 'provider' | 'passkey' | 'wallet';
  readonly label: string;
  readonly issuer: string | null;
  readonly addedAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly backupEligible: boolean | null;
  readonly backedUp: boolean | null;
  readonly messages: 'on' | 'ended' | null;
  readonly waitsUntil: Date | null;
};

export async function shownLogins(tx: Tx, accountId: string, now: number): Promise<ShownLogin[]> {
  const wallets = (await walletsOf(tx, accountId)).filter((each) => each.standing === 'login');
  const logins = await loginsOf(tx, accountId);
  return [...logins.map(shownLogin), ...wallets.map((each) => shownWallet(each, now))];
}

function shownLogin(login: Login): ShownLogin {
  const { id, way, label, issuer, addedAt, lastUsedAt, backupEligible, backedUp } = login;
  const { chatId, chatEndedAt } = login;
  const told = chatEndedAt === null ? 'on' : 'ended';
  return {
    id,
    way,
    label,
    issuer: issuer === '' ? null : issuer,
    addedAt,
    lastUsedAt,
    backupEligible,
    backedUp,
    messages: way === 'email' ? 'on' : chatId === null ? null : told,
    waitsUntil: null,
  };
}

function shownWallet(wallet: Wallet, now: number): ShownLogin {
  const { family, address, waitsUntil } = wallet;
  return {
    id: `${family}:${address}`,
    way: 'wallet',
    label: address,
    issuer: null,
    addedAt: null,
    lastUsedAt: null,
    backupEligible: null,
    backedUp: null,
    messages: null,
    waitsUntil: waits(wallet, now) ? waitsUntil : null,
  };
}

/** What is said while one login is all there is to get in with; null while there are more. */
export function recoveryOf(logins: readonly ShownLogin[]): string | null {
  if (logins.length > 1) return null;
  return (
    'Only one login is left. If you lose it, nobody can let you in again, and we cannot either: ' +
    'add another one.'
  );
}

/**
 * Removes one and ends every other session: whoever had it may still be signed in. Throws
 * `unknown_login`, `last_login`.
 */
export async function removeLogin(
  tx: Tx,
  deps: Pick<Deps, 'now'>,
  session: Session,
  id: string,
): Promise<void> {
  const { accountId } = session;
  await lockAccount(tx, accountId);
  const all = await shownLogins(tx, accountId, deps.now());
  const own = all.find((each) => each.id === id);
  if (own === undefined) throw new ParleyError('unknown_login', 'the account has no such login');
  if (all.length === 1) {
    const sentence = 'this is the only login of the account; add another one before you remove it';
    throw new ParleyError('last_login', sentence);
  }
  const at = new Date(deps.now());
  const former = await remove(tx, accountId, id);
  const payload = { way: own.way, what: own.label, ...(former === null ? {} : { former }) };
  await insertOutbox(tx, [{ topic: 'login.removed', accountId, payload, at }]);
  await revokeSessions(tx, accountId, session.id, session.id, at);
}

/** Where messages went by it; null = nowhere. */
async function remove(tx: Tx, accountId: string, id: string): Promise<Former | null> {
  const wallet = walletOfId(id);
  if (wallet !== null) {
    await deleteLoginWallet(tx, accountId, wallet.family, wallet.address);
    return null;
  }
  const login = await deleteLogin(tx, accountId, id);
  return login === null ? null : formerOf(login);
}

export type Former = { readonly channel: 'email' | 'telegram'; readonly to: string };

/** The channel that a login was. */
export function formerOf({ way, subject, chatId, chatEndedAt }: Login): Former | null {
  if (way === 'email') return { channel: 'email', to: subject };
  return chatId === null || chatEndedAt !== null ? null : { channel: 'telegram', to: chatId };
}

function walletOfId(id: string): { family: Family; address: string } | null {
  const at = id.indexOf(':');
  const family = families.find((each) => each === id.slice(0, at));
  return family === undefined ? null : { family, address: id.slice(at + 1) };
}
