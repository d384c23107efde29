// Deliveries to webhooks: made of the outbox, taken in hand for a while, and what came of each.
//
// Only the first delivery of one webhook and subject that has had no attempt is ready; the others
// are `behind` it, and each outcome of a first attempt frees the next. Handing out and storing outcomes
// both hold the webhook's row, so that neither misses what the other does.

import { threadTopics, webhookTopics } from '@parley/core/events.ts';
import {
  changed,
  columns,
  did,
  is,
  many,
  none,
  unlessEmpty,
} from '@parley/host/postgres/statements.ts';
import type { Database, Tx } from './database.ts';

export type Handed = {
  readonly id: number;
  readonly topic: string;
  readonly accountId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
  /** The thread that it is about; for a swap, the thread that it came from. */
  readonly subject: string | null;
  /** Its account has asked for such events on the feed, at some time. */
  readonly onFeed: boolean;
};

/** Sent only to webhooks that name them: the specification has none of them. */
export const namedOnly: ReadonlySet<string> = new Set([
  ...threadTopics,
  'swap.release',
  'swap.cosign',
]);

/** The first two are what the index is of. */
export const forWebhooks = `account_id is not null and topic <> 'key.created'
  and topic in (${webhookTopics.map((each) => `'${each}'`).join(', ')})`;

/** Whether any event waits to be handed out. */
export const eventsWait = did('deliveries_wait')`
  select 1 from outbox where ${forWebhooks} order by id limit 1`;

/** One process at a time hands out, so that what happened first is handed out first. */
export const lockHandingOut = is('deliveries_lock')`
  select pg_try_advisory_xact_lock(hashtext('webhook deliveries')) as locked`;

/** Takes the oldest events for webhooks out of the outbox. */
export const takeFromOutbox = many<[limit: number], Handed>('deliveries_take')`
  with taken as (
      delete from outbox where id in
        (select id from outbox where ${forWebhooks} order by id limit $1)
      returning id, topic, account_id, payload, created_at)
    select t.id, t.topic, t.account_id as "accountId", t.payload, t.created_at as at,
      coalesce(
        (select thread_id::text from swaps where id = (t.payload->>'swapId')::uuid),
        t.payload->>'threadId', t.payload->>'swapId') as subject,
      exists (select from feed_subscriptions s
        where s.account_id = t.account_id and s.asked ? t.topic offset 0) as "onFeed"
    from taken t
    order by t.id`;

export type Subscriber = {
  readonly id: string;
  readonly accountId: string;
  /** Which events it wants; empty = all. */
  readonly events: readonly string[];
  /** How many deliveries to it wait. */
  readonly waiting: number;
  /** 2xx, at some time. */
  readonly answered: boolean;
};

/** Webhooks of these accounts, held to the end of the transaction. */
export const holdSubscribers = many<[accountIds: readonly string[]], Subscriber>(
  'deliveries_subscribers',
)`
  select ${columns('id accountId events waiting answered')} from webhooks
    where enabled and account_id = any($1) order by id for no key update`;

export type NewDelivery = {
  readonly id: string;
  readonly webhookId: string;
  readonly event: string;
  readonly subject: string | null;
  readonly position: number;
  /** The body of its event, behind type and id. */
  readonly rest: string;
};

/** One whole, of a delivery `d`. */
export const wholeBody = `coalesce(d.body, (
    select '{"type":"' || d.event || '","deliveryId":"' || d.id || '",' || b.rest
      from delivery_bodies b where b.id = d.position)) as body`;

type Price = Pick<NewDelivery, 'webhookId' | 'event' | 'subject' | 'position'>;

/**
 * Deletes deliveries in whose place these come: each the last of its thread that waits, of the
 * same event, neither tried nor in hand. Answers those that got a place; the caller holds the
 * webhooks.
 */
