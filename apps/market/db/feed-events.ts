// The log of events that an account asked for on the feed. The process that hands out the outbox
// appends: one process at a time, so that it has the order of the webhooks. Each account has its
// own numbers, so that nobody can count what others do.

import type { FeedTopic } from '@parley/core/events.ts';
import {
  changed,
  columns,
  many,
  none,
  one,
  unlessEmpty,
  value,
} from '@parley/host/postgres/statements.ts';
import type { Tx } from './database.ts';
import type { Handed } from './deliveries.ts';
import { notifying } from './work.ts';

/** Events kept for one account: a client that missed more reads its threads. */
export const feedEventsKept = 1_000;
/**
 * The log leaves out topics that an account did not ask for in so long; a listening client asks
 * every hour.
 */
const askedFor = `interval '7 days'`;

/** Whether `account` is told of `topic`, by a webhook that names it or on the feed; all SQL. */
const asksFor = (topic: string, account: string, at: string) => `(
    exists (select from webhooks w
      where w.account_id = ${account} and w.enabled and ${topic} = any(w.events) offset 0)
    or exists (select from feed_subscriptions s where s.account_id = ${account}
      and (s.asked ->> ${topic})::timestamptz > ${at} - ${askedFor} offset 0))`;

/**
 * Writes `thread.closed` for the parties in `closed` (columns id, rfq_id, account_id, role) that
 * ask for it, and wakes who delivers. To end a statement that closed them.
 */
export const tellingClosed = (closed: string, reason: string, at: string) => `
  told as (
    insert into outbox (topic, account_id, payload, created_at)
    select 'thread.closed', c.account_id, jsonb_build_object('threadId', c.id, 'rfqId', c.rfq_id,
        'role', c.role, 'reason', ${reason}), ${at}
      from ${closed} c where ${asksFor("'thread.closed'", 'c.account_id', at)} order by c.id
    returning id
  ), woken as (select ${notifying('webhooks')} from told limit 1)`;

type Told = {
  readonly topic: 'thread.accepted' | 'thread.proposed';
  readonly accountId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
};

/** Writes an event for the outbox where its account asks for it. */
export const insertIfAsked = none<[told: Told]>('thread_events_insert')`
  with told as (
      insert into outbox (topic, account_id, payload, created_at)
      select :topic::text, :accountId::uuid, :payload::jsonb, :at::timestamptz
        where ${asksFor(':topic', ':accountId', ':at::timestamptz')}
      returning id)
    select ${notifying('webhooks')} from told`;

/**
 * Appends events for accounts that ask: numbers them, keeps the newest `kept` of each, and tells
 * all processes.
 */
export const appendFeedEvents = unlessEmpty(
  none<[events: readonly Handed[], kept: number]>('feed_events_append')`
  with told as (
      select e.*, row_number() over (partition by e.account_id order by e.place) as nth
      from unnest($1.accountId::uuid[], $1.topic::text[], $1.payload::jsonb[],
          $1.at::timestamptz[]) with ordinality e (account_id, topic, payload, at, place)
        join feed_subscriptions s on s.account_id = e.account_id
          and (s.asked ->> e.topic)::timestamptz > e.at - ${askedFor}
    ), raised as (
      update feed_subscriptions s set number = s.number + n.count
      from (select account_id, count(*) from told group by account_id) n
      where s.account_id = n.account_id
      returning s.account_id, s.number, s.number - n.count as before
    ), dropped as (
      delete from feed_events e using raised r
      where e.account_id = r.account_id and e.number <= r.number - $2
    ), appended as (
      insert into feed_events (account_id, number, topic, payload, at)
      select t.account_id, r.before + t.nth, t.topic, t.payload, t.at
        from told t join raised r on r.account_id = t.account_id
        order by t.place
      returning seq)
    select ${notifying('feed events')} from appended limit 1`,
  undefined,
);

/**
 * Asks for events of these names, from now on. Returns the number of the account's newest event:
 * a new account's numbers begin at the clock's milliseconds, so that none comes twice.
 */
export const subscribe = value<[accountId: string, topics: readonly string[], at: Date], number>(
  'feed_subscribe',
)`
  insert into feed_subscriptions as s (account_id, number, asked)
    select $1, floor(extract(epoch from $3::timestamptz) * 1000),
      jsonb_object_agg(topic, $3::timestamptz) from unnest($2::text[]) topic
    on conflict (account_id) do update set asked = s.asked || excluded.asked
    returning number`;

type Asking = { readonly accountId: string; readonly topic: FeedTopic };

/** Those who asked before are listening still. */
export const stillAsking = unlessEmpty(
  none<[asking: readonly Asking[], at: Date]>('feed_still_asking')`
  update feed_subscriptions s set asked = s.asked || n.asked
    from (select account_id, jsonb_object_agg(topic, $2::timestamptz) as asked
      from unnest($1.accountId::uuid[], $1.topic::text[]) a (account_id, topic)
      group by account_id) n
    where s.account_id = n.account_id`,
  undefined,
);

export type FeedEvent = {
  readonly accountId: string;
  readonly number: number;
  readonly topic: FeedTopic;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
};

const read = columns('accountId number topic payload at');

/** The events of all accounts, after `seq`, in order. */
export const readFeedEvents = many<
  [seq: number, limit: number],
  FeedEvent & { readonly seq: number }
>('feed_events_read')`
  select seq, ${read} from feed_events where seq > $1 order by seq limit $2`;

/** The events of one account, after its event `number`, in order. */
export const eventsAfter = many<[accountId: string, number: number, limit: number], FeedEvent>(
  'feed_events_after',
)`
  select ${read} from feed_events
    where account_id = $1 and number > $2 order by number limit $3`;

/** Where the log stands; null of an empty one. */
export const newestFeedEvent = value<[], number>('feed_events_newest')`
  select seq from feed_events order by seq desc limit 1`;

type Reach = {
  /** The number of the oldest event that is kept; null: the log is empty. */
  readonly oldest: number | null;
  readonly newest: number;
};

/** How far back an account's events reach; null where it never asked. */
export const reachOf = one<[accountId: string], Reach>('feed_events_reach')`
  select number as newest, (select number from feed_events e where e.account_id = s.account_id
      order by number limit 1) as oldest
    from feed_subscriptions s where account_id = $1`;

/** Deletes at most `limit` of the oldest, written before `before`; returns how many. */
// They ascend with time, so the oldest are found without an index on it.
export const pruneFeedEvents = changed<[before: Date, limit: number]>('feed_events_prune')`
  delete from feed_events where seq in
      (select seq from (select seq, at from feed_events order by seq limit $2) oldest
        where at < $1)
    returning seq`;

const jump = none<[numbers: number]>('feed_events_jump')`
  with jumped as (
      select setval('feed_events_seq_seq', last_value + $1) from feed_events_seq_seq
    ), raised as (update feed_subscriptions set number = number + $1)
    select * from jumped`;
const empty = none('feed_events_empty')`
  delete from feed_events`;

/** Every position that anybody may hold lies before the log now: time is missing from it. */
export async function resetFeedEvents(tx: Tx, numbers: number): Promise<void> {
  await jump(tx, numbers);
  await empty(tx);
}
