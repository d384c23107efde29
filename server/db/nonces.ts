// Single-use numbers that a wallet signs.

import type { Tx } from './database.ts';

export type Pool = 'mint' | 'link' | 'authorize';

/** Where a nonce is good: in its pool, and but for minting for the account that asked for it. */
export type NoncePlace =
  | { readonly pool: 'mint'; readonly accountId: null }
  | { readonly pool: 'link' | 'authorize'; readonly accountId: string };

export async function insertNonce(
  tx: Tx,
  nonce: NoncePlace & { readonly nonce: string; readonly expiresAt: Date },
): Promise<void> {
  await tx.rows({
    name: 'insert_nonce',
    text: 'insert into nonces (nonce, pool, account_id, expires_at) values ($1, $2, $3, $4)',
    values: [nonce.nonce, nonce.pool, nonce.accountId, nonce.expiresAt],
  });
}

/**
 * Uses it up; false when there is none to use. Of two at once, one gets it. The same `attempt` may
 * use it again.
 */
export async function useNonce(
  tx: Tx,
  nonce: string,
  { pool, accountId, attempt }: NoncePlace & { readonly attempt?: Uint8Array | null },
  now: Date,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'use_nonce',
    text: `
      update nonces set used_at = $4, used_by = $5
      where nonce = $1 and pool = $2 and account_id is not distinct from $3
        and (used_at is null or used_by = $5) and expires_at > $4
      returning 1 as one`,
    values: [nonce, pool, accountId, now, attempt ?? null],
  });
  return rows.length === 1;
}

/** Gives back one that this request used. */
export async function unuseNonce(tx: Tx, nonce: string): Promise<void> {
  await tx.rows({
    name: 'unuse_nonce',
    text: 'update nonces set used_at = null where nonce = $1',
    values: [nonce],
  });
}

/** Deletes at most `most` that expired before `before`; returns how many. */
export async function deleteNonces(tx: Tx, before: Date, most: number): Promise<number> {
  const rows = await tx.rows({
    name: 'delete_nonces',
    text: `
      delete from nonces where ctid = any(array(
        select ctid from nonces where expires_at <= $1 order by expires_at limit $2
      )) returning 1 as one`,
    values: [before, most],
  });
  return rows.length;
}
