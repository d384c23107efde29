// Deliveries to webhooks: made of the outbox, taken in hand for a while, and what came of each.
//
// Of one webhook and subject only the first that has had no attempt is ready; the others are
// `behind` it, and each outcome of a first attempt frees the next. Handing out and storing outcomes
// both hold the webhook's row, so that neither misses what the other does.

import type { Database, Tx } from './database.ts';

export type Handed = {
  readonly id: number;
  readonly topic: string;
  readonly accountId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
  /** What it is about: the thread, of a swap that which it came of. */
  readonly subject: string | null;
};

/** The only topics that webhooks are told of. A new one is nobody's before it is named here. */
export const webhookTopics = [
  'quote.created',
  'swap.agreed',
  'swap.funded',
  'secret.revealed',
  'swap.settled',
  'swap.refunded',
  'swap.half_settled',
  'swap.reorged',
] as const;

/** The first two are what the index is of. */
const forWebhooks = `account_id is not null and topic <> 'key.created'
  and topic in (${webhookTopics.map((each) => `'${each}'`).join(', ')})`;

/** Whether any event waits to be handed out. */
export async function eventsWait(tx: Tx): Promise<boolean> {
  const rows = await tx.rows({
    name: 'deliveries_wait',
    text: `select 1 from outbox where ${forWebhooks} order by id limit 1`,
    values: [],
  });
  return rows.length > 0;
}

/** One process at a time hands out, so that what happened first is handed out first. */
export async function lockHandingOut(tx: Tx): Promise<boolean> {
  const rows = await tx.rows<{ locked: boolean }>({
    name: 'deliveries_lock',
    text: `select pg_try_advisory_xact_lock(hashtext('webhook deliveries')) as locked`,
    values: [],
  });
  return rows[0]?.locked ?? false;
}

/** Takes the oldest events for webhooks out of the outbox. */
export async function takeFromOutbox(tx: Tx, limit: number): Promise<Handed[]> {
  const rows = await tx.rows<Handed>({
    name: 'deliveries_take',
    text: `with taken as (
        delete from outbox where id in
          (select id from outbox where ${forWebhooks} order by id limit $1)
        returning id, topic, account_id, payload, created_at)
      select t.id, t.topic, t.account_id as "accountId", t.payload, t.created_at as at,
        coalesce(
          (select thread_id::text from swaps where id = (t.payload->>'swapId')::uuid),
          t.payload->>'threadId', t.payload->>'swapId') as subject
      from taken t
      order by t.id`,
    values: [limit],
  });
  return rows;
}

export type Subscriber = {
  readonly id: string;
  readonly accountId: string;
  /** Which events it wants; empty = all. */
  readonly events: readonly string[];
  /** How many deliveries to it wait. */
  readonly waiting: number;
};

/** Webhooks of these accounts, held to the end of the transaction. */
export function holdSubscribers(tx: Tx, accountIds: readonly string[]): Promise<Subscriber[]> {
  return tx.rows({
    name: 'deliveries_subscribers',
    text: `select id, account_id as "accountId", events, waiting from webhooks
      where enabled and account_id = any($1) order by id for no key update`,
    values: [accountIds],
  });
}

export type NewDelivery = {
  readonly id: string;
  readonly webhookId: string;
  readonly event: string;
  readonly subject: string | null;
  readonly position: number;
  readonly body: string;
};

/** For webhooks that are held. */
export async function insertDeliveries(
  tx: Tx,
  deliveries: readonly NewDelivery[],
  at: Date,
): Promise<void> {
  if (deliveries.length === 0) return;
  await tx.rows({
    name: 'deliveries_insert',
    text: `with counted as (
        update webhooks w set waiting = waiting + n.count
        from (select id, count(*) from unnest($2::uuid[]) id group by id) n where w.id = n.id)
      insert into deliveries
        (id, webhook_id, event, subject, position, body, behind, next_at, created_at)
      select id, webhook_id, event, subject, position, body,
        subject is not null and (
          row_number() over (partition by webhook_id, subject order by position) > 1
          or exists (select 1 from deliveries e
            where e.webhook_id = n.webhook_id and e.subject = n.subject
              and e.state = 'waiting' and e.attempts = 0)),
        $7, $7
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::bigint[], $6::text[])
        n (id, webhook_id, event, subject, position, body)`,
    values: [
      deliveries.map((each) => each.id),
      deliveries.map((each) => each.webhookId),
      deliveries.map((each) => each.event),
      deliveries.map((each) => each.subject),
      deliveries.map((each) => each.position),
      deliveries.map((each) => each.body),
      at,
    ],
  });
}

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
  /** Of webhooks whose last attempt took less than `slowMs`, and of all others. */
  readonly slowMs: number;
  readonly room: Readonly<Record<Lane, number>>;
  /** Of one webhook, with what is in hand. */
  readonly each: Readonly<Record<Lane, number>>;
  /** Of one account, with what is in hand. */
  readonly ofAccount: Readonly<Record<Lane, number>>;
  readonly inHand: { readonly webhooks: InHand; readonly accounts: InHand };
  /** Accounts all of whose webhooks are among the slow. */
  readonly heldBack: readonly string[];
};

