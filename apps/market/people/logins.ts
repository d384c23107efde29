// The logins of an account, as its person sees and removes them.

import { ParleyError } from '@parley/core/errors.ts';
import { type Family, families } from '@parley/core/families.ts';
import { lockAccount, lockTrader } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { formerChannelsOf, insertFormerChannel } from '../db/former-channels.ts';
import { deleteLogin, type Login, loginsOf, setLoginLeaving } from '../db/logins.ts';
import { insertOutbox } from '../db/outbox.ts';
import { insertPayout, type Payout, payoutsOf, stopPayouts } from '../db/payouts.ts';
import { revokeSessions, revokeSessionsBy, revokeSessionsOf } from '../db/sessions.ts';
import {
  deleteLoginWallet,
  setLeaving,
  type Wallet,
  type WalletOf,
  waits,
  walletsOf,
} from '../db/wallets.ts';
import type { Making } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { mostFormerChannels } from './bounds.ts';
import { holdFrom } from './hold.ts';
import { lockLive, type Session } from './sessions.ts';

type ShownLogin = {
  readonly id: string;
  readonly way: 'email' | 'provider' | 'passkey' | 'wallet';
  readonly label: string;
  readonly issuer: string | null;
  readonly addedAt: Date;
  readonly lastUsedAt: Date | null;
  readonly backupEligible: boolean | null;
  readonly backedUp: boolean | null;
  readonly messages: 'on' | 'ended' | null;
  readonly waitsUntil: Date | null;
  /** When it is removed, as was asked for; null = it stays. */
  readonly leavesAt: Date | null;
};

export async function shownLogins(tx: Tx, accountId: string, now: number): Promise<ShownLogin[]> {
  const wallets = (await walletsOf(tx, accountId)).filter((each) => each.standing === 'login');
  const logins = await loginsOf(tx, accountId);
  return [...logins.map(shownLogin), ...wallets.map((each) => shownWallet(each, now))];
}

function shownLogin(login: Login): ShownLogin {
  const { id, way, label, issuer, addedAt, lastUsedAt, backupEligible, backedUp } = login;
  const { chatId, chatEndedAt, leavesAt } = login;
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
    leavesAt,
  };
}

function shownWallet(wallet: Wallet, now: number): ShownLogin {
  const { family, address, waitsUntil, leavesAt, provenAt } = wallet;
  return {
    id: `${family}:${address}`,
    way: 'wallet',
    label: address,
    issuer: null,
    addedAt: provenAt,
    lastUsedAt: null,
    backupEligible: null,
    backedUp: null,
    messages: null,
    waitsUntil: waits(wallet, now) ? waitsUntil : null,
    leavesAt,
  };
}

/** The note while one login is the only one; null while there are more. */
export function recoveryOf(logins: readonly ShownLogin[]): string | null {
  if (logins.filter((each) => each.leavesAt === null).length > 1) return null;
  return (
    'Only one login is left. If you lose it, you cannot get in again, and we cannot let you in: ' +
    'add another one.'
  );
}

/**
 * It leaves after the hold, and until then it stops what a thief adds: at once alone where
 * `leavesAtOnce`. Throws `last_login`, and `account_blocked` of a wallet that lets in.
 */
export async function removeLogin(
  tx: Tx,
  deps: Making,
  session: Session,
  id: string,
): Promise<{ readonly leavesAt: Date | null }> {
  const { accountId } = session;
  await lockLive(tx, deps, session);
  const all = await shownLogins(tx, accountId, deps.now());
  const own = all.find((each) => each.id === id);
  if (own === undefined) throw new ParleyError('unknown_login', 'the account has no such login');
  if (own.leavesAt !== null) return { leavesAt: own.leavesAt };
  mustBeAnother(all, own);
  const wallet = walletOfId(id);
  // One that lets in would sign up anew, and its new account would not be blocked.
  if (wallet !== null && own.waitsUntil === null) await lockTrader(tx, accountId);
  const leavesAt = leavesAtOnce(deps, session, all, own) ? null : holdFrom(deps);
  await remove(tx, deps, accountId, { id, wallet, leavesAt });
  const payload = { way: own.way, what: own.label, leavesAt: leavesAt?.toISOString() ?? null };
  const at = new Date(deps.now());
  await insertOutbox(tx, [{ topic: 'login.removed', accountId, payload, at }]);
  if (leavesAt === null) await revokeSessions(tx, accountId, session.id, at);
  return { leavesAt };
}

/**
 * The login that was signed in with leaves at once where one stays that is older or has been there
 * for the hold. So does one that was added within the hold, where the session is of a login from
 * before: it may be a thief's.
 */
function leavesAtOnce(
  deps: Pick<Making, 'settings' | 'now'>,
  session: Session,
  all: readonly ShownLogin[],
  own: ShownLogin,
): boolean {
  if (own.way === 'wallet') return own.waitsUntil !== null;
  const newSince = deps.now() - deps.settings.people.payoutHoldSeconds * 1_000;
  const isNew = ({ addedAt }: ShownLogin) => addedAt.getTime() > newSince;
  const { walletFamily, walletAddress, loginId } = session;
  const byId = walletFamily === null ? loginId : `${walletFamily}:${walletAddress}`;
  const by = all.find((each) => each.id === byId);
  if (by === undefined) return false;
  if (by.id === own.id) {
    return all.some(
      (each) =>
        each.id !== own.id &&
        each.leavesAt === null &&
        (!isNew(each) || each.addedAt < own.addedAt),
    );
  }
  const isFirst = all.every((each) => each.addedAt >= by.addedAt);
  return isNew(own) && by.addedAt < own.addedAt && (isFirst || !isNew(by));
}

