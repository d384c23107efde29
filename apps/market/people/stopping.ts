// A person stops what waits: a wallet to be paid, a login or the account that is to go. A thief may
// have asked for it who is signed in still, and has keys: every other session ends, with the keys
// that it made.

import { ParleyError } from '@parley/core/errors.ts';
import { setAccountLeaving } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { revokeKeysMade } from '../db/keys.ts';
import { loginsOf, setLoginLeaving } from '../db/logins.ts';
import { insertOutbox } from '../db/outbox.ts';
import { stopPayouts } from '../db/payouts.ts';
import { revokeSessions } from '../db/sessions.ts';
import { deleteWaiting, findLogin, setLeaving } from '../db/wallets.ts';
import type { Deps } from '../ports/deps.ts';
import { shownLogins, walletOfId } from './logins.ts';
import { receivingOf, type WalletName } from './payouts.ts';
import { lockLive, type Session } from './sessions.ts';

/** A wallet: all that waits of it; `login`: its removal, by its id; `account`: its deletion. */
export type Stop = WalletName | { readonly login: string } | 'account' | 'all';

type Stopping = {
  readonly accountId: string;
  readonly at: Date;
};

/** Throws `unknown_payout` where nothing waits of it, and `last_login`. */
export async function stopWaiting(
  tx: Tx,
  deps: Pick<Deps, 'settings' | 'now'>,
  session: Session,
  what: Stop,
): Promise<void> {
  const { accountId } = session;
  const at = new Date(deps.now());
  await lockLive(tx, deps, session);
  const stopping = { accountId, at };
  const gone: string[] = [];
  let stopped = 0;
  for (const wallet of await walletsIn(tx, stopping, what)) {
    const end = await stopWallet(tx, stopping, wallet);
    if (end !== 'nothing') stopped += 1;
    if (end === 'gone') gone.push(`${wallet.family}:${wallet.address}`);
  }
  const kept = isLogin(what) ? walletOfId(what.login) : null;
  if (kept !== null && (await setLeaving(tx, { accountId, ...kept, leavesAt: null }))) {
    stopped += 1;
    const payload = { ...kept, change: false, stays: true };
    await insertOutbox(tx, [{ topic: 'payout.stopped', accountId, payload, at }]);
  }
  for (const { id, way, label } of await loginsOf(tx, accountId)) {
    if (what !== 'all' && !(isLogin(what) && what.login === id)) continue;
    if (!(await setLoginLeaving(tx, { accountId, id, leavesAt: null }))) continue;
    stopped += 1;
    const payload = { way, what: label, stays: true };
    await insertOutbox(tx, [{ topic: 'payout.stopped', accountId, payload, at }]);
  }
  const isAccount = what === 'all' || what === 'account';
  if (isAccount && (await setAccountLeaving(tx, accountId, null))) {
    stopped += 1;
    const payload = { account: true };
    await insertOutbox(tx, [{ topic: 'payout.stopped', accountId, payload, at }]);
  }
  if (stopped === 0) throw nothing(what);
  if ((await shownLogins(tx, accountId, deps.now())).length === 0) {
    const sentence = 'this wallet is the only login of the account; add another one first';
    throw new ParleyError('last_login', sentence);
  }
  await endOthers(tx, deps, session, gone);
}

function isLogin(what: Stop): what is { readonly login: string } {
  return typeof what === 'object' && 'login' in what;
}

async function walletsIn(tx: Tx, { accountId, at }: Stopping, what: Stop): Promise<WalletName[]> {
  if (what === 'account' || isLogin(what)) return [];
  if (what !== 'all') return [what];
  const held = await receivingOf(tx, accountId, at.getTime());
  return held.flatMap(({ family, waiting, leaving }) =>
    [...waiting, ...leaving].map(({ address }) => ({ family, address })),
  );
}

/** `gone`: a wallet that signed in, and does no more. */
async function stopWallet(
  tx: Tx,
  { accountId, at }: Stopping,
  { family, address }: WalletName,
): Promise<'nothing' | 'stopped' | 'gone'> {
  const one = { accountId, family, address };
  const wasLogin = (await findLogin(tx, family, address)) === accountId;
  const changed = (await stopPayouts(tx, { ...one, at })) > 0;
  const deleted = (await deleteWaiting(tx, { ...one, now: at })) > 0;
  const stays = await setLeaving(tx, { ...one, leavesAt: null });
  if (!changed && !deleted && !stays) return 'nothing';
  const payload = { family, address, change: changed || deleted, stays };
  await insertOutbox(tx, [{ topic: 'payout.stopped', accountId, payload, at }]);
  if (!deleted || !wasLogin) return 'stopped';
  const removed = { way: 'wallet', what: address, leavesAt: null };
  await insertOutbox(tx, [{ topic: 'login.removed', accountId, payload: removed, at }]);
  return 'gone';
}

function nothing(what: Stop): ParleyError {
  const isWallet = typeof what === 'object' && 'address' in what;
  const words = isWallet ? `no change waits for ${what.address}` : 'no change of this kind waits';
  return new ParleyError('unknown_payout', `${words} on this account`);
}

/** `wallets`: those that waited, and minted keys all the same. */
async function endOthers(
  tx: Tx,
  { settings, now }: Pick<Deps, 'settings' | 'now'>,
  { accountId, id }: Session,
  wallets: readonly string[],
): Promise<void> {
  const at = new Date(now());
  // A thief may have signed out, and kept a key.
  const since = new Date(now() - settings.people.payoutHoldSeconds * 1_000);
  const keys = await revokeKeysMade(tx, { accountId, session: id, wallets, since, now: at });
  await insertOutbox(
    tx,
    keys.map((payload) => ({ topic: 'key.revoked', accountId, payload, at })),
  );
  await revokeSessions(tx, accountId, id, at);
}
