// Accounts.

import type { Tx } from './database.ts';

export type AccountKind = 'wallet' | 'browser';

export async function insertAccount(
  tx: Tx,
  account: { readonly id: string; readonly kind: AccountKind; readonly createdAt: Date },
): Promise<void> {
  await tx.rows({
    name: 'insert_account',
    text: 'insert into accounts (id, kind, created_at) values ($1, $2, $3)',
    values: [account.id, account.kind, account.createdAt],
  });
}

/** Its kind; its other key mints and posts wait until this transaction ends. */
export async function lockAccount(tx: Tx, id: string): Promise<AccountKind> {
  const rows = await tx.rows<{ kind: AccountKind }>({
    name: 'lock_account',
    text: 'select kind from accounts where id = $1 for no key update',
    values: [id],
  });
  const [row] = rows;
  if (row === undefined) throw new Error(`account ${id} is gone`);
  return row.kind;
}

/** Waits for whoever holds the number; held until this transaction ends. */
export async function waitForLock(tx: Tx, number: bigint): Promise<void> {
  await tx.rows({
    name: 'wait_for_lock',
    text: 'select pg_advisory_xact_lock($1)',
    values: [number.toString()],
  });
}

/** From now on it holds ten keys, and never one again. */
export async function makeBrowserAccount(tx: Tx, id: string): Promise<void> {
  await tx.rows({
    name: 'account_to_browser',
    text: `update accounts set kind = 'browser' where id = $1 and kind = 'wallet'`,
    values: [id],
  });
}
