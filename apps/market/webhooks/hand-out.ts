// From the outbox to deliveries: each event becomes one delivery a webhook that wants it, in the
// transaction that takes it out of the outbox. So does what accounts asked for on the feed become
// entries of its log. A crash before leaves an event in the outbox, one after has it. A newer price
// of a thread takes the place of one that waits: a receiver that is behind hears the newest.

import type { Tx } from '../db/database.ts';
import {
  deleteOvertaken,
  eventsWait,
  type Handed,
  holdSubscribers,
  insertDeliveries,
  lockHandingOut,
  type NewDelivery,
  namedOnly,
  type Subscriber,
  takeFromOutbox,
} from '../db/deliveries.ts';
import { appendFeedEvents, feedEventsKept } from '../db/feed-events.ts';
import type { Deps } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { restOf } from './attempt.ts';
import { paysForLook, trimLog } from './log-length.ts';

/** Events that are handed out at a time. The rest follow at once. */
export const handOutBatch = 200;
/**
 * Deliveries to one webhook that wait: a further one is dropped for it. One that never answered 2xx
 * gets 20 a minute of new ones (hosts.ts), so that 200 are what it gets in ten minutes.
 */
export const mostWaiting = { answered: 10_000, never: 200 } as const;

/** A newer one of its thread says all that an older one does. */
const prices: ReadonlySet<string> = new Set(['quote.created', 'thread.proposed']);

type HandingOut = Pick<Deps, 'db' | 'now' | 'randomBytes' | 'metrics'>;

/** How many events were handed out; a whole batch may not be all. null: another process does. */
export async function handOut(deps: HandingOut): Promise<number | null> {
  if (!(await eventsWait(deps.db))) return 0;
  const { events, dropped } = await deps.db.transaction(async (tx) => {
    const nothing = { events: 0, dropped: 0 };
    if (!(await lockHandingOut(tx))) return { ...nothing, events: null };
    const events = await takeFromOutbox(tx, handOutBatch);
    if (events.length === 0) return nothing;
    const dropped = await deliver(tx, deps, events);
    await appendFeedEvents(
      tx,
      events.filter((each) => each.onFeed),
      feedEventsKept,
    );
    return { events: events.length, dropped };
  });
  if (dropped > 0) deps.metrics.webhookAttempts.inc({ outcome: 'dropped' }, dropped);
  return events;
}

/** Returns how many deliveries had no room. */
async function deliver(tx: Tx, deps: HandingOut, events: readonly Handed[]): Promise<number> {
  const now = deps.now();
  const accountIds = [...new Set(events.map((each) => each.accountId))];
  const plans = (await holdSubscribers(tx, accountIds)).map((subscriber) => ({
    subscriber,
    wanted: newestPrices(wantedBy(subscriber, events)),
  }));
  const firsts = plans.flatMap(({ subscriber: { id: webhookId }, wanted }) =>
    firstPrices(wanted).map(({ topic: event, subject, id: position }) => {
      return { webhookId, event, subject, position };
    }),
  );
  const overtaken = await deleteOvertaken(tx, firsts);
  const fresh: NewDelivery[] = [];
  let dropped = 0;
  for (const { subscriber, wanted } of plans) {
    const webhookId = subscriber.id;
    const own = overtaken.filter((each) => each.webhookId === webhookId);
    const replacing = new Set(own.map(({ position }) => position));
    // The place of a price that was overtaken is the newer one's, whatever came between.
    const others = wanted.filter(({ id }) => !replacing.has(id));
    const admitted = new Set(others.slice(0, roomOf(subscriber)).map(({ id }) => id));
    const taken = wanted.filter(({ id }) => replacing.has(id) || admitted.has(id));
    dropped += wanted.length - taken.length;
    for (const { topic, subject, id: position, at, payload } of taken) {
      const id = uuidv7(now, deps.randomBytes);
      const rest = restOf(at, payload);
      fresh.push({ id, webhookId, event: topic, subject, position, rest });
    }
  }
  await insertDeliveries(tx, fresh, new Date(now));
  for (const { webhookId } of fresh.filter(paysForLook)) await trimLog(tx, webhookId);
  return dropped;
}

function roomOf({ waiting, answered }: Subscriber): number {
  return Math.max(0, (answered ? mostWaiting.answered : mostWaiting.never) - waiting);
}

function wantedBy({ accountId, events }: Subscriber, all: readonly Handed[]): Handed[] {
  return all.filter((event) => {
    if (event.accountId !== accountId) return false;
    return events.length === 0 ? !namedOnly.has(event.topic) : events.includes(event.topic);
  });
}

/** Without prices that another of their thread comes right after. */
function newestPrices(events: readonly Handed[]): Handed[] {
  return events.filter(({ topic, subject }, at) => {
    const next = events.slice(at + 1).find((each) => each.subject === subject);
    return !prices.has(topic) || next?.topic !== topic;
  });
}

/** Prices before which nothing of their thread is handed out now. */
function firstPrices(events: readonly Handed[]): Handed[] {
  return events.filter(
    ({ topic, subject }, at) =>
      prices.has(topic) && events.findIndex((each) => each.subject === subject) === at,
  );
}
