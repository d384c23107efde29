// Sessions of browsers. Only the SHA-256 of a token is stored.

import type { Family } from '@parley/core/families.ts';
import {
  changed,
  columns,
  count,
  did,
  foundFirst,
  is,
  many,
  none,
} from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';

export type SignedInBy = 'email' | 'provider' | 'passkey' | 'wallet';

export type Session = {
  readonly id: string;
  readonly accountId: string;
  readonly madeAt: Date;
  readonly lastUsedAt: Date;
  readonly signedInAt: Date;
  readonly signedInBy: SignedInBy;
  readonly walletFamily: Family | null;
  readonly walletAddress: string | null;
  /** The login of the last sign-in; null of a wallet, and where it was not noted. */
  readonly loginId: string | null;
  readonly device: string;
  readonly place: string;
  readonly expiresAt: Date;
};

const read = columns(`id accountId madeAt lastUsedAt signedInAt signedInBy walletFamily
  walletAddress loginId device place expiresAt`);

/** As one condition, so that no index of a part of it is taken for that of the id. */
const isLive = '(revoked_at is null and expires_at > :now and last_used_at > :idleSince) is true';

/** Now, and the oldest last use of a session that is not idle. */
export type Window = { readonly now: Date; readonly idleSince: Date };

/** Those of the sessions with these hashes that are live. */
export const findLiveSessions = many<
  [hashes: readonly Buffer[], window: Window],
  Session & { readonly hash: Buffer; readonly isBlocked: boolean }
>('sessions_find_live')`
  select ${read}, hash, exists (select from accounts
      where accounts.id = sessions.account_id and blocked_at is not null offset 0) as "isBlocked"
    from ${foundFirst('sessions', 'hash = any($1::bytea[])')} sessions where ${isLive}`;

/** The live session with this token's hash; null where there is none. */
export async function findLiveSession(
  tx: Tx,
  hash: Buffer,
  window: Window,
): Promise<Session | null> {
  const [row] = await findLiveSessions(tx, [hash], window);
  if (row === undefined) return null;
  const { hash: _, isBlocked: __, ...session } = row;
  return session;
}

export const liveSessionsOf = many<[accountId: string, window: Window], Session>(
  'sessions_live_of',
)`
  select ${read} from ${foundFirst('sessions', 'account_id = $1 and revoked_at is null')} own
    where ${isLive}
    order by last_used_at desc, id desc limit 100`;

export const insertSession = none<[session: Session & { hash: Buffer }]>('sessions_insert')`
  insert into sessions (id, account_id, hash, made_at, last_used_at, signed_in_at,
      signed_in_by, wallet_family, wallet_address, login_id, device, place, expires_at)
    values (:id, :accountId, :hash, :madeAt, :lastUsedAt, :signedInAt, :signedInBy, :walletFamily,
      :walletAddress, :loginId, :device, :place, :expiresAt)`;

type Renewal = {
  readonly id: string;
  readonly hash: Buffer;
  readonly at: Date;
  readonly by: SignedInBy;
  readonly walletFamily: Family | null;
  readonly walletAddress: string | null;
  readonly loginId: string | null;
};

/** Its person has signed in again: under another token. False where it has ended. */
export const renewSession = did<[renewal: Renewal]>('sessions_renew')`
  update sessions set hash = :hash, signed_in_at = :at, last_used_at = :at, signed_in_by = :by,
      wallet_family = :walletFamily, wallet_address = :walletAddress, login_id = :loginId
    where id = :id and (revoked_at is null and expires_at > :at) is true returning 1 as one`;

/** Ends one, and tells all processes so; false where the account has no such live one. */
export const revokeSession = did<[accountId: string, id: string, now: Date]>('sessions_revoke_one')`
  with gone as (
      update sessions set revoked_at = $3
      where account_id = $1 and id = $2 and revoked_at is null returning account_id
    )
    select pg_notify('key_revoked', account_id::text) from gone`;

/**
 * Whether it is live. If so, nobody ends it before this transaction has ended: an act of a session
 * is done before its end, or not at all.
 */
export const holdSession = did<[id: string, window: Window]>('sessions_hold')`
  select 1 from sessions where id = $1 and ${isLive} for share`;

/**
 * Ends all of the account but one; null = all. Returns how many. All processes are told in any
 * case: a caller that waits for their answers would otherwise wait in vain.
 */
export const revokeSessions = count<[accountId: string, but: string | null, now: Date]>(
  'sessions_revoke_all',
)`
  with gone as (
      update sessions set revoked_at = $3
      where account_id = $1 and id is distinct from $2 and revoked_at is null
      returning 1 as one
    ), told as (select pg_notify('key_revoked', $1::uuid::text))
    select (select count(*) from gone) as count from told`;

/** Ends all of the account whose last sign-in was by this wallet, and tells all processes so. */
export const revokeSessionsBy = none<
  [
    wallet: { readonly accountId: string; readonly family: Family; readonly address: string },
    now: Date,
  ]
>('sessions_revoke_by')`
  with gone as (
      update sessions set revoked_at = $2
      where account_id = :accountId and wallet_family = :family and wallet_address = :address
        and revoked_at is null
    )
    select pg_notify('key_revoked', :accountId::uuid::text)`;

/** The same of a login that is no wallet. */
export const revokeSessionsOf = none<[accountId: string, loginId: string, now: Date]>(
  'sessions_revoke_of',
)`
  with gone as (
      update sessions set revoked_at = $3
      where account_id = $1 and login_id = $2 and revoked_at is null
    )
    select pg_notify('key_revoked', $1::uuid::text)`;

/** Tells all processes to forget what they remember of the account: a token was replaced. */
export const tellReplaced = none<[accountId: string]>('sessions_tell_replaced')`
  select pg_notify('key_revoked', $1::uuid::text)`;

export type SessionUse = { readonly id: string; readonly at: Date };

/** Written once a minute at most; one that somebody else writes now is left to them. */
export const noteSessionUses = none<[uses: readonly SessionUse[]]>('sessions_note_uses')`
  with own as (
      select sessions.id, used.at
      from unnest($1.id::uuid[], $1.at::timestamptz[]) as used (id, at)
      join sessions on sessions.id = used.id
      where sessions.last_used_at <= used.at - interval '1 minute'
      for no key update of sessions skip locked)
    update sessions set last_used_at = own.at from own where sessions.id = own.id`;

/**
 * Deletes at most `limit` that ended before `before`: revoked, at their end, or not used since
 * `idleBefore`; returns how many.
 */
export const pruneSessions = changed<[before: Date, idleBefore: Date, limit: number]>(
  'sessions_prune',
)`
  delete from sessions where id in (
      (select id from sessions where revoked_at < $1 limit $3)
      union (select id from sessions where expires_at < $1 limit $3)
      union (select id from sessions where last_used_at < $2 limit $3)
      limit $3)
    returning 1 as one`;

/** Deletes at most `limit` browsers that were not seen since `before`; returns how many. */
export const pruneDevices = changed<[before: Date, limit: number]>('devices_prune')`
  delete from devices where (account_id, hash) in
      (select account_id, hash from devices where seen_at < $1 order by seen_at limit $2)
    returning 1 as one`;

/** The account was signed in from this browser before; remembers it. */
export const seeDevice = is<[accountId: string, hash: Buffer, at: Date]>('devices_see')`
  insert into devices (account_id, hash, seen_at) values ($1, $2, $3)
    on conflict (account_id, hash) do update set seen_at = excluded.seen_at
    returning xmax <> 0 as known`;
