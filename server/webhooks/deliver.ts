// Sends deliveries that are due, many at a time and few of one webhook, and stores what came of
// each: delivered, tried again later, or dropped after the sixth attempt. Any number of processes
// may do so side by side: a delivery is taken in hand for a while, and by another if this one dies.

import { setTimeout as sleep } from 'node:timers/promises';
import { claimDue, type Due, storeOutcome } from '../db/deliveries.ts';
import type { Deps } from '../deps.ts';
import { keyringOf } from '../keyring.ts';
import { handOut, handOutBatch } from './hand-out.ts';
import { type MayReach, reachable } from './public-address.ts';
import { deliveryMs, type Sending, type Sent, sendDelivery } from './send.ts';
import { signatureOf } from './sign.ts';

/** After the end of each failed attempt; after the last there is none. */
export const retryAfterSeconds = [15, 30, 60, 120, 240] as const;
const mostInHand = 200;
/** Of one webhook at a time. */
const mostOfEach = 8;
/** Longer than an attempt can take: what a dead process had in hand is taken over then. */
const leaseMs = deliveryMs + 10_000;
const pauseMs = 200;

export type Send = (sending: Sending) => Promise<Sent>;

export type Delivering = {
  /** Hands out and sends everything that is due now; waits for the ends. */
  pass(): Promise<void>;
  start(): void;
  /** Waits for what is in hand. */
  stop(): Promise<void>;
};

export function createDelivering(deps: Deps, options: { readonly send?: Send } = {}): Delivering {
  const mayReach: MayReach = reachable(deps.settings.webhookNetworks);
  const send = options.send ?? ((sending) => sendDelivery(sending, mayReach));
  const inHand = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const halt = new AbortController();

  const attempt = async (due: Due): Promise<void> => {
    inHand.set(due.webhookId, (inHand.get(due.webhookId) ?? 0) + 1);
    try {
      await deliver(deps, due, send);
    } catch (error) {
      // The lease ends, and it is tried again.
      deps.log.error({ err: error, deliveryId: due.id }, 'a delivery was not stored');
    } finally {
      const left = (inHand.get(due.webhookId) ?? 1) - 1;
      if (left === 0) inHand.delete(due.webhookId);
      else inHand.set(due.webhookId, left);
    }
  };

  /** Starts what is due and fits; how many. */
  const begin = async (): Promise<number> => {
    const limit = mostInHand - running.size;
    if (limit <= 0) return 0;
    const now = deps.now();
    const due = await claimDue(deps.db, {
      now: new Date(now),
      until: new Date(now + leaseMs),
      limit,
      limitEach: mostOfEach,
      without: [...inHand].filter(([, count]) => count >= mostOfEach).map(([id]) => id),
    });
    for (const each of due) {
      const sending = attempt(each).finally(() => running.delete(sending));
      running.add(sending);
    }
    return due.length;
  };

  const handOutAll = async () => {
    while ((await handOut(deps)) === handOutBatch);
  };

  const rounds = async () => {
    while (!halt.signal.aborted) {
      try {
        await handOutAll();
        await begin();
      } catch (error) {
        deps.log.error({ err: error }, 'webhooks were not looked at');
      }
      await sleep(pauseMs, undefined, { signal: halt.signal, ref: false }).catch(() => {});
    }
  };
  let round: Promise<void> = Promise.resolve();
  return {
    pass: async () => {
      await handOutAll();
      while ((await begin()) > 0) await Promise.all(running);
    },
    start: () => {
      round = rounds();
    },
    stop: async () => {
      halt.abort();
      await round;
      await Promise.all(running);
    },
  };
}

/** One attempt, and what came of it. */
async function deliver(deps: Deps, due: Due, send: Send): Promise<void> {
  const startedAt = new Date(deps.now());
  const { status, error } = await trySending(deps, due, startedAt, send);
  const endedAt = new Date(deps.now());
  const delivered = status >= 200 && status < 300;
  const seconds = delivered ? undefined : retryAfterSeconds[due.attempts];
  const nextAt = seconds === undefined ? null : new Date(endedAt.getTime() + seconds * 1_000);
  const { id, webhookId } = due;
  const attempt = due.attempts + 1;
  const outcome = { id, webhookId, attempt, startedAt, endedAt, status, error, nextAt, delivered };
  await storeOutcome(deps.db, outcome);
  const word = delivered ? 'delivered' : nextAt === null ? 'dropped' : 'failed';
  deps.metrics.webhookAttempts.inc({ outcome: word });
}

async function trySending(deps: Deps, due: Due, at: Date, send: Send): Promise<Sent> {
  const { shortName, productName } = deps.settings;
  const secret = keyringOf(deps.settings).decrypt(due.secretVersion, due.secret)?.toString();
  if (secret === undefined) {
    return { status: 0, error: 'its secret cannot be read: register it anew' };
  }
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  return send({
    url: due.url,
    body: due.body,
    headers: {
      'content-type': 'application/json',
      'user-agent': `${productName}-Webhooks/1`,
      [`x-${shortName}-event`]: due.event,
      [`x-${shortName}-delivery`]: due.id,
      [`x-${shortName}-timestamp`]: timestamp,
      [`x-${shortName}-signature`]: signatureOf(secret, timestamp, due.body),
    },
  });
}
