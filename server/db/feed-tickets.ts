// Tickets for the maker feed: each stands for a session, once. Only their SHA-256 is stored.

import type { Tx } from './database.ts';

export type NewTicket = {
  readonly hash: Buffer;
  readonly sessionId: string;
  readonly expiresAt: Date;
};

/** Of the session's, the newest `most` are left. */
export async function insertTicket(tx: Tx, ticket: NewTicket, most: number): Promise<void> {
  await tx.rows({
    name: 'feed_tickets_insert',
    text: `with gone as (
        delete from feed_tickets where hash in (
          select hash from feed_tickets where session_id = $2
          order by expires_at desc offset $4)
      )
      insert into feed_tickets (hash, session_id, expires_at) values ($1, $2, $3)`,
    values: [ticket.hash, ticket.sessionId, ticket.expiresAt, most - 1],
  });
}

/** Uses it up; the hash of its session's token, or null where it was used or has expired. */
export async function takeTicket(tx: Tx, hash: Buffer, now: Date): Promise<Buffer | null> {
  const rows = await tx.rows<{ hash: Buffer }>({
    name: 'feed_tickets_take',
    text: `with taken as (delete from feed_tickets where hash = $1 returning session_id, expires_at)
      select sessions.hash from taken join sessions on sessions.id = taken.session_id
      where taken.expires_at > $2`,
    values: [hash, now],
  });
  return rows[0]?.hash ?? null;
}

/** Deletes at most `limit` that expired before `before`; returns how many. */
export async function pruneTickets(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'feed_tickets_prune',
    text: `delete from feed_tickets where hash in
        (select hash from feed_tickets where expires_at < $1 order by expires_at limit $2)
      returning 1 as one`,
    values: [before, limit],
  });
  return rows.length;
}
