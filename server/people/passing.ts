// What time decides on accounts: wallets that waited count now, and login wallets that were to
// leave go. Their person is told once: the row that waited changes in the event's transaction.

import type { Family } from '../../core/families.ts';
import { lockAccount } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { insertOutbox } from '../db/outbox.ts';
import { takeCounted } from '../db/payouts.ts';
import { revokeSessionsBy } from '../db/sessions.ts';
import { leavingWallets, setLeaving, takeWaited, type WalletOf } from '../db/wallets.ts';
import type { Deps } from '../ports/deps.ts';
import { type Service, service } from '../ports/service.ts';
import { passingPage, passingPauseMs } from './bounds.ts';
import { removeWallet, shownLogins } from './logins.ts';

export async function passHolds(deps: Pick<Deps, 'db' | 'now' | 'randomBytes'>): Promise<number> {
  const at = new Date(deps.now());
  const counted = await deps.db.transaction(async (tx) => {
    const payouts = await takeCounted(tx, at, passingPage);
    const waited = await takeWaited(tx, at, passingPage);
    const paid = payouts.map((each) => ({ ...each, paid: true }));
    // One that is paid now was told so.
    const others = waited.filter((each) => !payouts.some((one) => isSame(one, each)));
    const all = [...paid, ...others.map((each) => ({ ...each, paid: false }))];
    await insertOutbox(
      tx,
      all.map(({ accountId, family, address, paid }) => {
        const payload = { family, address, fromAt: at.toISOString(), paid };
        return { topic: 'payout.changed', accountId, payload, at };
      }),
    );
    return all.length;
  });
  const leaving = await leavingWallets(deps.db, at, passingPage);
  for (const each of leaving) await deps.db.transaction((tx) => leave(tx, deps, each));
  return counted + leaving.length;
}

export function createPassing(
  deps: Pick<Deps, 'db' | 'now' | 'randomBytes' | 'log' | 'metrics'>,
): Service {
  const pass = async () => {
    await passHolds(deps);
    return undefined;
  };
  return service(deps, { name: 'wallets that waited', pass, everyMs: passingPauseMs });
}

function isSame(one: WalletOf, other: WalletOf): boolean {
  const { accountId, family, address } = one;
  return accountId === other.accountId && family === other.family && address === other.address;
}

/** It goes with the sessions that it signed in to; it stays where nothing else would sign in. */
async function leave(
  tx: Tx,
  deps: Pick<Deps, 'now' | 'randomBytes'>,
  wallet: WalletOf,
): Promise<void> {
  const { accountId, address } = wallet;
  const at = new Date(deps.now());
  await lockAccount(tx, accountId);
  const all = await shownLogins(tx, accountId, deps.now());
  const own = all.find((each) => each.id === idOf(wallet));
  // Stopped meanwhile, or another process was faster.
  if (own === undefined || own.leavesAt === null || own.leavesAt > at) return;
  if (!all.some((each) => each.id !== own.id && each.leavesAt === null)) {
    await setLeaving(tx, { ...wallet, leavesAt: null });
    const { family } = wallet;
    const payload = { family, address, change: false, stays: true, isLast: true };
    await insertOutbox(tx, [{ topic: 'payout.stopped', accountId, payload, at }]);
    return;
  }
  await removeWallet(tx, deps, wallet);
  const payload = { way: 'wallet', what: address, leavesAt: null };
  await insertOutbox(tx, [{ topic: 'login.removed', accountId, payload, at }]);
  await revokeSessionsBy(tx, wallet, accountId, at);
}

function idOf({ family, address }: { family: Family; address: string }): string {
  return `${family}:${address}`;
}
