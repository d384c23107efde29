// Tells people what happened: hands events out to their channels, and sends what is due, a few at a
// time on each channel. Any number of processes may do so side by side: a message is taken in hand
// for a while, and by another if this one dies.

import { type Channel, claimMessages, type DueMessage, messagesWait } from '../db/messages.ts';
import type { Deps } from '../ports/deps.ts';
import { type Next, sendingFailureMs, service } from '../ports/service.ts';
import { createBot } from './bot.ts';
import { handOutBatch, leaseMs, mostInHand, stopMs } from './bounds.ts';
import { createChannelStates } from './channels.ts';
import { mustSendCode } from './codes.ts';
import { type Couriers, deliver } from './deliver.ts';
import { handOut } from './hand-out.ts';
import { createMail } from './mail.ts';

export type Messaging = NonNullable<Deps['messaging']> & {
  pass(): Promise<void>;
  start(): void;
  /** Waits for the messages in hand, `stopMs` at most: a message cut off then is sent later. */
  stop(): Promise<void>;
};

export function couriersOf({ people }: Deps['settings']): Couriers {
  return {
    email: people.mail === null ? null : createMail(people.mail),
    telegram: people.bot === null ? null : createBot(people.bot),
  };
}

/** While a channel that was asked to wait has something due. */
const restedMs = 1_000;
const channels: readonly Channel[] = ['email', 'telegram'];

export function createMessaging(
  deps: Deps,
  couriers: Couriers = couriersOf(deps.settings),
): Messaging {
  const inHand = new Map<Channel, Set<Promise<void>>>(channels.map((each) => [each, new Set()]));
  const states = createChannelStates(deps);
  const served = new Set(channels.filter((each) => couriers[each] !== null));
  const cut = new AbortController();

  const carry = async (due: DueMessage): Promise<void> => {
    try {
      states.heard(due.channel, await deliver(deps, due, couriers, cut.signal));
    } catch (error) {
      // Its time in hand ends, and it is tried again.
      deps.log.error({ err: error, messageId: due.id }, 'a message was not stored');
    }
  };

  const begin = async (channel: Channel): Promise<number> => {
    const under = inHand.get(channel) ?? new Set();
    const room = mostInHand - under.size;
    if (room <= 0 || states.rests(channel)) return 0;
    const now = deps.now();
    const from = new Date(now);
    const until = new Date(now + leaseMs);
    const due = await claimMessages(deps.db, { channel, now: from, until, room });
    for (const each of due) {
      const carried = carry(each).finally(() => {
        under.delete(carried);
        loop.ring();
      });
      under.add(carried);
    }
    return due.length;
  };

  const allInHand = () => Promise.all([...inHand.values()].flatMap((each) => [...each]));
  const pass = async (): Promise<Next> => {
    const now = deps.now();
    const waits = await messagesWait(deps.db, new Date(now));
    const handedOut = waits.events ? await handOut(deps, served) : 0;
    for (const channel of channels) if (waits[channel] || waits.events) await begin(channel);
    if (handedOut > 0) return 'now';
    if (channels.some((each) => waits[each] && states.rests(each))) return restedMs;
    return waits.nextAt === null ? undefined : Math.max(0, waits.nextAt.getTime() - now);
  };
  const loop = service(deps, {
    name: 'messages',
    pass,
    wokenBy: ['messages'],
    restMs: 0,
    failureMs: sendingFailureMs,
  });
  return {
    pass: async () => {
      while ((await handOut(deps, served)) === handOutBatch);
      const begun = async () => (await begin('email')) + (await begin('telegram'));
      while ((await begun()) > 0) await allInHand();
    },
    start: loop.start,
    stop: async () => {
      const timer = setTimeout(() => cut.abort(), stopMs);
      await loop.stop();
      await allInHand();
      clearTimeout(timer);
      for (const courier of Object.values(couriers)) courier?.close();
    },
    mailIsDown: () => states.isDown('email'),
    sendCode: couriers.email === null ? null : (tx, code) => mustSendCode(tx, deps, code),
  };
}
