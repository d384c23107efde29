// Time decides this on accounts: wallets that waited count now, and logins and accounts that were
// to leave go. Their person is told once: the row that waited changes in the event's transaction.

import { leavingAccounts } from '../db/accounts.ts';
import { leavingLogins } from '../db/logins.ts';
import { insertOutbox } from '../db/outbox.ts';
import { takeCounted } from '../db/payouts.ts';
import { leavingWallets, takeWaited, type WalletOf } from '../db/wallets.ts';
import type { Deps, Making } from '../ports/deps.ts';
import { type Service, service } from '../ports/service.ts';
import { passingPage, passingPauseMs } from './bounds.ts';
import { endAccount } from './delete.ts';
import { leave } from './logins.ts';

export async function passHolds(deps: Making & Pick<Deps, 'db'>): Promise<number> {
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
  const wallets = await leavingWallets(deps.db, at, passingPage);
  const logins = await leavingLogins(deps.db, at, passingPage);
  const leaving = [
    ...wallets.map(({ accountId, family, address }) => ({ accountId, id: `${family}:${address}` })),
    ...logins,
  ];
  for (const { accountId, id } of leaving) {
    await deps.db.transaction((tx) => leave(tx, deps, accountId, id));
  }
  const accounts = await leavingAccounts(deps.db, at, passingPage);
  for (const id of accounts) await deps.db.transaction((tx) => endAccount(tx, deps, id));
  return counted + leaving.length + accounts.length;
}

export function createPassing(deps: Making & Pick<Deps, 'db' | 'log' | 'metrics'>): Service {
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