const isQuick =
  'coalesce(w.last_milliseconds < $3, false) and not (w.account_id = any($14::uuid[]))';

/** Of a webhook `t`: of one that is held back, what was begun before. */
const fitting = (which: string) => `select id, next_at, position from deliveries
  where ${which} and webhook_id = t.id and state = 'waiting' and not behind and next_at <= $1
  order by next_at, position
  limit greatest(0, case when t.quick then $6::int else $7::int end - t.in_hand)`;

/**
 * Takes due deliveries in hand, turn by turn of the accounts, and of an account's webhooks: none
 * has its second before each has its first. Costs a look at each webhook for which something waits,
 * however much that is: arrays, because with joins the planner expects much and reads all
 * deliveries (200 ms of 200 000).
 */
export async function claimDue(tx: Tx, claim: Claim): Promise<Due[]> {
  const { now, until, slowMs, room, each, ofAccount, inHand, heldBack } = claim;
  const rows = await tx.rows<Due>({
    name: 'deliveries_claim',
    text: `with recursive heads as (
        (select webhook_id, next_at from deliveries where state = 'waiting' and not behind
          order by webhook_id, next_at limit 1)
        union all
        select n.webhook_id, n.next_at from heads h cross join lateral
          (select webhook_id, next_at from deliveries
            where state = 'waiting' and not behind and webhook_id > h.webhook_id
            order by webhook_id, next_at limit 1) n
      ), turns as (
        select w.id, w.account_id, ${isQuick} as quick, coalesce(i.count, 0) as in_hand,
          coalesce(a.count, 0) as of_account, coalesce(w.held_until > $1, false) as held
        from heads h join webhooks w on w.id = h.webhook_id
          left join unnest($8::uuid[], $9::int[]) i (id, count) on i.id = w.id
          left join unnest($10::uuid[], $11::int[]) a (id, count) on a.id = w.account_id
        where h.next_at <= $1 and w.enabled
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
        from own where turn <= case when quick then $12::int else $13::int end
      ), mine as (
        select id from deliveries where id = any(array(
          select id from ranked where place <= case when quick then $4::int else $5::int end))
        for update skip locked
      )
      update deliveries d set next_at = $2 from webhooks w
      where d.id = any(array(select id from mine)) and w.id = d.webhook_id
        and d.state = 'waiting' and d.next_at <= $1
      returning d.id, w.id as "webhookId", w.account_id as "accountId", d.event, d.position,
        d.body, d.attempts, w.url, w.secret, w.secret_version as "secretVersion",
        case when ${isQuick} then 'quick' else 'slow' end as lane`,
    values: [
      now,
      until,
      slowMs,
      room.quick,
      room.slow,
      each.quick,
      each.slow,
      [...inHand.webhooks.keys()],
      [...inHand.webhooks.values()],
      [...inHand.accounts.keys()],
      [...inHand.accounts.values()],
      ofAccount.quick,
      ofAccount.slow,
      heldBack,
    ],
  });
  return rows.toSorted((a, b) => a.position - b.position);
}

/** Puts a delivery back that was not begun, and begins none of its webhook before `until`. */
export async function holdWebhook(
  db: Database,
  { id, webhookId, until }: { id: string; webhookId: string; until: Date },
): Promise<void> {
  await db.rows({
    name: 'deliveries_hold_webhook',
    text: `with held as (
        update webhooks set held_until = $3 where id = $2 returning id
      )
      update deliveries set next_at = created_at
      where id = $1 and state = 'waiting' and webhook_id in (select id from held)`,
    values: [id, webhookId, until],
  });
}

