// From the outbox to messages: each event becomes one message a channel of its account, in the
// transaction that takes it out of the outbox. A crash before leaves it there, one after has it.

import { type FormerChannel, formerChannelsOf } from '../db/former-channels.ts';
import { addJobs, countJobsOf, type NewJob } from '../db/jobs.ts';
import {
  type Channel,
  lockMessages,
  type PeopleEvent,
  peopleEventsWait,
  type Reached,
  reachedOf,
  takePeopleEvents,
} from '../db/messages.ts';
import type { Deps, Making } from '../ports/deps.ts';
import { handOutBatch, mostWaiting } from './bounds.ts';
import { newMessage } from './sealed.ts';

type Target = Pick<Reached, 'channel' | 'to'> & { readonly loginId: string | null };

/** Where an account was reached before: the last that is told there. */
const mostFormer = 50;

/** How many events were handed out; an event without a recipient is dropped. */
export async function handOut(
  deps: Pick<Deps, 'settings' | 'db' | 'now' | 'randomBytes' | 'metrics'>,
  channels: ReadonlySet<Channel>,
): Promise<number> {
  if (!(await peopleEventsWait(deps.db))) return 0;
  const { events, left } = await deps.db.transaction(async (tx) => {
    const nothing = { events: 0, left: [] as Channel[] };
    if (!(await lockMessages(tx))) return nothing;
    const events = await takePeopleEvents(tx, handOutBatch);
    if (events.length === 0) return nothing;
    const accountIds = [...new Set(events.flatMap(({ accountId }) => accountId ?? []))];
    const now = new Date(deps.now());
    const reached = Map.groupBy(await reachedOf(tx, accountIds), ({ accountId }) => accountId);
    const before = await formerChannelsOf(tx, accountIds, now);
    const former = Map.groupBy(before, ({ accountId }) => accountId);
    const counts = await countJobsOf(tx, accountIds, ['email', 'telegram']);
    const waiting = new Map(counts.map(({ accountId, count }) => [accountId, count]));
    const messages: NewJob[] = [];
    const left: Channel[] = [];
    for (const event of events) {
      const { topic, accountId } = event;
      if (accountId === null) continue;
      const own = { reached: reached.get(accountId) ?? [], former: former.get(accountId) ?? [] };
      for (const target of targetsOf(event, own)) {
        if (!channels.has(target.channel)) continue;
        const count = waiting.get(accountId) ?? 0;
        if (count >= mostWaiting(topic)) {
          left.push(target.channel);
        } else {
          waiting.set(accountId, count + 1);
          messages.push(messageOf(deps, { ...event, accountId }, target));
        }
      }
    }
    await addJobs(tx, messages, now);
    return { events: events.length, left };
  });
  for (const channel of left) deps.metrics.messages.inc({ channel, outcome: 'dropped' });
  return events;
}

/** The topics that are of no use to somebody who was removed from the account, its owner or not. */
const ofOwnersAlone: ReadonlySet<string> = new Set(['swap.reminder', 'key.expiring', 'chat.ended']);

/** Besides what it is reached on, where it was reached until its login was removed. */
function targetsOf(
  { topic, payload }: PeopleEvent,
  { reached, former }: { reached: readonly Reached[]; former: readonly FormerChannel[] },
): Target[] {
  const own = reached.map(({ channel, to, loginId }) => ({ channel, to, loginId }));
  const given: readonly unknown[] = Array.isArray(payload.former) ? payload.former : [];
  const ended = given.slice(0, mostFormer).flatMap((each): Target[] => {
    const { channel, to } = (each ?? {}) as { channel?: unknown; to?: unknown };
    if ((channel !== 'email' && channel !== 'telegram') || typeof to !== 'string') return [];
    return [{ channel, to, loginId: null }];
  });
  const before = ofOwnersAlone.has(topic)
    ? []
    : former.map(({ channel, to }) => ({ channel, to, loginId: null }));
  const names = new Set<string>();
  return [...own, ...ended, ...before].filter(({ channel, to }) => {
    const name = `${channel} ${to}`;
    return !names.has(name) && names.add(name);
  });
}

function messageOf(
  deps: Making,
  { topic, accountId, payload, at }: PeopleEvent & { readonly accountId: string },
  { channel, to, loginId }: Target,
): NewJob {
  // Addresses of others of its channels are in no message.
  const { former: _, ...facts } = payload;
  const content = { to, facts, at: at.toISOString() };
  return newMessage(deps, { accountId, kind: channel, loginId, event: topic, content });
}
