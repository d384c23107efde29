// API keys. Only the SHA-256 of a key is ever stored.

import type { Scope } from '../../core/scopes.ts';
import type { Tx } from './database.ts';

export type LiveKey = {
  readonly id: string;
  readonly hash: Buffer;
  readonly accountId: string;
  readonly scopes: Scope[];
  readonly expiresAt: Date;
};

/** Those of the keys with these hashes that are live. */
export function findLiveKeys(tx: Tx, hashes: readonly Buffer[], now: Date): Promise<LiveKey[]> {
  return tx.rows<LiveKey>({
    name: 'find_live_keys',
    text: `
      select id, hash, account_id as "accountId", scopes, expires_at as "expiresAt"
      from api_keys
      where hash = any($1::bytea[]) and revoked_at is null and expires_at > $2`,
    values: [hashes, now],
  });
}

export type NewKey = {
  readonly id: string;
  readonly accountId: string;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

export async function insertKey(tx: Tx, key: NewKey): Promise<void> {
  await tx.rows({
    name: 'insert_key',
    text: `
      insert into api_keys (id, account_id, hash, prefix, name, scopes, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      key.id,
      key.accountId,
      key.hash,
      key.prefix,
      key.name,
      key.scopes,
      key.createdAt,
      key.expiresAt,
    ],
  });
}

/** Revokes every live key of the account, and tells all processes so; returns how many. */
export async function revokeKeys(
  tx: Tx,
  accountId: string,
  notice: string,
  now: Date,
): Promise<number> {
  const rows = await tx.rows({
    name: 'revoke_keys',
    text: `
      with revoked as (
        update api_keys set revoked_at = $2
        where account_id = $1 and revoked_at is null and expires_at > $2
        returning account_id
      )
      select pg_notify('key_revoked', account_id || ' ' || $3) from revoked`,
    values: [accountId, now, notice],
  });
  return rows.length;
}

/** Revokes one live key of the account under a notice of its id; false when it has no such key. */
export async function revokeOneKey(
  tx: Tx,
  accountId: string,
  keyId: string,
  now: Date,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'revoke_one_key',
    text: `
      with revoked as (
        update api_keys set revoked_at = $3
        where account_id = $1 and id = $2 and revoked_at is null and expires_at > $3
        returning id, account_id
      )
      select pg_notify('key_revoked', account_id || ' ' || id) from revoked`,
    values: [accountId, keyId, now],
  });
  return rows.length === 1;
}

export async function countLiveKeys(tx: Tx, accountId: string, now: Date): Promise<number> {
  const rows = await tx.rows<{ count: number }>({
    name: 'count_live_keys',
    text: `
      select count(*) from api_keys
      where account_id = $1 and revoked_at is null and expires_at > $2`,
    values: [accountId, now],
  });
  return rows[0]?.count ?? 0;
}

/** Which of these keys are revoked. */
export async function revokedAmong(tx: Tx, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx.rows<{ id: string }>({
    name: 'keys_revoked_among',
    text: 'select id from api_keys where id = any($1::uuid[]) and revoked_at is not null',
    values: [ids],
  });
  return rows.map(({ id }) => id);
}

/** Every key that is good now; returns how many. Whoever remembers one forgets it. */
export async function revokeAllKeys(tx: Tx, now: Date): Promise<number> {
  const [row] = await tx.rows<{ revoked: number }>({
    name: 'revoke_all_keys',
    text: `with gone as (
        update api_keys set revoked_at = $1 where revoked_at is null and expires_at > $1
        returning account_id
      ), told as (select pg_notify('key_revoked', account_id || ' all')
        from (select distinct account_id from gone) as accounts)
      select (select count(*) from gone) as revoked, (select count(*) from told)`,
    values: [now],
  });
  return row?.revoked ?? 0;
}

/** A key as its person sees it. */
export type KeyShown = {
  readonly id: string;
  readonly prefix: string;
  readonly name: string | null;
  readonly scopes: Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** YYYY-MM-DD, UTC; null = never, or not for as long as uses are noted. */
  readonly usedOn: string | null;
  /** The client's network. */
  readonly usedFrom: string | null;
};

const shown = `id, prefix, name, scopes, created_at as "createdAt", expires_at as "expiresAt",
  to_char(used_on, 'YYYY-MM-DD') as "usedOn", used_from as "usedFrom"`;

/** The live ones, newest first. */
export function liveKeysOf(tx: Tx, accountId: string, now: Date): Promise<KeyShown[]> {
  return tx.rows<KeyShown>({
    name: 'keys_live_of',
    text: `select ${shown} from api_keys
      where account_id = $1 and revoked_at is null and expires_at > $2
      order by created_at desc, id desc limit 100`,
    values: [accountId, now],
  });
}

/** A live key of the account; null where it has no such one. */
export async function liveKeyOf(
  tx: Tx,
  accountId: string,
  id: string,
  now: Date,
): Promise<KeyShown | null> {
  const rows = await tx.rows<KeyShown>({
    name: 'keys_live_one',
    text: `select ${shown} from api_keys
      where account_id = $1 and id = $2 and revoked_at is null and expires_at > $3`,
    values: [accountId, id, now],
  });
  return rows[0] ?? null;
}

/** `on`: YYYY-MM-DD. */
export type KeyUse = { readonly id: string; readonly on: string; readonly network: string };

/** Written where day or network changed; one that somebody else writes now is left to them. */
export async function noteKeyUses(tx: Tx, uses: readonly KeyUse[]): Promise<void> {
  await tx.rows({
    name: 'keys_note_uses',
    text: `with own as (
        select api_keys.id, used.day, used.network
        from unnest($1::uuid[], $2::date[], $3::text[]) as used (id, day, network)
        join api_keys on api_keys.id = used.id
        where api_keys.revoked_at is null
          and (api_keys.used_on, api_keys.used_from) is distinct from (used.day, used.network)
          and (api_keys.used_on is null or api_keys.used_on <= used.day)
        for no key update of api_keys skip locked)
      update api_keys set used_on = own.day, used_from = own.network
      from own where api_keys.id = own.id`,
    values: [
      uses.map(({ id }) => id),
      uses.map(({ on }) => on),
      uses.map(({ network }) => network),
    ],
  });
}