/** A login that was to leave goes now, with the sessions it signed in to; the last one stays. */
export async function leave(tx: Tx, deps: Making, accountId: string, id: string): Promise<void> {
  const at = new Date(deps.now());
  await lockAccount(tx, accountId);
  const all = await shownLogins(tx, accountId, deps.now());
  const own = all.find((each) => each.id === id);
  // Stopped meanwhile, or another process was faster.
  if (own === undefined || own.leavesAt === null || own.leavesAt > at) return;
  const wallet = walletOfId(id);
  if (!all.some((each) => each.id !== id && each.leavesAt === null)) {
    await (wallet === null
      ? setLoginLeaving(tx, { accountId, id, leavesAt: null })
      : setLeaving(tx, { accountId, ...wallet, leavesAt: null }));
    const { way, label } = own;
    const payload = { ...(wallet ?? { way, what: label }), stays: true, isLast: true };
    await insertOutbox(tx, [{ topic: 'payout.stopped', accountId, payload, at }]);
    return;
  }
  if (wallet === null) {
    await removeOther(tx, deps, accountId, id);
    await revokeSessionsOf(tx, accountId, id, at);
  } else {
    await removeWallet(tx, deps, { accountId, ...wallet });
    await revokeSessionsBy(tx, { accountId, ...wallet }, at);
  }
  const payload = { way: own.way, what: own.label, leavesAt: null };
  await insertOutbox(tx, [{ topic: 'login.removed', accountId, payload, at }]);
}

/** Throws `last_login` where no login would stay but this one; those that leave do not stay. */
function mustBeAnother(all: readonly ShownLogin[], own: ShownLogin): void {
  if (all.some((each) => each.id !== own.id && each.leavesAt === null)) return;
  const sentence = 'this is the only login of the account; add another one before you remove it';
  throw new ParleyError('last_login', sentence);
}

type Removed = {
  readonly id: string;
  readonly wallet: { readonly family: Family; readonly address: string } | null;
  readonly leavesAt: Date | null;
};

async function remove(
  tx: Tx,
  deps: Making,
  accountId: string,
  { id, wallet, leavesAt }: Removed,
): Promise<void> {
  if (wallet !== null && leavesAt === null) await removeWallet(tx, deps, { accountId, ...wallet });
  else if (wallet !== null) await setLeaving(tx, { accountId, ...wallet, leavesAt });
  else if (leavesAt !== null) await setLoginLeaving(tx, { accountId, id, leavesAt });
  else {
    await mustHaveRoomToHear(tx, deps, accountId);
    await removeOther(tx, deps, accountId, id);
  }
}

/** Throws `too_many_logins` where too many that were removed still hear. */
async function mustHaveRoomToHear(
  tx: Tx,
  { now }: Pick<Making, 'now'>,
  accountId: string,
): Promise<void> {
  const held = await formerChannelsOf(tx, [accountId], new Date(now()));
  if (held.length < mostFormerChannels) return;
  const sentence = `${held.length} removed logins are still told of changes; try again later`;
  throw new ParleyError('too_many_logins', sentence);
}

/** Where it was told of changes, it is told of them for the hold. */
async function removeOther(
  tx: Tx,
  deps: Pick<Making, 'settings' | 'now'>,
  accountId: string,
  id: string,
): Promise<void> {
  const login = await deleteLogin(tx, accountId, id);
  const former = login === null ? null : formerOf(login);
  if (former !== null) {
    await insertFormerChannel(tx, { accountId, ...former, until: holdFrom(deps) });
  }
}

/** The family's paid wallet is remembered: its signature still vouches for the next wallet. */
export async function removeWallet(tx: Tx, deps: Making, wallet: WalletOf): Promise<void> {
  const { accountId, family, address } = wallet;
  const at = new Date(deps.now());
  const held = (await walletsOf(tx, accountId)).find(
    (each) => each.standing === 'login' && each.family === family && each.address === address,
  );
  if (held === undefined) return;
  await stopPayouts(tx, { ...wallet, at });
  const chosen = await payoutsOf(tx, accountId, at);
  if (!waits(held, deps.now()) && !chosen.some((each) => isCounted(each, family, at))) {
    const id = uuidv7(deps.now(), deps.randomBytes);
    await insertPayout(tx, { ...wallet, id, askedAt: at, fromAt: at, told: true });
  }
  await deleteLoginWallet(tx, accountId, family, address);
}

export function isCounted(payout: Payout, family: Family, at: Date): boolean {
  return payout.family === family && payout.fromAt <= at;
}

type Former = { readonly channel: 'email' | 'telegram'; readonly to: string };

export function formerOf({ way, subject, chatId, chatEndedAt }: Login): Former | null {
  if (way === 'email') return { channel: 'email', to: subject };
  return chatId === null || chatEndedAt !== null ? null : { channel: 'telegram', to: chatId };
}

export function walletOfId(id: string): { family: Family; address: string } | null {
  const at = id.indexOf(':');
  const family = families.find((each) => each === id.slice(0, at));
  return family === undefined ? null : { family, address: id.slice(at + 1) };
}