export const deleteOvertaken = unlessEmpty(
  many<[prices: readonly Price[]], Pick<Price, 'webhookId' | 'position'>>('deliveries_overtaken')`
  with gone as (
      delete from deliveries d
      using unnest($1.webhookId::uuid[], $1.event::text[], $1.subject::uuid[],
        $1.position::bigint[]) n (webhook_id, event, subject, position)
      where d.webhook_id = n.webhook_id and d.subject = n.subject and d.event = n.event
        and d.state = 'waiting' and d.attempts = 0 and d.next_at = d.created_at
        and not exists (select from deliveries e
          where e.webhook_id = d.webhook_id and e.subject = d.subject and e.state = 'waiting'
            and e.attempts = 0 and e.position > d.position offset 0)
      returning d.webhook_id, n.position
    ), counted as (
      update webhooks w set waiting = waiting - g.count
      from (select webhook_id, count(*) from gone group by webhook_id) g
      where w.id = g.webhook_id
    )
    select ${columns('webhookId position')} from gone`,
  [],
);

/** For webhooks that are held. */
export const insertDeliveries = unlessEmpty(
  none<[deliveries: readonly NewDelivery[], at: Date]>('deliveries_insert')`
  with counted as (
      update webhooks w set waiting = waiting + n.count
      from (select id, count(*) from unnest($1.webhookId::uuid[]) id group by id) n
      where w.id = n.id
    ), bodies as (
      insert into delivery_bodies (id, rest)
        select distinct * from unnest($1.position::bigint[], $1.rest::text[])
    )
    insert into deliveries
      (id, webhook_id, event, subject, position, behind, next_at, created_at)
    select id, webhook_id, event, subject, position,
      subject is not null and (
        row_number() over (partition by webhook_id, subject order by position) > 1
        or exists (select 1 from deliveries e
          where e.webhook_id = n.webhook_id and e.subject = n.subject
            and e.state = 'waiting' and e.attempts = 0 offset 0)),
      $2, $2
    from unnest($1.id::uuid[], $1.webhookId::uuid[], $1.event::text[], $1.subject::uuid[],
      $1.position::bigint[]) n (id, webhook_id, event, subject, position)`,
  undefined,
);

export type Lane = 'quick' | 'slow';

/** How many of each, by id. */
export type InHand = ReadonlyMap<string, number>;

export type Due = {
  readonly id: string;
  readonly webhookId: string;
  readonly accountId: string;
  readonly event: string;
  readonly position: number;
  readonly body: string;
  /** Made before. */
  readonly attempts: number;
  readonly url: string;
  readonly secret: Buffer;
  readonly secretVersion: number;
  readonly lane: Lane;
};

export type Claim = {
  readonly now: Date;
  /** Until when nobody else takes them. */
  readonly until: Date;
  /** The limit between webhooks whose last attempt took less than `slowMs`, and all others. */
  readonly slowMs: number;
  readonly room: Readonly<Record<Lane, number>>;
  /** The limit for one webhook, with deliveries in hand. */
  readonly each: Readonly<Record<Lane, number>>;
  /** The limit for one account, with deliveries in hand. */
  readonly ofAccount: Readonly<Record<Lane, number>>;
  readonly inHand: { readonly webhooks: InHand; readonly accounts: InHand };
};

const isQuick = 'coalesce(w.last_milliseconds < :slowMs, false)';

/** The deliveries of a webhook `t`: if it is held back, only those begun before. */
const fitting = (which: string) => `select id, next_at, position from deliveries
  where ${which} and webhook_id = t.id and state = 'waiting' and not behind and next_at <= :now
  order by next_at, position
  limit greatest(0, case when t.quick then :each.quick::int else :each.slow::int end - t.in_hand)`;

type Counted = { readonly ids: readonly string[]; readonly counts: readonly number[] };
type Held = { readonly webhooks: Counted; readonly accounts: Counted };

