// Tickets for the maker feed: each stands for a session, once. Only their SHA-256 is stored.

import { changed, none, value } from '@parley/host/postgres/statements.ts';

type NewTicket = {
  readonly hash: Buffer;
  readonly sessionId: string;
  readonly expiresAt: Date;
};

/** The session keeps its newest `most` tickets. */
export const insertTicket = none<[ticket: NewTicket, most: number]>('feed_tickets_insert')`
  with gone as (
      delete from feed_tickets where hash in (
        select hash from feed_tickets where session_id = :sessionId
        order by expires_at desc offset $2 - 1)
    )
    insert into feed_tickets (hash, session_id, expires_at) values (:hash, :sessionId, :expiresAt)`;

/** Uses it up; the hash of its session's token, or null where it was used or has expired. */
export const takeTicket = value<[hash: Buffer, now: Date], Buffer>('feed_tickets_take')`
  with taken as (delete from feed_tickets where hash = $1 returning session_id, expires_at)
    select sessions.hash from taken join sessions on sessions.id = taken.session_id
    where taken.expires_at > $2`;

/** Deletes at most `limit` that expired before `before`; returns how many. */
export const pruneTickets = changed<[before: Date, limit: number]>('feed_tickets_prune')`
  delete from feed_tickets where hash in
      (select hash from feed_tickets where expires_at < $1 order by expires_at limit $2)
    returning 1 as one`;
