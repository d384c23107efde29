// Events that accounts asked for by name: those of their threads, and quotes on their RFQs. Each
// process reads the one log of them and writes to its own sockets. A socket that comes back reads
// from the log what it missed, and is passed over meanwhile.

import type { FeedTopic } from '@parley/core/events.ts';
import {
  eventsAfter,
  type FeedEvent,
  newestFeedEvent,
  reachOf,
  readFeedEvents,
  stillAsking,
  subscribe,
} from '../../db/feed-events.ts';
import type { Deps } from '../../ports/deps.ts';
import { type Next, service } from '../../ports/service.ts';
import type { Peer } from './peer.ts';

const batch = 500;
/** Frames written at once to one that catches up. */
const chunk = 200;
/** That an account listens still is stored again: far more often than that is forgotten. */
const askAgainMs = 3_600_000;

/** A socket of an account. */
type Listener = {
  readonly accountId: string;
  readonly peer: Peer;
  /** Spends what it costs to send so many again; false where the budget has not as much. */
  affords(events: number): Promise<boolean>;
  say(frame: object): void;
};

/** The request in a first frame. */
export type Asked = {
  readonly names: readonly FeedTopic[];
  /** The last event that was seen; null = it begins now. */
  readonly since: number | null;
};

type Subscription = Asked & {
  /** The number of the last event that was sent or passed over; null = it has not begun. */
  at: number | null;
  live: boolean;
  /** Something came while it was catching up. */
  more: boolean;
};

export type FeedEvents = {
  /** Done when it has all there is. Throws as the database does: it is gone on with then. */
  begin(listener: Listener, asked: Asked): Promise<void>;
  leave(listener: Listener): void;
  start(): void;
  stop(): Promise<void>;
};

type Parts = Pick<Deps, 'db' | 'now' | 'log' | 'metrics' | 'randomBytes'>;

export function createFeedEvents(deps: Parts): FeedEvents {
  const { db } = deps;
  const accounts = new Map<string, Map<Listener, Subscription>>();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  let position: number | null = null;
  let askAgainAt = deps.now() + askAgainMs;

  const hear = (event: FeedEvent) => {
    for (const [listener, own] of accounts.get(event.accountId) ?? []) {
      if (own.live) send(listener, own, event);
      else own.more = true;
    }
  };

  const askAgain = async () => {
    const now = deps.now();
    if (now < askAgainAt) return;
    const all = [...accounts].flatMap(([accountId, sockets]) =>
      [...sockets.values()].flatMap(({ names }) => names.map((topic) => ({ accountId, topic }))),
    );
    await stillAsking(db, all, new Date(now));
    askAgainAt = now + askAgainMs;
  };

  const pass = async (): Promise<Next> => {
    position ??= (await newestFeedEvent(db)) ?? 0;
    start();
    await askAgain();
    const events = await readFeedEvents(db, position, batch);
    for (const event of events) hear(event);
    position = events.at(-1)?.seq ?? position;
    return events.length === batch ? 'now' : undefined;
  };
  const failureMs = { least: 250, most: 2_000 };
  const reading = service(deps, { name: 'feed events', pass, wokenBy: ['feed events'], failureMs });

  return {
    begin: async (listener, asked) => {
      await started;
      const { accountId, peer } = listener;
      const sockets = accounts.get(accountId) ?? new Map<Listener, Subscription>();
      const own = sockets.get(listener) ?? { ...asked, at: null, live: false, more: false };
      // Before the log is read: later events reach the listener.
      if (peer.isOpen()) accounts.set(accountId, sockets.set(listener, own));
      if (own.at === null) await open(deps, listener, own);
      await catchUp(deps, listener, own);
    },
    leave: (listener) => {
      const sockets = accounts.get(listener.accountId);
      sockets?.delete(listener);
      if (sockets?.size === 0) accounts.delete(listener.accountId);
    },
    start: reading.start,
    stop: async () => {
      start();
      await reading.stop();
    },
  };
}

/** Stores what it asks for, and says whether what it missed follows. */
async function open({ db, now }: Parts, listener: Listener, own: Subscription): Promise<void> {
  const { names, since } = own;
  const newest = (await subscribe(db, listener.accountId, names, new Date(now()))) as number;
  const reach = since === null ? null : await reachOf(db, listener.accountId);
  const isKept = since !== null && reach !== null && isReached(since, reach);
  const resumed = isKept && (await listener.affords(reach.newest - since));
  own.at = resumed ? since : newest;
  listener.say({ type: 'subscribed', events: names, resumed, eventSeq: own.at });
}

function isReached(since: number, { oldest, newest }: { oldest: number | null; newest: number }) {
  return since <= newest && since >= (oldest ?? newest + 1) - 1;
}

async function catchUp({ db }: Parts, listener: Listener, own: Subscription): Promise<void> {
  while (listener.peer.isOpen()) {
    own.more = false;
    const events = await eventsAfter(db, listener.accountId, own.at as number, chunk);
    for (const event of events) send(listener, own, event);
    await listener.peer.drained();
    // Set by whoever rings meanwhile.
    const hasMore = (): boolean => own.more;
    if (events.length > 0 || hasMore()) continue;
    own.live = true;
    return;
  }
}

function send(listener: Listener, own: Subscription, event: FeedEvent): void {
  const { topic: type, payload, number: eventSeq, at } = event;
  if (eventSeq <= (own.at as number)) return;
  own.at = eventSeq;
  if (!own.names.includes(type)) return;
  listener.say({ type, ...payload, createdAt: at.toISOString(), eventSeq });
}
