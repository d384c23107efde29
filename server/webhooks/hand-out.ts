// From the outbox to deliveries: each event becomes one delivery a webhook that wants it, in the
// transaction that takes it out of the outbox. A crash before leaves it there, one after has it.

import {
  type Handed,
  insertDeliveries,
  lockHandingOut,
  type NewDelivery,
  subscribersOf,
  takeFromOutbox,
} from '../db/deliveries.ts';
import type { Deps } from '../deps.ts';
import { uuidv7 } from '../ids.ts';

const batch = 200;

/** How many events were handed out; a whole batch means that there may be more. */
export async function handOut(deps: Pick<Deps, 'db' | 'now' | 'randomBytes'>): Promise<number> {
  return deps.db.transaction(async (tx) => {
    if (!(await lockHandingOut(tx))) return 0;
    const events = await takeFromOutbox(tx, batch);
    if (events.length === 0) return 0;
    const now = deps.now();
    const subscribers = await subscribersOf(tx, [...new Set(events.map((each) => each.accountId))]);
    const deliveries = events.flatMap((event) =>
      subscribers
        .filter(({ accountId, events: wanted }) => {
          const isWanted = wanted.length === 0 || wanted.includes(event.topic);
          return accountId === event.accountId && isWanted;
        })
        .map(({ id }) => deliveryOf(uuidv7(now, deps.randomBytes), id, event)),
    );
    await insertDeliveries(tx, deliveries, new Date(now));
    return events.length;
  });
}

export const handOutBatch = batch;

function deliveryOf(id: string, webhookId: string, event: Handed): NewDelivery {
  const { topic, payload, at } = event;
  const { swapId, threadId } = payload;
  const subject = typeof swapId === 'string' ? swapId : threadId;
  return {
    id,
    webhookId,
    event: topic,
    subject: typeof subject === 'string' ? subject : null,
    position: event.id,
    body: bodyOf(topic, id, at, payload),
  };
}

/** The bytes that are signed and sent. */
export function bodyOf(
  type: string,
  deliveryId: string,
  at: Date,
  payload: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({ type, deliveryId, createdAt: at.toISOString(), ...payload });
}
