// From the outbox to deliveries: each event becomes one delivery a webhook that wants it, in the
// transaction that takes it out of the outbox. So does what accounts asked for on the feed become
// entries of its log. A crash before leaves an event in the outbox, one after has it.

import {
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
import { bodyOf } from './attempt.ts';
import { paysForLook, trimLog } from './log-length.ts';

export const handOutBatch = 200;
/** Deliveries to one webhook that wait: what comes beyond is dropped for it. */
export const mostWaiting = 10_000;

/** How many events were handed out; a whole batch may not be all. null: another process does. */
export async function handOut(
  deps: Pick<Deps, 'db' | 'now' | 'randomBytes' | 'metrics'>,
): Promise<number | null> {
  if (!(await eventsWait(deps.db))) return 0;
  const { events, dropped } = await deps.db.transaction(async (tx) => {
    const nothing = { events: 0, dropped: 0 };
    if (!(await lockHandingOut(tx))) return { ...nothing, events: null };
    const events = await takeFromOutbox(tx, handOutBatch);
    if (events.length === 0) return nothing;
    const now = deps.now();
    const accountIds = [...new Set(events.map((each) => each.accountId))];
    const wanted = (await holdSubscribers(tx, accountIds)).map((subscriber) => ({
      wanted: wantedBy(subscriber, events),
      room: Math.max(0, mostWaiting - subscriber.waiting),
      subscriber,
    }));
    const deliveries = wanted.flatMap(({ subscriber, room, wanted }) =>
      wanted
        .slice(0, room)
        .map((event) => deliveryOf(uuidv7(now, deps.randomBytes), subscriber.id, event)),
    );
    await insertDeliveries(tx, deliveries, new Date(now));
    for (const { webhookId } of deliveries.filter(paysForLook)) await trimLog(tx, webhookId);
    await appendFeedEvents(
      tx,
      events.filter((each) => each.onFeed),
      feedEventsKept,
    );
    const asked = wanted.reduce((sum, each) => sum + each.wanted.length, 0);
    return { events: events.length, dropped: asked - deliveries.length };
  });
  if (dropped > 0) deps.metrics.webhookAttempts.inc({ outcome: 'dropped' }, dropped);
  return events;
}

function wantedBy({ accountId, events }: Subscriber, all: readonly Handed[]): Handed[] {
  return all.filter((event) => {
    if (event.accountId !== accountId) return false;
    return events.length === 0 ? !namedOnly.has(event.topic) : events.includes(event.topic);
  });
}

function deliveryOf(id: string, webhookId: string, event: Handed): NewDelivery {
  const { topic, payload, at, subject, id: position } = event;
  return { id, webhookId, event: topic, subject, position, body: bodyOf(topic, id, at, payload) };
}
