// An account with wallets and a key, straight into the database.

import { hash, randomBytes } from 'node:crypto';
import type { Family } from '@parley/core/families.ts';
import type { Deps } from '../../ports/deps.ts';
import { uuidv7 } from '../../ports/ids.ts';

export type Wallet = {
  readonly family: Family;
  readonly address: string;
  readonly pubkey: string | null;
};

/** Signed in with these wallets; the key has every scope. */
export async function insertAccount(
  deps: Pick<Deps, 'db' | 'now' | 'randomBytes'>,
  logins: readonly Wallet[],
): Promise<{ accountId: string; key: string }> {
  const now = deps.now();
  const at = new Date(now);
  const accountId = uuidv7(now, deps.randomBytes);
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const key = `parley_test_${[...randomBytes(43)].map((byte) => alphabet[byte % 62]).join('')}`;
  await deps.db.rows({
    name: 'test_insert_account',
    text: `insert into accounts (id, kind, created_at) values ($1, 'wallet', $2)`,
    values: [accountId, at],
  });
  for (const { family, address, pubkey } of logins) {
    await deps.db.rows({
      name: 'test_insert_login',
      text: `insert into wallets (account_id, family, address, standing, pubkey, proven_at)
        values ($1, $2, $3, 'login', $4, $5)`,
      values: [accountId, family, address, pubkey, at],
    });
  }
  await deps.db.rows({
    name: 'test_insert_key',
    text: `insert into api_keys (id, account_id, hash, prefix, scopes, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      uuidv7(now, deps.randomBytes),
      accountId,
      hash('sha256', key, 'buffer'),
      key.slice(0, 18),
      ['read', 'taker', 'maker'],
      at,
      // Beyond every timelock that a test moves to.
      new Date(now + 900 * 86_400_000),
    ],
  });
  return { accountId, key };
}
