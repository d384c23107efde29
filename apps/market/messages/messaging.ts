// Tells people what happened: hands events out to their channels, and sends what is due, a few at a
// time on each channel. Any number of processes may do so side by side: a message is taken in hand
// for a while, and by another if this one dies.

import { claimJobs, type Job, nextJobs } from '../db/jobs.ts';
import type { Channel } from '../db/messages.ts';
import type { Deps } from '../ports/deps.ts';
import { type Next, sendingFailureMs, service } from '../ports/service.ts';
import { createBot } from './bot.ts';
import { handOutBatch, leaseMs, mostInHand, stopMs } from './bounds.ts';
import { createChannelStates } from './channels.ts';
import { sendCode } from './codes.ts';
import { type Couriers, channelOf, deliver } from './deliver.ts';
import { handOut } from './hand-out.ts';
import { createMail } from './mail.ts';
import { type MessageKind, messageKinds } from './sealed.ts';

export type Messaging = NonNullable<Deps['messaging']> & {
  pass(): Promise<void>;
  start(): void;
  /** Waits for the messages in hand, `stopMs` at most: a message cut off then is sent later. */
  stop(): Promise<void>;
};

function couriersOf({ people }: Deps['settings']): Couriers {
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

  const carry = async (channel: Channel, due: Job): Promise<void> => {
    try {
      states.heard(channel, await deliver(deps, due, couriers, cut.signal));
    } catch (error) {
      // Its time in hand ends, and it is tried again.
      deps.log.error({ err: error, messageId: due.id }, 'a message was not stored');
    }
  };

  /** Returns how many it took. */
  const begin = async (kind: MessageKind): Promise<number> => {
    const channel = channelOf(kind);
    const under = inHand.get(channel) ?? new Set();
    const limit = mostInHand - under.size;
    if (limit <= 0 || states.rests(channel)) return 0;
    const now = new Date(deps.now());
    const until = new Date(deps.now() + leaseMs);
    const taken = await claimJobs(deps.db, { kind, now, until, limit });
    for (const each of taken) {
      const carried = carry(channel, each).finally(() => {
        under.delete(carried);
        loop.ring();
      });
      under.add(carried);
    }
    return taken.length;
  };

  const allInHand = () => Promise.all([...inHand.values()].flatMap((each) => [...each]));
  const pass = async (): Promise<Next> => {
    const handedOut = await handOut(deps, served);
    const firsts = await nextJobs(deps.db, messageKinds);
    const waitOf = (at: Date) => at.getTime() - deps.now();
    const due = messageKinds.filter((kind) =>
      firsts.some((each) => each.kind === kind && waitOf(each.at) <= 0),
    );
    for (const kind of due) await begin(kind);
    if (handedOut > 0) return 'now';
    if (due.some((kind) => states.rests(channelOf(kind)))) return restedMs;
    const waits = firsts.map(({ at }) => waitOf(at)).filter((ms) => ms > 0);
    return waits.length === 0 ? undefined : Math.min(...waits);
  };
  const loop = service(deps, {
    name: 'messages',
    pass,
    wokenBy: ['messages', 'jobs'],
    restMs: 0,
    failureMs: sendingFailureMs,
  });
  return {
    pass: async () => {
      while ((await handOut(deps, served)) === handOutBatch);
      const begun = async () => {
        let count = 0;
        for (const kind of messageKinds) count += await begin(kind);
        return count;
      };
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
    sendCode: couriers.email === null ? null : (tx, code) => sendCode(tx, deps, code),
  };
}
