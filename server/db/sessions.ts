// Sessions of browsers. Only the SHA-256 of a token is stored.

import type { Family } from '../../core/families.ts';
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
  readonly device: string;
  readonly place: string;
  readonly expiresAt: Date;
};

const columns = `id, account_id as "accountId", made_at as "madeAt",
  last_used_at as "lastUsedAt", signed_in_at as "signedInAt", signed_in_by as "signedInBy",
  wallet_family as "walletFamily", wallet_address as "walletAddress", device, place,
  expires_at as "expiresAt"`;

/** `$2` now, `$3` the oldest use of a session that is not idle. */
const isLive = 'revoked_at is null and expires_at > $2 and last_used_at > $3';

/** Now, and the oldest last use of a session that is not idle. */
export type Window = { readonly now: Date; readonly idleSince: Date };

/** Those of the sessions with these hashes that are live. */
export function findLiveSessions(
  tx: Tx,
  hashes: readonly Buffer[],
  { now, idleSince }: Window,
): Promise<(Session & { hash: Buffer })[]> {
  return tx.rows<Session & { hash: Buffer }>({
    name: 'sessions_find_live',
    text: `select ${columns}, hash from sessions where hash = any($1::bytea[]) and ${isLive}`,
    values: [hashes, now, idleSince],
  });
}

/** The live session with this token's hash; null where there is none. */
export async function findLiveSession(
  tx: Tx,
  hash: Buffer,
  window: Window,
): Promise<Session | null> {
  const [row] = await findLiveSessions(tx, [hash], window);
  if (row === undefined) return null;
  const { hash: _, ...session } = row;
  return session;
}

export function liveSessionsOf(
  tx: Tx,
  accountId: string,
  { now, idleSince }: Window,
): Promise<Session[]> {
  return tx.rows<Session>({
    name: 'sessions_live_of',
    text: `select ${columns} from sessions where account_id = $1 and ${isLive}
      order by last_used_at desc, id desc limit 100`,
    values: [accountId, now, idleSince],
  });
}