const takeDue = many<[claim: Claim, held: Held], Due>('deliveries_claim')`
  with recursive heads as (
      (select webhook_id, next_at from deliveries where state = 'waiting' and not behind
        order by webhook_id, next_at limit 1)
      union all
      select n.webhook_id, n.next_at from heads h cross join lateral
        (select webhook_id, next_at from deliveries
          where state = 'waiting' and not behind and webhook_id > h.webhook_id
          order by webhook_id, next_at limit 1) n
    ), turns as (
      select w.id, w.account_id, ${isQuick} as quick, coalesce(i.count, 0) as in_hand,
        coalesce(a.count, 0) as of_account, coalesce(w.held_until > :now, false) as held
      from heads h join webhooks w on w.id = h.webhook_id
        left join unnest(:webhooks.ids::uuid[], :webhooks.counts::int[]) i (id, count)
          on i.id = w.id
        left join unnest(:accounts.ids::uuid[], :accounts.counts::int[]) a (id, count)
          on a.id = w.account_id
      where h.next_at <= :now and w.enabled
    ), own as (
      select d.id, t.quick, d.next_at, d.position, t.of_account + row_number() over (
        partition by t.quick, t.account_id
        order by t.in_hand + d.turn, d.next_at, d.position) as turn
      from turns t cross join lateral
        (select id, next_at, position,
            row_number() over (order by next_at, position) as turn
          from (
            (${fitting('not t.held')}) union all (${fitting('t.held and attempts > 0')})
          ) as fitting) d
    ), ranked as (
      select id, quick, row_number() over (
        partition by quick order by turn, next_at, position) as place
      from own
      where turn <= case when quick then :ofAccount.quick::int else :ofAccount.slow::int end
    ), mine as (
      select id from deliveries where id = any(array(
        select id from ranked
        where place <= case when quick then :room.quick::int else :room.slow::int end))
      for update skip locked
    )
    update deliveries d set next_at = :until from webhooks w
    where d.id = any(array(select id from mine)) and w.id = d.webhook_id
      and d.state = 'waiting' and d.next_at <= :now
    returning ${columns('id webhookId event position attempts', 'd.')}, ${wholeBody},
      ${columns('accountId url secret secretVersion', 'w.')},
      case when ${isQuick} then 'quick' else 'slow' end as lane`;

/**
 * Takes due deliveries in hand, in turn of the accounts, and of an account's webhooks: each has its
 * first before any has its second. Costs a read of each webhook for which something waits. Arrays,
 * because with joins the planner expects much and reads all deliveries (200 ms of 200 000).
 */
export async function claimDue(tx: Tx, claim: Claim): Promise<Due[]> {
  const { webhooks, accounts } = claim.inHand;
  const counted = (of: InHand) => ({ ids: [...of.keys()], counts: [...of.values()] });
  const held = { webhooks: counted(webhooks), accounts: counted(accounts) };
  const rows = await takeDue(tx, claim, held);
  return rows.toSorted((a, b) => a.position - b.position);
}

/** Puts a delivery back that was not begun, and begins none of its webhook before `until`. */
export const holdWebhook = none<[of: { id: string; webhookId: string; until: Date }]>(
  'deliveries_hold_webhook',
)`
  with held as (
      update webhooks set held_until = :until where id = :webhookId returning id
    )
    update deliveries set next_at = created_at
    where id = :id and state = 'waiting' and webhook_id in (select id from held)`;

/** The result of an attempt. */
export type Ended = {
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly status: number;
  readonly error: string | null;
  /** How the body of the answer begins. */
  readonly answer: string | null;
  readonly delivered: boolean;
};

export type Outcome = Ended & {
  readonly id: string;
  readonly webhookId: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** When the next attempt is; null = there is none. */
  readonly nextAt: Date | null;
};

/** The last attempt as the owner reads it; one that ended earlier and came later is not it. */
const isLast = '(last_delivery_at is null or last_delivery_at <= :endedAt)';
const last = (column: string, value: string) =>
  `${column} = case when ${isLast} then ${value} else ${column} end`;
