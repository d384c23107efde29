// From the outbox to deliveries: each event becomes one delivery a webhook that wants it, in the
// transaction that takes it out of the outbox. So does what accounts asked for on the feed become
// entries of its log. A crash before leaves an event in the outbox, one after has it.

import type { Tx } from '../db/database.ts';
import {
  eventsWait,
  type Handed,
  holdSubscribers,
  insertBodies,
  insertDeliveries,
  lockHandingOut,
  type NewDelivery,
  namedOnly,
  replaceWaiting,
  type Subscriber,
  takeFromOutbox,
} from '../db/deliveries.ts';
import { appendFeedEvents, feedEventsKept } from '../db/feed-events.ts';
import type { Deps } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { bodyOf, restOf } from './attempt.ts';
import { paysForLook, trimLog } from './log-length.ts';

/** Events that are handed out at a time. The rest follow at once. */
export const handOutBatch = 200;
/**
 * Deliveries to one webhook that wait: a further one is dropped for it. One that never answered 2xx
 * gets 20 a minute of new ones (hosts.ts), so that 200 are what it gets in ten minutes.
 */
export const mostWaiting = { answered: 10_000, never: 200 } as const;

/** A newer one of its thread says all that an older one does. */
const price = 'quote.created';

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
  const times = new Map<number, number>();
  for (const { id } of plans.flatMap(({ wanted }) => wanted))
    times.set(id, (times.get(id) ?? 0) + 1);
  const isShared = ({ position }: { readonly position: number }) => (times.get(position) ?? 0) > 1;
  const rests = new Map(events.map((each) => [each.id, restOf(each.at, each.payload)]));
  const deliveryOf = (webhookId: string, event: Handed): NewDelivery => {
    const { topic, subject, id: position } = event;
    const id = uuidv7(now, deps.randomBytes);
    const body = isShared({ position }) ? null : bodyOf(topic, id, rests.get(position)!);
    return { id, webhookId, event: topic, subject, position, body };
  };
  const asked = plans.map(({ subscriber, wanted }) => ({
    subscriber,
    deliveries: wanted.map((event) => deliveryOf(subscriber.id, event)),
  }));
  const firsts = asked.flatMap(({ deliveries }) => firstPrices(deliveries));
  const replacing = new Set(await replaceWaiting(tx, firsts));
  const fresh = asked.flatMap(({ subscriber, deliveries }) =>
    deliveries.filter(({ id }) => !replacing.has(id)).slice(0, roomOf(subscriber)),
  );
  const stored = [...firsts.filter(({ id }) => replacing.has(id)), ...fresh];
  const shared = new Set(stored.filter(isShared).map(({ position }) => position));
  const bodies = [...shared].map((position) => ({ position, rest: rests.get(position)! }));
  await insertBodies(tx, bodies);
  await insertDeliveries(tx, fresh, new Date(now));
  for (const { webhookId } of fresh.filter(paysForLook)) await trimLog(tx, webhookId);
  return asked.reduce((sum, each) => sum + each.deliveries.length, 0) - stored.length;
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

/** Without prices that a price of the same thread comes right after. */
function newestPrices(events: readonly Handed[]): Handed[] {
  const next = new Map<string | null, string>();
  return events
    .toReversed()
    .filter(({ topic, subject }) => {
      const follows = next.get(subject);
      next.set(subject, topic);
      return topic !== price || subject === null || follows !== price;
    })
    .toReversed();
}

/** Prices before which nothing of their thread is handed out now. */
function firstPrices(deliveries: readonly NewDelivery[]): NewDelivery[] {
  const seen = new Set<string | null>();
  return deliveries.filter(({ event, subject }) => {
    const isFirst = !seen.has(subject);
    seen.add(subject);
    return event === price && isFirst;
  });
}