export async function insertSession(tx: Tx, session: Session & { hash: Buffer }): Promise<void> {
  await tx.rows({
    name: 'sessions_insert',
    text: `insert into sessions (id, account_id, hash, made_at, last_used_at, signed_in_at,
        signed_in_by, wallet_family, wallet_address, device, place, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      session.id,
      session.accountId,
      session.hash,
      session.madeAt,
      session.lastUsedAt,
      session.signedInAt,
      session.signedInBy,
      session.walletFamily,
      session.walletAddress,
      session.device,
      session.place,
      session.expiresAt,
    ],
  });
}

export type Renewal = {
  readonly id: string;
  readonly hash: Buffer;
  readonly at: Date;
  readonly by: SignedInBy;
  readonly walletFamily: Family | null;
  readonly walletAddress: string | null;
};

/** Its person has signed in again: under another token. False where it has ended. */
export async function renewSession(tx: Tx, renewal: Renewal): Promise<boolean> {
  const rows = await tx.rows({
    name: 'sessions_renew',
    text: `update sessions set hash = $2, signed_in_at = $3, last_used_at = $3, signed_in_by = $4,
        wallet_family = $5, wallet_address = $6
      where id = $1 and revoked_at is null and expires_at > $3 returning 1 as one`,
    values: [
      renewal.id,
      renewal.hash,
      renewal.at,
      renewal.by,
      renewal.walletFamily,
      renewal.walletAddress,
    ],
  });
  return rows.length === 1;
}

/** Ends one, and tells all processes so; false where the account has no such live one. */
export async function revokeSession(
  tx: Tx,
  accountId: string,
  id: string,
  notice: string,
  now: Date,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'sessions_revoke_one',
    text: `with gone as (
        update sessions set revoked_at = $4
        where account_id = $1 and id = $2 and revoked_at is null returning account_id
      )
      select pg_notify('key_revoked', account_id || ' ' || $3) from gone`,
    values: [accountId, id, notice, now],
  });
  return rows.length === 1;
}

/**
 * Whether it is live. If so, nobody ends it before this transaction has ended: what a session does
 * is done before its end, or not at all.
 */
export async function holdSession(
  tx: Tx,
  id: string,
  { now, idleSince }: Window,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'sessions_hold',
    text: `select 1 as one from sessions where id = $1 and ${isLive} for share`,
    values: [id, now, idleSince],
  });
  return rows.length === 1;
}

/**
 * Ends all of the account but one; null = all. Returns how many. All processes are told in any
 * case: whoever waits for their answers would otherwise wait in vain.
 */
export async function revokeSessions(
  tx: Tx,
  accountId: string,
  but: string | null,
  notice: string,
  now: Date,
): Promise<number> {
  const rows = await tx.rows<{ count: number }>({
    name: 'sessions_revoke_all',
    text: `with gone as (
        update sessions set revoked_at = $4
        where account_id = $1 and id is distinct from $2 and revoked_at is null
        returning 1 as one
      ), told as (select pg_notify('key_revoked', $1 || ' ' || $3))
      select (select count(*) from gone) as count from told`,
    values: [accountId, but, notice, now],
  });
  return rows[0]?.count ?? 0;
}

/** Ends all of the account whose last sign-in was by this wallet, and tells all processes so. */
export async function revokeSessionsBy(
  tx: Tx,
  wallet: { readonly accountId: string; readonly family: Family; readonly address: string },
  notice: string,
  now: Date,
): Promise<void> {
  await tx.rows({
    name: 'sessions_revoke_by',
    text: `with gone as (
        update sessions set revoked_at = $5
        where account_id = $1 and wallet_family = $2 and wallet_address = $3 and revoked_at is null
      )
      select pg_notify('key_revoked', $1 || ' ' || $4)`,
    values: [wallet.accountId, wallet.family, wallet.address, notice, now],
  });
}

/** Which of these hashes, in base64, are of no session that is live; idle ones count as such. */
export async function endedAmong(tx: Tx, hashes: readonly string[], now: Date): Promise<string[]> {
  if (hashes.length === 0) return [];
  const rows = await tx.rows<{ hash: string }>({
    name: 'sessions_ended_among',
    text: `select hash from unnest($1::text[]) as asked (hash)
      where not exists (select 1 from sessions
        where sessions.hash = decode(asked.hash, 'base64')
          and revoked_at is null and expires_at > $2)`,
    values: [hashes, now],
  });
  return rows.map(({ hash }) => hash);
}

/** Tells all processes to forget what they remember of the account: a token was replaced. */
export async function tellReplaced(tx: Tx, accountId: string, notice: string): Promise<void> {
  await tx.rows({
    name: 'sessions_tell_replaced',
    text: `select pg_notify('key_revoked', $1 || ' ' || $2)`,
    values: [accountId, notice],
  });
}

export type SessionUse = { readonly id: string; readonly at: Date };

/** Written once a minute at most; one that somebody else writes now is left to them. */
export async function noteSessionUses(tx: Tx, uses: readonly SessionUse[]): Promise<void> {
  await tx.rows({
    name: 'sessions_note_uses',
    text: `with own as (
        select sessions.id, used.at
        from unnest($1::uuid[], $2::timestamptz[]) as used (id, at)
        join sessions on sessions.id = used.id
        where sessions.last_used_at <= used.at - interval '1 minute'
        for no key update of sessions skip locked)
      update sessions set last_used_at = own.at from own where sessions.id = own.id`,
    values: [uses.map(({ id }) => id), uses.map(({ at }) => at)],
  });
}

/**
 * Deletes at most `limit` that ended before `before`: revoked, at their end, or not used since
 * `idleBefore`; returns how many.
 */
export async function pruneSessions(
  tx: Tx,
  before: Date,
  idleBefore: Date,
  limit: number,
): Promise<number> {
  const rows = await tx.rows({
    name: 'sessions_prune',
    text: `delete from sessions where id in (
        (select id from sessions where revoked_at < $1 limit $3)
        union (select id from sessions where expires_at < $1 limit $3)
        union (select id from sessions where last_used_at < $2 limit $3)
        limit $3)
      returning 1 as one`,
    values: [before, idleBefore, limit],
  });
  return rows.length;
}

/** Deletes at most `limit` browsers that were not seen since `before`; returns how many. */
export async function pruneDevices(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'devices_prune',
    text: `delete from devices where (account_id, hash) in
        (select account_id, hash from devices where seen_at < $1 order by seen_at limit $2)
      returning 1 as one`,
    values: [before, limit],
  });
  return rows.length;
}

/** The account was signed in from this browser before; remembers it. */
export async function seeDevice(
  tx: Tx,
  accountId: string,
  hash: Buffer,
  at: Date,
): Promise<boolean> {
  const rows = await tx.rows<{ known: boolean }>({
    name: 'devices_see',
    text: `insert into devices (account_id, hash, seen_at) values ($1, $2, $3)
      on conflict (account_id, hash) do update set seen_at = excluded.seen_at
      returning xmax <> 0 as known`,
    values: [accountId, hash, at],
  });
  return rows[0]?.known ?? false;
}
