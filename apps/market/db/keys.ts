// API keys. Only the SHA-256 of a key is ever stored.

import type { Scope } from '@parley/core/scopes.ts';
import {
  changed,
  columns,
  count,
  did,
  foundFirst,
  many,
  none,
  one,
} from '@parley/host/postgres/statements.ts';

/** Not by an index of all keys: an account has few. */
const ends = `expires_at + interval '0 s'`;

type LiveKey = {
  readonly id: string;
  readonly hash: Buffer;
  readonly accountId: string;
  readonly scopes: Scope[];
  readonly expiresAt: Date;
  /** Whether its account is blocked. */
  readonly isBlocked: boolean;
};

/** Those of the keys with these hashes that are live. */
export const findLiveKeys = many<[hashes: readonly Buffer[], now: Date], LiveKey>('find_live_keys')`
  select ${columns('id hash accountId scopes expiresAt', 'k.')},
      a.blocked_at is not null as "isBlocked"
    from ${foundFirst('api_keys', 'hash = any($1::bytea[])')} k
      join accounts a on a.id = k.account_id
    where k.revoked_at is null and k.expires_at > $2`;

type NewKey = {
  readonly id: string;
  readonly accountId: string;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The id of the session, or `family:address` of the wallet. */
  readonly madeBy: string;
};

export const insertKey = none<[key: NewKey]>('insert_key')`
  insert into api_keys (id, account_id, hash, prefix, name, scopes, created_at, expires_at,
      made_by)
    values (:id, :accountId, :hash, :prefix, :name, :scopes, :createdAt, :expiresAt, :madeBy)`;

type KeysMade = {
  readonly accountId: string;
  /** The one session whose keys stay. */
  readonly session: string;
  /** Each `family:address`. */
  readonly wallets: readonly string[];
  /** Keys that ended sessions made since then go too. */
  readonly since: Date;
  readonly now: Date;
};

/** Revokes what other sessions, and these wallets, have made. */
export const revokeKeysMade = many<
  [made: KeysMade],
  { readonly keyId: string; readonly prefix: string; readonly name: string | null }
>('revoke_keys_made')`
  update api_keys k set revoked_at = :now
    where account_id = :accountId and revoked_at is null and ${ends} > :now
      and (made_by = any(:wallets::text[]) or (made_by <> :session and strpos(made_by, ':') = 0
        and (created_at > :since or exists (select from sessions s
          where s.account_id = :accountId and s.id::text = k.made_by and s.revoked_at is null
          offset 0))))
    returning id as "keyId", prefix, name`;

/** Revokes every live key of the account, and tells all processes so; returns how many. */
export const revokeKeys = changed<[accountId: string, now: Date]>('revoke_keys')`
  with revoked as (
      update api_keys set revoked_at = $2
      where account_id = $1 and revoked_at is null and ${ends} > $2
      returning account_id
    )
    select pg_notify('key_revoked', account_id::text) from revoked`;

/**
 * Revokes one live key of the account; false when it has no such key. Its caller waits after the
 * commit until every process has heard of it (apps/market/edge/auth.ts).
 */
export const revokeOneKey = did<[accountId: string, keyId: string, now: Date]>('revoke_one_key')`
  with revoked as (
      update api_keys set revoked_at = $3
      where account_id = $1 and id = $2 and revoked_at is null and ${ends} > $3
      returning account_id
    )
    select pg_notify('key_revoked', account_id::text) from revoked`;

export const countLiveKeys = count<[accountId: string, now: Date]>('count_live_keys')`
  select count(*) from api_keys where account_id = $1 and revoked_at is null and ${ends} > $2`;

/** Every key that is good now; returns how many. A process that remembers one forgets it. */
export const revokeAllKeys = count<[now: Date]>('revoke_all_keys')`
  with gone as (
      update api_keys set revoked_at = $1 where revoked_at is null and expires_at > $1
      returning account_id
    ), told as (select pg_notify('key_revoked', account_id::text)
      from (select distinct account_id from gone) as accounts)
    select (select count(*) from gone) as revoked, (select count(*) from told)`;

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

const shown = `${columns('id prefix name scopes createdAt expiresAt usedFrom')},
  to_char(used_on, 'YYYY-MM-DD') as "usedOn"`;

/** The live ones, newest first. */
export const liveKeysOf = many<[accountId: string, now: Date], KeyShown>('keys_live_of')`
  select ${shown} from api_keys
    where account_id = $1 and revoked_at is null and ${ends} > $2
    order by created_at desc, id desc limit 100`;

/** A live key of the account; null where it has no such one. */
export const liveKeyOf = one<[accountId: string, id: string, now: Date], KeyShown>('keys_live_one')`
  select ${shown} from api_keys
    where account_id = $1 and id = $2 and revoked_at is null and ${ends} > $3`;

/** `on`: YYYY-MM-DD. */
export type KeyUse = { readonly id: string; readonly on: string; readonly network: string };

/** Written where day or network changed; one that somebody else writes now is left to them. */
export const noteKeyUses = none<[uses: readonly KeyUse[]]>('keys_note_uses')`
  with own as (
      select api_keys.id, used.day, used.network
      from unnest($1.id::uuid[], $1.on::date[], $1.network::text[]) as used (id, day, network)
      join api_keys on api_keys.id = used.id
      where (api_keys.revoked_at is null
        and (api_keys.used_on, api_keys.used_from) is distinct from (used.day, used.network)
        and (api_keys.used_on is null or api_keys.used_on <= used.day)) is true
      for no key update of api_keys skip locked)
    update api_keys set used_on = own.day, used_from = own.network
    from own where api_keys.id = own.id`;
