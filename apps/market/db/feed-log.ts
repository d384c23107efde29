// The log of the maker feed. Effects write `feed.*` rows into the outbox in their transactions; one
// process at a time moves them here, which gives them an order that is the same for everybody.

import type { Family } from '@parley/core/families.ts';
import { changed, columns, is, many, one, value } from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';
import { tellingClosed } from './feed-events.ts';
import { isOpen } from './threads.ts';
import { notifying } from './work.ts';

/** `reset`: the earlier entries are lost for everybody. */
type FeedKind = 'created' | 'cancelled' | 'gone' | 'reset';

/** Where somebody stands in the log. */
export type Place = {
  /** Orders all entries; no socket is told of it, because it counts strangers' private RFQs. */
  readonly seq: number;
  /** The `seq` that sockets are sent: that of the last entry for everybody up to here. */
  readonly number: number;
};

export type FeedRow = Place & {
  readonly kind: FeedKind;
  readonly rfqId: string;
  readonly creatorId: string;
  /** Null = public. */
  readonly targetAddress: string | null;
  /** The RFQ as JSON; the reason if the kind is `gone`. */
  readonly body: string;
};

/** One process at a time appends. */
export const lockFeedLog = is('feed_lock')`
  select pg_try_advisory_xact_lock(hashtext('feed log')) as locked`;

/**
 * Moves the oldest of the outbox into the log and tells so, in one statement: makers wait for it.
 * How many; null where another process is at it. An RFQ that came back with its asset (`again`) and
 * is off the market by now is left out: its end was told before it, or is next.
 */
export const appendFromOutbox = value<[limit: number], number>('feed_append')`
  with locked as materialized
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
        where r.id = (payload->>'rfqId')::uuid and r.status in ('open', 'negotiating') offset 0)
      order by id
      returning seq
    ), told as (select ${notifying('feed')} from appended limit 1)
    select case when ok then (select count(*) from moved) end, (select count(*) from told)
    from locked`;

/** When the next RFQ of those that are on the market expires, or has; null = there is none. */
export const nextExpiry = value<[], Date>('feed_next_expiry')`
  select expires_at as at from rfqs where status in ('open', 'negotiating')
    order by expires_at limit 1`;

/**
 * Stores that RFQs have expired, closes their threads, and says so in the log. Only those that the
 * feed knew of: neither of private ones without an address, nor of what is locked for somebody's
 * last word. Returns how many have ended.
 */
export const appendExpired = changed<[now: Date, limit: number]>('feed_expire')`
  with ended as (
      update rfqs set status = 'expired' where id in
        (select id from rfqs
          where status in ('open', 'negotiating') and expires_at <= $1
          order by expires_at limit $2 for no key update skip locked)
      returning id, creator_id, target_address, visibility, expires_at
    ), logged as (
      insert into feed_log (kind, rfq_id, creator_id, target_address, body, at)
      select 'gone', id, creator_id, target_address, 'expired', $1 from ended
      where visibility = 'public' or target_address is not null
      order by expires_at, id
    ), closed as (
      update threads t set status = 'closed', updated_at = e.expires_at from ended e
      where t.rfq_id = e.id and t.${isOpen}
      returning t.id, t.rfq_id, t.maker_id as account_id, 'maker' as role
    ), ${tellingClosed('closed', `'expired'`, '$1::timestamptz')}
    select id, (select count(*) from woken) from ended`;

/** After `seq`, in order: public entries, and those for these addresses; null = everything. */
export const readFeedLog = many<
  [seq: number, limit: number, addresses: readonly string[] | null],
  FeedRow
>('feed_read')`
  select ${columns('seq number kind rfqId creatorId targetAddress body')}
    from feed_log
    where seq > $1
      and ($3::text[] is null or target_address is null or target_address = any($3))
    order by seq limit $2`;

const ends = many<[], Place>('feed_ends')`
  (select seq, number from feed_log order by seq limit 1)
    union all (select seq, number from feed_log order by seq desc limit 1) order by seq`;

/** The oldest entry of the log and its newest; null of an empty one. */
export async function feedLogEnds(tx: Tx): Promise<{ oldest: Place; newest: Place } | null> {
  const [oldest, newest] = await ends(tx);
  return oldest === undefined || newest === undefined ? null : { oldest, newest };
}

/**
 * The entry for everybody that has this number; null where it is not of `since` or later. Not of
 * whether it was pruned: that depends on what came after it, which may be strangers' private RFQs.
 */
export const placeOf = one<[number: number, since: Date], Place>('feed_place')`
  select seq, number from feed_log where number = $1 and target_address is null and at >= $2`;

/**
 * Deletes at most `limit` of the oldest: those appended before `before`, and all but the newest
 * `keep` numbers. The newest stays, because it says where the log stands. Returns how many.
 */
// Always from the oldest on: clocks that differ leave no hole.
export const pruneFeedLog = changed<[before: Date, keep: number, limit: number]>('feed_prune')`
  with ends as (select (select max(seq) from feed_log) as newest,
      (select seq from feed_log where at >= $1 order by seq limit 1) as fresh)
    delete from feed_log where seq in
      (select seq from feed_log, ends
        where seq < greatest(coalesce(fresh, newest), newest - $2 + 1) and seq < newest
        order by seq limit $3)
    returning seq`;

/** Accounts that hold one of these addresses, which are canonical. */
export const holdersOf = many<
  [addresses: readonly string[], families: readonly Family[]],
  { accountId: string; address: string }
>('feed_holders')`
  select ${columns('accountId address')} from wallets
    where family = any($2::text[]) and address = any($1::text[])`;