const told = [
  last('last_status', ':status'),
  last('last_error', ':error'),
  last('last_delivery_at', ':endedAt'),
].join(', ');

const lengthOf = ({ startedAt, endedAt }: Ended) => ({
  milliseconds: Math.max(0, endedAt.getTime() - startedAt.getTime()),
});

const holdRow = none<[webhookId: string]>('deliveries_hold')`
  select 1 from webhooks where id = $1 for no key update`;

type Stored = { readonly state: string; readonly doneAt: Date | null; milliseconds: number };

const outcomeAtCommit = none<[outcome: Outcome, stored: Stored]>('deliveries_outcome')`
  with was as (
      select id, state from deliveries where id = :id
    ), stored as (
      update deliveries d set attempts = :attempt, state = :state,
        next_at = coalesce(:nextAt, d.next_at), done_at = :doneAt
      from was
      where d.id = was.id and (d.state = 'waiting' and d.attempts = :attempt - 1
        or d.state <> 'delivered' and :state = 'delivered')
      returning d.id, d.webhook_id, d.subject, d.attempts, d.state,
        was.state = 'waiting' and d.state <> 'waiting' as ends
    ), logged as (
      insert into delivery_attempts (delivery_id, attempt, at, milliseconds, status, error, answer)
      select id, :attempt, :startedAt, :milliseconds, :status, :error, :answer from stored
      on conflict (delivery_id, attempt) do nothing
    ), freed as (
      update deliveries set behind = false where id = (
        select d.id from deliveries d
          join stored s on s.webhook_id = d.webhook_id and s.subject = d.subject
        where s.attempts = 1 and d.state = 'waiting' and d.attempts = 0 and d.behind
          and not exists (select 1 from deliveries o
            where o.webhook_id = d.webhook_id and o.subject = d.subject
              and o.state = 'waiting' and o.attempts = 0 and not o.behind and o.id <> s.id
            offset 0)
        order by d.position limit 1)
    )
    update webhooks set ${told}, ${last('last_milliseconds', ':milliseconds')},
      enabled = off_for is null and (enabled or :state = 'delivered'),
      answered = answered or :state = 'delivered',
      waiting = greatest(0, waiting - (select count(*) from stored where ends)),
      failing_since = case when :state = 'delivered' then null
        else coalesce(failing_since, :endedAt) end
    where id = :webhookId and (:state = 'delivered' or exists (select 1 from stored))`;

/**
 * Stores what came of an attempt; stores nothing where the webhook is gone. If two processes made
 * the same attempt, because one was thought dead, the first outcome counts, or the one that
 * succeeded. Success also counts where the delivery was given up meanwhile: it shows that the
 * webhook is alive.
 */
export async function storeOutcome(db: Database, outcome: Outcome): Promise<void> {
  const { webhookId, endedAt, nextAt, delivered } = outcome;
  const state = delivered ? 'delivered' : nextAt === null ? 'dropped' : 'waiting';
  const doneAt = state === 'waiting' ? null : endedAt;
  await db.pipelined(async (tx) => {
    await holdRow(tx, webhookId);
    await outcomeAtCommit(tx.atCommit, outcome, { state, doneAt, ...lengthOf(outcome) });
  });
}

type Single = Ended & {
  readonly id: string;
  readonly webhookId: string;
  readonly accountId: string;
  readonly event: string;
  readonly body: string;
};

const putSingle = did<[single: Single & { state: string; milliseconds: number }]>(
  'deliveries_single',
)`
  with told as (
      update webhooks set ${told},
        enabled = off_for is null and (enabled or :state = 'delivered'),
        answered = answered or :state = 'delivered',
        failing_since = case when :state = 'delivered' then null else failing_since end
      where id = :webhookId and account_id = :accountId returning id
    ), stored as (
      insert into deliveries (id, webhook_id, event, position, body, attempts, state, next_at,
        created_at, done_at)
      select :id, id, :event, 0, :body, 1, :state, :startedAt, :startedAt, :endedAt from told
      on conflict (id) do update set body = excluded.body, state = excluded.state,
        attempts = 1, next_at = excluded.next_at, created_at = excluded.created_at,
        done_at = excluded.done_at
      returning id
    ), logged as (
      insert into delivery_attempts (delivery_id, attempt, at, milliseconds, status, error, answer)
      select id, 1, :startedAt, :milliseconds, :status, :error, :answer from stored
      on conflict (delivery_id, attempt) do update set at = excluded.at,
        milliseconds = excluded.milliseconds, status = excluded.status, error = excluded.error,
        answer = excluded.answer
    )
    select id from told`;

