// The log of the maker feed. Effects write `feed.*` rows into the outbox in their transactions; one
// process at a time moves them here, which gives them an order that is the same for everybody.

import type { Tx } from './database.ts';
import { notifying } from './work.ts';

/** `reset`: what came before it is not known any more, to nobody. */
export type FeedKind = 'created' | 'cancelled' | 'gone' | 'reset';

/** Where somebody stands in the log. */
export type Place = {
  /** Orders all entries; no socket is told of it, because it counts strangers' private RFQs. */
  readonly seq: number;
  /** What sockets are told as `seq`: that of the last entry for everybody up to here. */
  readonly number: number;
};

export type FeedRow = Place & {
  readonly kind: FeedKind;
  readonly rfqId: string;
  readonly creatorId: string;
  /** Null = public. */
  readonly targetAddress: string | null;
  /** The RFQ as JSON; of `gone` the reason. */
  readonly body: string;
};

/** One process at a time appends. */
export async function lockFeedLog(tx: Tx): Promise<boolean> {
  const rows = await tx.rows<{ locked: boolean }>({
    name: 'feed_lock',
    text: `select pg_try_advisory_xact_lock(hashtext('feed log')) as locked`,
    values: [],
  });
  return rows[0]?.locked ?? false;
}

/**
 * Moves the oldest of the outbox into the log and tells so, in one statement: makers wait for it.
 * How many; null where another process is at it. An RFQ that came back with its asset (`again`) and
 * is off the market by now is left out: its end was told before it, or is next.
 */
export async function appendFromOutbox(tx: Tx, limit: number): Promise<number | null> {
  const [row] = await tx.rows<{ locked: boolean; moved: number }>({
    name: 'feed_append',
    text: `with locked as materialized
        (select pg_try_advisory_xact_lock(hashtext('feed log')) as ok),
      moved as (
        delete from outbox where id in
          (select id from outbox
            where account_id is null and topic in ('feed.created', 'feed.cancelled', 'feed.gone')
              and (select ok from locked)
            order by id limit $1)
        returning id, topic, payload, created_at
      ), appended as (
        insert into feed_log (kind, rfq_id, creator_id, target_address, body, at)
        select substr(topic, 6), (payload->>'rfqId')::uuid, (payload->>'creatorId')::uuid,
          payload->>'targetAddress', payload->>'body', created_at
        from moved
        where payload->'again' is null or exists (
          select 1 from rfqs r
          where r.id = (payload->>'rfqId')::uuid and r.status in ('open', 'negotiating'))
        order by id
        returning seq
      ), told as (select ${notifying('feed')} from appended limit 1)
      select ok as locked, (select count(*) from moved) as moved, (select count(*) from told)
      from locked`,
    values: [limit],
  });
  return row?.locked ? row.moved : null;
}

/** When the next RFQ of those that are on the market expires, or has; null = there is none. */
export async function nextExpiry(tx: Tx): Promise<Date | null> {
  const [row] = await tx.rows<{ at: Date }>({
    name: 'feed_next_expiry',
    text: `select expires_at as at from rfqs where status in ('open', 'negotiating')
      order by expires_at limit 1`,
    values: [],
  });
  return row?.at ?? null;
}

/**
 * Stores that RFQs have expired, and says so in the log. Only those that the feed knew of: neither
 * of private ones without an address, nor of what is locked for somebody's last word. Returns how
 * many have ended.
 */
export async function appendExpired(tx: Tx, now: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'feed_expire',
    text: `with ended as (
        update rfqs set status = 'expired' where id in
          (select id from rfqs
            where status in ('open', 'negotiating') and expires_at <= $1
            order by expires_at limit $2 for no key update skip locked)
        returning id, creator_id, target_address, visibility, expires_at
      ), told as (
        insert into feed_log (kind, rfq_id, creator_id, target_address, body, at)
        select 'gone', id, creator_id, target_address, 'expired', $1 from ended
        where visibility = 'public' or target_address is not null
        order by expires_at, id
      )
      select id from ended`,
    values: [now, limit],
  });
  return rows.length;
}

/** After `seq`, in order. */
export function readFeedLog(tx: Tx, seq: number, limit: number): Promise<FeedRow[]> {
  return tx.rows<FeedRow>({
    name: 'feed_read',
    text: `select seq, number, kind, rfq_id as "rfqId", creator_id as "creatorId",
        target_address as "targetAddress", body
      from feed_log where seq > $1 order by seq limit $2`,
    values: [seq, limit],
  });
}

/** The oldest entry of the log and its newest; null of an empty one. */
export async function feedLogEnds(tx: Tx): Promise<{ oldest: Place; newest: Place } | null> {
  const [oldest, newest] = await tx.rows<Place>({
    name: 'feed_ends',
    text: `(select seq, number from feed_log order by seq limit 1)
      union all (select seq, number from feed_log order by seq desc limit 1) order by seq`,
    values: [],
  });
  return oldest === undefined || newest === undefined ? null : { oldest, newest };
}

/**
 * The entry for everybody that has this number; null where it is not of `since` or later. Not of
 * whether it was pruned: that depends on what came after it, which may be strangers' private RFQs.
 */
export async function placeOf(tx: Tx, number: number, since: Date): Promise<Place | null> {
  const [place] = await tx.rows<Place>({
    name: 'feed_place',
    text: `select seq, number from feed_log
      where number = $1 and target_address is null and at >= $2`,
    values: [number, since],
  });
  return place ?? null;
}

/**
 * Deletes at most `limit` of the oldest: those appended before `before`, and all but the newest
 * `keep` numbers. The newest stays, because it says where the log stands. Returns how many.
 */
export async function pruneFeedLog(
  tx: Tx,
  before: Date,
  keep: number,
  limit: number,
): Promise<number> {
  const rows = await tx.rows({
    name: 'feed_prune',
    // Always from the oldest on: clocks that differ leave no hole.
    text: `with ends as (select max(seq) as newest, min(seq) filter (where at >= $1) as fresh
        from feed_log)
      delete from feed_log where seq in
        (select seq from feed_log, ends
          where seq < greatest(coalesce(fresh, newest), newest - $2 + 1) and seq < newest
          order by seq limit $3)
      returning seq`,
    values: [before, keep, limit],
  });
  return rows.length;
}

/** Accounts that hold one of these addresses, which are canonical. */
export function holdersOf(
  tx: Tx,
  addresses: readonly string[],
): Promise<{ accountId: string; address: string }[]> {
  return tx.rows({
    name: 'feed_holders',
    text: `select account_id as "accountId", address from wallets
      where family in ('evm', 'tron', 'bitcoin', 'solana') and address = any($1::text[])`,
    values: [addresses],
  });
}