/** What an attempt came to. */
export type Ended = {
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly status: number;
  readonly error: string | null;
  readonly delivered: boolean;
};

export type Outcome = Ended & {
  readonly id: string;
  readonly webhookId: string;
  /** Of this attempt, from 1. */
  readonly attempt: number;
  /** When the next attempt is; null = there is none. */
  readonly nextAt: Date | null;
};

/**
 * Stores what came of an attempt; nothing where the webhook is gone. Of two who made the same
 * attempt, because one was thought dead, the first counts, or the one that succeeded. Success also
 * counts where the delivery was given up meanwhile: it shows that the webhook is alive.
 */
export async function storeOutcome(db: Database, outcome: Outcome): Promise<void> {
  const { id, webhookId, attempt, endedAt, nextAt, delivered } = outcome;
  const state = delivered ? 'delivered' : nextAt === null ? 'dropped' : 'waiting';
  const done = state === 'waiting' ? null : endedAt;
  await db.pipelined(async (tx) => {
    await tx.rows({
      name: 'deliveries_hold',
      text: 'select 1 from webhooks where id = $1 for no key update',
      values: [webhookId],
    });
    await tx.atCommit.rows({
      name: 'deliveries_outcome',
      text: `with was as (
          select id, state from deliveries where id = $1
        ), stored as (
          update deliveries d set attempts = $2, state = $3, next_at = coalesce($4, d.next_at),
            done_at = $5
          from was
          where d.id = was.id and (d.state = 'waiting' and d.attempts = $2 - 1
            or d.state <> 'delivered' and $3 = 'delivered')
          returning d.id, d.webhook_id, d.subject, d.attempts, d.state,
            was.state = 'waiting' and d.state <> 'waiting' as ends
        ), logged as (
          insert into delivery_attempts (delivery_id, attempt, at, milliseconds, status, error)
          select id, $2, $6, $7, $8, $9 from stored
          on conflict (delivery_id, attempt) do nothing
        ), freed as (
          update deliveries set behind = false where id = (
            select d.id from deliveries d
              join stored s on s.webhook_id = d.webhook_id and s.subject = d.subject
            where s.attempts = 1 and d.state = 'waiting' and d.attempts = 0 and d.behind
              and not exists (select 1 from deliveries o
                where o.webhook_id = d.webhook_id and o.subject = d.subject
                  and o.state = 'waiting' and o.attempts = 0 and not o.behind and o.id <> s.id)
            order by d.position limit 1)
        )
        update webhooks set ${told('$7')}, enabled = enabled or $3 = 'delivered',
          waiting = greatest(0, waiting - (select count(*) from stored where ends)),
          failing_since = case when $3 = 'delivered' then null
            else coalesce(failing_since, $10) end
        where id = $11 and ($3 = 'delivered' or exists (select 1 from stored))`,
      values: [id, attempt, state, nextAt, done, ...toldOf(outcome), webhookId],
    });
  });
}

/** What the owner reads of the last attempt; one that ended earlier and came later is not it. */
function told(milliseconds: string): string {
  const isLast = '(last_delivery_at is null or last_delivery_at <= $10)';
  const last = (column: string, value: string) =>
    `${column} = case when ${isLast} then ${value} else ${column} end`;
  return [
    last('last_status', '$8'),
    last('last_error', '$9'),
    last('last_delivery_at', '$10'),
    last('last_milliseconds', milliseconds),
  ].join(', ');
}

/** Also where it is null: new receivers are slow. */
const noQuicker = 'case when last_milliseconds < $7 then $7 else last_milliseconds end';

/** Start, length, status, words and end. */
function toldOf({ startedAt, endedAt, status, error }: Ended): readonly unknown[] {
  const milliseconds = Math.max(0, endedAt.getTime() - startedAt.getTime());
  return [startedAt, milliseconds, status, error, endedAt];
}

export type Single = Ended & {
  readonly id: string;
  readonly webhookId: string;
  readonly accountId: string;
  readonly event: string;
  readonly body: string;
};

/**
 * Stores a delivery that had its only attempt; false where the webhook is gone. The same again, by
 * its id, takes the place of what was there.
 */
