// Sends deliveries that are due, many at a time and few of one account, and stores what came of
// each: delivered, tried again later, or dropped after the sixth attempt. Any number of processes
// may do so side by side: a delivery is taken in hand for a while, and by another if this one dies.

import { claimDue, type Due, holdWebhook, storeOutcome } from '../db/deliveries.ts';
import type { Deps } from '../ports/deps.ts';
import { type Next, pollMs, sendingFailureMs, service } from '../ports/service.ts';
import { attempt, type Send, senderOf } from './attempt.ts';
import { handOut, handOutBatch } from './hand-out.ts';
import { createHosts, HostBusy, type Hosts } from './hosts.ts';
import { createPlaces, placesEach, slowMs } from './places.ts';
import { deliveryMs } from './send.ts';

/** After the end of each failed attempt; after the last there is none. */
export const retryAfterSeconds = [15, 30, 60, 120, 240] as const;
/** Longer than an attempt can take: a dead process's deliveries are taken over then. */
const leaseMs = deliveryMs + 10_000;
/** At least this long between two passes, for what ends in between. */
const gapMs = 5;
/** The other processes find nothing left by then, or help the first with what is much. */
const behindFirstMs = 1_000;
/** Between two tries while another process hands out. */
const busyMs = 20;
/** While attempts that failed wait for their time. */
const retryingMs = 250;

export type Delivering = {
  pass(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
};

export function createDelivering(deps: Deps, options: { readonly send?: Send } = {}): Delivering {
  const send = options.send ?? senderOf(deps.settings);
  const places = createPlaces();
  const hosts = createHosts(deps);
  const running = new Set<Promise<void>>();
  /** The last time that anything of this process is due again. */
  let retryingUntil = 0;

  const carry = async (due: Due): Promise<void> => {
    const leave = places.take(due);
    try {
      const next = await deliver(deps, due, send, hosts);
      retryingUntil = Math.max(retryingUntil, next?.getTime() ?? 0);
    } catch (error) {
      // Its time in hand ends, and it is tried again.
      deps.log.error({ err: error, deliveryId: due.id }, 'a delivery was not stored');
    } finally {
      leave();
    }
  };

  const begin = async (): Promise<number> => {
    const { room, ofAccount } = places.offer();
    if (room.quick <= 0 && room.slow <= 0) return 0;
    const now = deps.now();
    const due = await claimDue(deps.db, {
      now: new Date(now),
      until: new Date(now + leaseMs),
      slowMs,
      room,
      each: placesEach,
      ofAccount,
      inHand: places.inHand,
    });
    for (const each of due) {
      const carried = carry(each).finally(() => {
        running.delete(carried);
        // There is room, and perhaps one that waited for this one.
        loop.ring();
      });
      running.add(carried);
    }
    return due.length;
  };

  const pass = async (): Promise<Next> => {
    const handedOut = await handOut(deps);
    // Another process hands out, perhaps what it saw before the last commit.
    if (handedOut === null) return busyMs;
    // A pass begins deliveries in half of the free slow places.
    const begun = await begin();
    if (handedOut === handOutBatch || begun > 0) return 'now';
    return deps.now() <= retryingUntil + pollMs ? retryingMs : undefined;
  };
  const loop = service(deps, {
    name: 'webhooks',
    pass,
    wokenBy: ['webhooks'],
    restMs: gapMs,
    behindFirstMs,
    failureMs: sendingFailureMs,
  });
  return {
    pass: async () => {
      while ((await handOut(deps)) === handOutBatch);
      while ((await begin()) > 0) await Promise.all(running);
    },
    start: loop.start,
    stop: async () => {
      await loop.stop();
      await Promise.all(running);
    },
  };
}

async function deliver(deps: Deps, due: Due, send: Send, hosts: Hosts): Promise<Date | null> {
  const { id, webhookId, accountId } = due;
  const visit = hosts.visit({ accountId, begins: due.attempts === 0 });
  const ended = await attempt(deps, due, due, send, visit).catch((error: unknown) => {
    if (error instanceof HostBusy) return error;
    throw error;
  });
  if (ended instanceof HostBusy) {
    await holdWebhook(deps.db, { id, webhookId, until: ended.until });
    return ended.until;
  }
  const { delivered, endedAt } = ended;
  const seconds = delivered ? undefined : retryAfterSeconds[due.attempts];
  const nextAt = seconds === undefined ? null : new Date(endedAt.getTime() + seconds * 1_000);
  await storeOutcome(deps.db, { ...ended, id, webhookId, attempt: due.attempts + 1, nextAt });
  const word = delivered ? 'delivered' : nextAt === null ? 'dropped' : 'failed';
  deps.metrics.webhookAttempts.inc({ outcome: word });
  return nextAt;
}
