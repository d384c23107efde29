// Stored replies of commands, and the transaction control around them.

import { changed, columns, did, is, none, one } from '@parley/host/postgres/statements.ts';

/** How long a reply is given again: specification, "Idempotency storage". */
export const keptMs = 24 * 3_600_000;

type ReplyRow = {
  readonly bodyHash: Buffer;
  readonly status: number;
  readonly reply: Buffer;
  readonly keyVersion: number | null;
};

/** `key`: method, path and Idempotency-Key of a request, hashed. */
export type SlotKey = { readonly accountId: string; readonly key: string };

/** False while another transaction holds the number; held until this one ends. */
export const tryLock = is<[number: bigint]>('try_lock')`
  select pg_try_advisory_xact_lock($1) as locked`;

/** False while another session holds the number; held until `leaveSession` or the session's end. */
export const tryLockSession = is<[number: bigint]>('try_lock_session')`
  select pg_try_advisory_lock($1) as locked`;

export const leaveSession = none<[number: bigint]>('leave_session')`
  select pg_advisory_unlock($1)`;

export const findReplyRow = one<[slot: SlotKey, since: Date], ReplyRow>('find_reply')`
  select ${columns('bodyHash status reply keyVersion')} from idempotency
    where account_id = :accountId and key = :key and created_at > $2`;

/** The share of a reply in an account's daily (UTC) limit, and that limit. */
type Charge = {
  readonly day: string;
  readonly refusals: number;
  readonly bytes: number;
  readonly most: { readonly refusals: number; readonly bytes: number };
};

/** Takes the place of an expired one. False, and nothing kept, where the day holds no more. */
export const keepReply = did<[slot: SlotKey, row: ReplyRow, createdAt: Date, of: Charge]>(
  'keep_reply',
)`
  with counted as (
      insert into kept_replies as k (account_id, day, refusals, bytes)
      values (:accountId, :day::date, :refusals::int, :bytes::bigint)
      on conflict (account_id, day) do update
        set refusals = k.refusals + excluded.refusals, bytes = k.bytes + excluded.bytes
        where k.refusals + excluded.refusals <= :most.refusals::int
          and k.bytes + excluded.bytes <= :most.bytes::bigint
      returning 1
    )
    insert into idempotency
      (account_id, key, body_hash, status, reply, key_version, created_at)
    select :accountId::uuid, :key, :bodyHash::bytea, :status::int, :reply::bytea,
      :keyVersion::int, $3::timestamptz
    from counted
    on conflict (account_id, key) do update set
      body_hash = excluded.body_hash, status = excluded.status, reply = excluded.reply,
      key_version = excluded.key_version, created_at = excluded.created_at
    returning 1`;

/** Deletes at most `limit` counts of days before; returns how many. */
export const pruneKeptReplies = changed<[before: Date, limit: number]>('prune_kept_replies')`
  delete from kept_replies where (account_id, day) in
    (select account_id, day from kept_replies where day < $1::date limit $2) returning 1`;

/** Deletes at most `most` replies older than `before`; returns how many. */
// The age is asked twice: older versions of PostgreSQL delete a row that they waited for, whatever
// it holds by then. The first of the two is not one of an index: the rows are found by their place.
export const deleteReplies = changed<[before: Date, most: number]>('delete_replies')`
  delete from idempotency where created_at + interval '0 s' <= $1 and ctid = any(array(
      select ctid from idempotency where created_at <= $1 order by created_at limit $2
    )) returning 1 as one`;

export const savepoint = none('savepoint_effect')`
  savepoint effect`;

export const releaseSavepoint = none('release_effect')`
  release savepoint effect`;

export const rollBackToSavepoint = none('undo_effect')`
  rollback to savepoint effect`;