/**
 * Stores a delivery that had its only attempt; false where the webhook is gone. The same again, by
 * its id, takes the place of what was there.
 */
export function storeSingle(tx: Tx, single: Single): Promise<boolean> {
  const state = single.delivered ? 'delivered' : 'dropped';
  return putSingle(tx, { ...single, ...lengthOf(single), state });
}

/** Before it is dropped. */
const mostAttempts = '6';

export type Again = {
  readonly deliveryId: string;
  readonly accountId: string;
  readonly at: Date;
  /** Deliveries that may wait for one webhook, and for one that never answered. */
  readonly mostWaiting: { readonly answered: number; readonly never: number };
};

const holdOwn = is<[again: Again]>('deliveries_again_hold')`
  select waiting < case when answered then :mostWaiting.answered::int
      else :mostWaiting.never::int end from webhooks where account_id = :accountId
    and id = (select webhook_id from deliveries where id = :deliveryId) for no key update`;

const putBack = did<[again: Again]>('deliveries_again')`
  with again as (
      update deliveries d set state = 'waiting', attempts = 0, next_at = :at, done_at = null,
        behind = exists (select 1 from deliveries e where e.webhook_id = d.webhook_id
          and e.subject = d.subject and e.state = 'waiting' and e.attempts = 0 offset 0)
      where id = :deliveryId and state <> 'waiting' returning id, webhook_id
    ), renumbered as (
      update delivery_attempts set attempt = attempt - 1 - ${mostAttempts} +
        (select least(1, min(attempt)) from delivery_attempts where delivery_id = :deliveryId)
      where attempt > 0 and delivery_id in (select id from again)
    ), counted as (
      update webhooks set waiting = waiting + 1 where id in (select webhook_id from again)
    )
    select id from again`;

/**
 * Puts one that was delivered or dropped on its way again, from the first attempt on. The attempts
 * made before stay in the log, numbered from 0 down.
 */
export async function sendAgain(tx: Tx, again: Again): Promise<boolean> {
  return (await holdOwn(tx, again)) && putBack(tx, again);
}

/**
 * Switches off webhooks whose every attempt of a day failed, at most `limit`, and gives up what
 * waits for them; returns how many. One delivery had all its attempts after that day: two short
 * failures, a day apart and with nothing sent between, are not a day of failing.
 */
export const switchOffFailing = changed<[at: Date, limit: number]>('webhooks_switch_off')`
  with failing as (
      select id from webhooks w where enabled and failing_since is not null
        and exists (select 1 from deliveries d where d.webhook_id = w.id
          and d.state = 'dropped' and d.attempts >= ${mostAttempts}
          and d.done_at >= w.failing_since + interval '1 day' offset 0)
      order by failing_since limit $2 for no key update
    ), off as (
      update webhooks set enabled = false, waiting = 0
      where id in (select id from failing) returning id
    ), dropped as (
      update deliveries set state = 'dropped', done_at = $1
      where state = 'waiting' and webhook_id in (select id from off)
    )
    select id from off`;

/** Deletes at most `limit` that ended before `before`; returns how many. */
export const pruneDeliveries = changed<[before: Date, limit: number]>('deliveries_prune')`
  delete from deliveries where id in
      (select id from deliveries where state <> 'waiting' and done_at < $1
        order by done_at limit $2)
    returning id`;
