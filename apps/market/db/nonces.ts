// Single-use numbers that a wallet signs.

import { changed, did, none } from '@parley/host/postgres/statements.ts';

export type Pool = 'mint' | 'link' | 'authorize';

/** Where a nonce is good: in its pool, and but for minting for the account that asked for it. */
export type NoncePlace =
  | { readonly pool: 'mint'; readonly accountId: null }
  | { readonly pool: 'link' | 'authorize'; readonly accountId: string };

export const insertNonce = none<
  [nonce: NoncePlace & { readonly nonce: string; readonly expiresAt: Date }]
>('insert_nonce')`
  insert into nonces (nonce, pool, account_id, expires_at) values (:nonce, :pool, :accountId,
    :expiresAt)`;

/**
 * Uses it up; false when there is none to use. Two calls at once: one gets it. The same `attempt`
 * may use it again.
 */
export const useNonce = did<
  [nonce: string, place: NoncePlace, now: Date, attempt?: Uint8Array | null]
>('use_nonce')`
  update nonces set used_at = $3, used_by = $4
    where nonce = $1 and pool = :pool and account_id is not distinct from :accountId
      and (used_at is null or used_by = $4) and expires_at > $3
    returning 1`;

/** Gives back one that this request used. */
export const unuseNonce = none<[nonce: string]>('unuse_nonce')`
  update nonces set used_at = null where nonce = $1`;

/** Deletes at most `most` that expired before `before`; returns how many. */
export const deleteNonces = changed<[before: Date, most: number]>('delete_nonces')`
  delete from nonces where ctid = any(array(
      select ctid from nonces where expires_at <= $1 order by expires_at limit $2
    )) returning 1 as one`;
