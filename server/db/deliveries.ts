// Deliveries to webhooks: made of the outbox, taken in hand for a while, and what came of each.

import type { Tx } from './database.ts';

export type Handed = {
  readonly id: number;
  readonly topic: string;
  readonly accountId: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: Date;
};

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
    text: `delete from outbox where id in
        (select id from outbox where account_id is not null and topic <> 'key.created'
          order by id limit $1)
      returning id, topic, account_id as "accountId", payload, created_at as at`,
    values: [limit],
  });
  return rows.toSorted((a, b) => a.id - b.id);
}

export type Subscriber = { readonly id: string; readonly accountId: string };

/** Webhooks of these accounts, and which events each wants (empty = all). */
export function subscribersOf(
  tx: Tx,
  accountIds: readonly string[],
): Promise<(Subscriber & { readonly events: readonly string[] })[]> {
  return tx.rows({
    name: 'deliveries_subscribers',
    text: `select id, account_id as "accountId", events from webhooks
      where enabled and account_id = any($1) order by id`,
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

export async function insertDeliveries(
  tx: Tx,
  deliveries: readonly NewDelivery[],
  at: Date,
): Promise<void> {
  if (deliveries.length === 0) return;
  await tx.rows({
    name: 'deliveries_insert',
    text: `insert into deliveries
        (id, webhook_id, event, subject, position, body, next_at, created_at)
      select *, $7, $7 from
        unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::bigint[], $6::text[])`,
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

export type Due = {
  readonly id: string;
  readonly webhookId: string;
  readonly event: string;
  readonly body: string;
  /** Made before. */
  readonly attempts: number;
  readonly url: string;
  readonly secret: Buffer;
  readonly secretVersion: number;
};

export type Claim = {
  readonly now: Date;
  /** Until when nobody else takes them. */
  readonly until: Date;
  readonly limit: number;
  /** Of one webhook at a time: the slow do not take the place of the others. */
  readonly limitEach: number;
  /** Webhooks that have enough in hand. */
  readonly without: readonly string[];
};

/** Takes due deliveries in hand. Of one subject the later waits for the earlier's first attempt. */
export function claimDue(tx: Tx, claim: Claim): Promise<Due[]> {
  return tx.rows<Due>({
    name: 'deliveries_claim',
    text: `with ranked as (
        select id, next_at, row_number() over (partition by webhook_id order by next_at, position)
          as place
        from deliveries d
        where state = 'waiting' and next_at <= $1 and (leased_until is null or leased_until <= $1)
          and webhook_id <> all($5::uuid[])
          and not exists (
            select 1 from deliveries e
            where e.webhook_id = d.webhook_id and e.subject = d.subject and e.state = 'waiting'
              and e.position < d.position and (e.attempts = 0 or e.leased_until > $1))
      ), mine as (
        select d.id from deliveries d join ranked using (id)
        where place <= $4 order by ranked.next_at, d.position limit $3
        for update of d skip locked
      )
      update deliveries d set leased_until = $2 from mine, webhooks w
      where d.id = mine.id and w.id = d.webhook_id
        and d.state = 'waiting' and (d.leased_until is null or d.leased_until <= $1)
      returning d.id, d.webhook_id as "webhookId", d.event, d.body, d.attempts, w.url, w.secret,
        w.secret_version as "secretVersion"`,
    values: [claim.now, claim.until, claim.limit, claim.limitEach, claim.without],
  });
}

export type Outcome = {
  readonly id: string;
  readonly webhookId: string;
  /** Of this attempt, from 1. */
  readonly attempt: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly status: number;
  readonly error: string | null;
  /** When the next attempt is; null = there is none. */
  readonly nextAt: Date | null;
  readonly delivered: boolean;
};

/** Stores what came of an attempt; nothing where the webhook is gone. */
export async function storeOutcome(tx: Tx, outcome: Outcome): Promise<void> {
  const { id, webhookId, attempt, startedAt, endedAt, status, error } = outcome;
  const state = outcome.delivered ? 'delivered' : outcome.nextAt === null ? 'dropped' : 'waiting';
  const done = state === 'waiting' ? null : endedAt;
  await tx.rows({
    name: 'deliveries_outcome',
    text: `with stored as (
        update deliveries set attempts = $2, state = $3, next_at = coalesce($4, next_at),
          leased_until = null, done_at = $5
        where id = $1 returning id
      ), logged as (
        insert into delivery_attempts (delivery_id, attempt, at, milliseconds, status, error)
        select id, $2, $6, $7, $8, $9 from stored
        on conflict (delivery_id, attempt) do nothing
      )
      update webhooks set last_status = $8, last_error = $9, last_delivery_at = $10
      where id = $11`,
    values: [
      id,
      attempt,
      state,
      outcome.nextAt,
      done,
      startedAt,
      Math.max(0, endedAt.getTime() - startedAt.getTime()),
      status,
      error,
      endedAt,
      webhookId,
    ],
  });
}

/** Puts one that was delivered or dropped on its way again, from the first attempt on. */
export async function sendAgain(tx: Tx, deliveryId: string, at: Date): Promise<boolean> {
  const rows = await tx.rows({
    name: 'deliveries_again',
    text: `with again as (
        update deliveries set state = 'waiting', attempts = 0, next_at = $2, done_at = null
        where id = $1 and state <> 'waiting' returning id
      ), forgotten as (
        delete from delivery_attempts where delivery_id in (select id from again)
      )
      select id from again`,
    values: [deliveryId, at],
  });
  return rows.length === 1;
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