export async function storeSingle(tx: Tx, single: Single): Promise<boolean> {
  const { id, webhookId, accountId, event, body, delivered } = single;
  const rows = await tx.rows({
    name: 'deliveries_single',
    text: `with told as (
        update webhooks set ${told(noQuicker)},
          enabled = enabled or $11 = 'delivered',
          failing_since = case when $11 = 'delivered' then null else failing_since end
        where id = $2 and account_id = $3 returning id
      ), stored as (
        insert into deliveries (id, webhook_id, event, position, body, attempts, state, next_at,
          created_at, done_at)
        select $1, id, $4, 0, $5, 1, $11, $6, $6, $10 from told
        on conflict (id) do update set body = excluded.body, state = excluded.state,
          attempts = 1, next_at = excluded.next_at, created_at = excluded.created_at,
          done_at = excluded.done_at
        returning id
      ), logged as (
        insert into delivery_attempts (delivery_id, attempt, at, milliseconds, status, error)
        select id, 1, $6, $7, $8, $9 from stored
        on conflict (delivery_id, attempt) do update set at = excluded.at,
          milliseconds = excluded.milliseconds, status = excluded.status, error = excluded.error
      )
      select id from told`,
    values: [
      id,
      webhookId,
      accountId,
      event,
      body,
      ...toldOf(single),
      delivered ? 'delivered' : 'dropped',
    ],
  });
  return rows.length === 1;
}

/** Before it is dropped. */
const mostAttempts = 6;

export type Again = {
  readonly deliveryId: string;
  readonly accountId: string;
  readonly at: Date;
  /** Deliveries that may wait for one webhook. */
  readonly mostWaiting: number;
};

/**
 * Puts one that was delivered or dropped on its way again, from the first attempt on. The attempts
 * made before stay in the log, numbered from 0 down.
 */
export async function sendAgain(
  tx: Tx,
  { deliveryId, accountId, at, mostWaiting }: Again,
): Promise<boolean> {
  const [webhook] = await tx.rows<{ waiting: number }>({
    name: 'deliveries_again_hold',
    text: `select waiting from webhooks where account_id = $2
        and id = (select webhook_id from deliveries where id = $1) for no key update`,
    values: [deliveryId, accountId],
  });
  if (webhook === undefined || webhook.waiting >= mostWaiting) return false;
  const rows = await tx.rows({
    name: 'deliveries_again',
    text: `with again as (
        update deliveries d set state = 'waiting', attempts = 0, next_at = $2, done_at = null,
          behind = exists (select 1 from deliveries e where e.webhook_id = d.webhook_id
            and e.subject = d.subject and e.state = 'waiting' and e.attempts = 0)
        where id = $1 and state <> 'waiting' returning id, webhook_id
      ), renumbered as (
        update delivery_attempts set attempt = attempt - 1 - $3 +
          (select least(1, min(attempt)) from delivery_attempts where delivery_id = $1)
        where attempt > 0 and delivery_id in (select id from again)
      ), counted as (
        update webhooks set waiting = waiting + 1 where id in (select webhook_id from again)
      )
      select id from again`,
    values: [deliveryId, at, mostAttempts],
  });
  return rows.length === 1;
}

/**
 * Switches off webhooks whose every attempt of a day failed, at most `limit`, and gives up what
 * waits for them; returns how many. One delivery had all its attempts after that day: two short
 * failures, a day apart and with nothing sent between, are not a day of failing.
 */
export async function switchOffFailing(tx: Tx, at: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'webhooks_switch_off',
    text: `with failing as (
        select id from webhooks w where enabled and failing_since is not null
          and exists (select 1 from deliveries d where d.webhook_id = w.id
            and d.state = 'dropped' and d.attempts >= $3
            and d.done_at >= w.failing_since + interval '1 day')
        order by failing_since limit $2 for no key update
      ), off as (
        update webhooks set enabled = false, waiting = 0
        where id in (select id from failing) returning id
      ), dropped as (
        update deliveries set state = 'dropped', done_at = $1
        where state = 'waiting' and webhook_id in (select id from off)
      )
      select id from off`,
    values: [at, limit, mostAttempts],
  });
  return rows.length;
}

/** Deletes at most `limit` that ended before `before`; returns how many. */
export async function pruneDeliveries(tx: Tx, before: Date, limit: number): Promise<number> {
  const rows = await tx.rows({
    name: 'deliveries_prune',
    text: `delete from deliveries where id in
        (select id from deliveries where state <> 'waiting' and done_at < $1
          order by done_at limit $2)
      returning id`,
    values: [before, limit],
  });
  return rows.length;
}
