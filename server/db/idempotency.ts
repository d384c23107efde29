// Stored replies of commands, and the transaction control around them.

import type { Tx } from './database.ts';

/** How long a reply is given again: specification, "Idempotency storage". */
export const keptMs = 24 * 3_600_000;

export type ReplyRow = {
  readonly bodyHash: Buffer;
  readonly status: number;
  readonly reply: Buffer;
  readonly keyVersion: number | null;
};

/** Method, path and key of a request, hashed; or as a server of the version before stored them. */
export type SlotKey = {
  readonly accountId: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
};

/** False while another transaction holds the number; held until this one ends. */
export async function tryLock(tx: Tx, number: bigint): Promise<boolean> {
  const rows = await tx.rows<{ locked: boolean }>({
    name: 'try_lock',
    text: 'select pg_try_advisory_xact_lock($1) as locked',
    values: [number.toString()],
  });
  return rows[0]?.locked === true;
}

/** False while another session holds the number; held until `leaveSession` or the session's end. */
export async function tryLockSession(session: Tx, number: bigint): Promise<boolean> {
  const rows = await session.rows<{ locked: boolean }>({
    name: 'try_lock_session',
    text: 'select pg_try_advisory_lock($1) as locked',
    values: [number.toString()],
  });
  return rows[0]?.locked === true;
}

export async function leaveSession(session: Tx, number: bigint): Promise<void> {
  await session.rows({
    name: 'leave_session',
    text: 'select pg_advisory_unlock($1)',
    values: [number.toString()],
  });
}

export async function findReplyRow(
  tx: Tx,
  slot: SlotKey,
  former: SlotKey,
  since: Date,
): Promise<ReplyRow | null> {
  const rows = await tx.rows<ReplyRow>({
    name: 'find_reply',
    text: `
      select body_hash as "bodyHash", status, reply, key_version as "keyVersion"
      from idempotency
      where account_id = $1 and created_at > $8
        and ((method = $2 and path = $3 and key = $4) or (method = $5 and path = $6 and key = $7))
      order by created_at limit 1`,
    values: [
      slot.accountId,
      slot.method,
      slot.path,
      slot.key,
      former.method,
      former.path,
      former.key,
      since,
    ],
  });
  return rows[0] ?? null;
}

/** What a reply takes of what an account's day (UTC) holds, and how much that is. */
export type Charge = {
  readonly day: string;
  readonly refusals: number;
  readonly bytes: number;
  readonly most: { readonly refusals: number; readonly bytes: number };
};

/** Takes the place of an expired one. False, and nothing kept, where the day holds no more. */
export async function keepReply(
  tx: Tx,
  slot: SlotKey,
  row: ReplyRow,
  createdAt: Date,
  { day, refusals, bytes, most }: Charge,
): Promise<boolean> {
  const rows = await tx.rows({
    name: 'keep_reply',
    text: `
      with counted as (
        insert into kept_replies as k (account_id, day, refusals, bytes)
        values ($1, $10::date, $11::int, $12::bigint)
        on conflict (account_id, day) do update
          set refusals = k.refusals + excluded.refusals, bytes = k.bytes + excluded.bytes
          where k.refusals + excluded.refusals <= $13::int
            and k.bytes + excluded.bytes <= $14::bigint
        returning 1
      )
      insert into idempotency
        (account_id, method, path, key, body_hash, status, reply, key_version, created_at)
      select $1::uuid, $2, $3, $4, $5::bytea, $6::int, $7::bytea, $8::int, $9::timestamptz
      from counted
      on conflict (account_id, method, path, key) do update set
        body_hash = excluded.body_hash, status = excluded.status, reply = excluded.reply,
        key_version = excluded.key_version, created_at = excluded.created_at
      returning 1`,
    values: [
      slot.accountId,
      slot.method,
      slot.path,
      slot.key,
      row.bodyHash,
      row.status,
      row.reply,
      row.keyVersion,
      createdAt,
      day,
      refusals,
      bytes,
      most.refusals,
      most.bytes,
    ],
  });
  return rows.length === 1;
}

/** Deletes at most `limit` counts of days before; returns how many. */
export async function pruneKeptReplies(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'prune_kept_replies',
    text: `delete from kept_replies where (account_id, day) in
        (select account_id, day from kept_replies where day < $1::date limit $2) returning 1`,
    values: [before, limit],
  });
  return rows.length;
}

/** Deletes at most `most` replies older than `before`; returns how many. */
export async function deleteReplies(tx: Tx, before: Date, most: number): Promise<number> {
  const rows = await tx.rows({
    name: 'delete_replies',
    // Asked twice: older servers delete the row that they waited for, whatever it holds by then.
    text: `
      delete from idempotency where created_at <= $1 and ctid = any(array(
        select ctid from idempotency where created_at <= $1 order by created_at limit $2
      )) returning 1 as one`,
    values: [before, most],
  });
  return rows.length;
}

export async function savepoint(tx: Tx): Promise<void> {
  await tx.rows({ name: 'savepoint_effect', text: 'savepoint effect', values: [] });
}

export async function releaseSavepoint(tx: Tx): Promise<void> {
  await tx.rows({ name: 'release_effect', text: 'release savepoint effect', values: [] });
}

export async function rollBackToSavepoint(tx: Tx): Promise<void> {
  await tx.rows({ name: 'undo_effect', text: 'rollback to savepoint effect', values: [] });
}
