// The listeners to the feed, and where its log ends. An entry is made into bytes once for all who
// may see the same; a socket that is still catching up reads the log by itself.

import type { FeedRow, Place } from '../../db/feed-log.ts';
import { entriesBytes, type Manner } from './frames.ts';

/** An entry, and who may see it. */
export type Entry = FeedRow & {
  /** The audience of a private RFQ: the accounts that held its address then; null = everybody. */
  readonly holders: ReadonlySet<string> | null;
};

/** One listening socket. */
export type Listener = {
  readonly accountId: string;
  readonly manner: Manner;
  /** It has been sent everything up to here. */
  at: Place;
  /** False while it catches up: then it is passed over. */
  live: boolean;
  write(bytes: Buffer): void;
  /** Much of what was written to it is unread. */
  isFull(): boolean;
  /** No longer live: goes on at its own pace until it has caught up. */
  fallBehind(): void;
  /** Ends it where its key does not stand any more. */
  check(): void;
};

export type Hub = {
  /** Where the newest entry is. */
  position(): Place;
  /** Begins here. */
  startAt(place: Place): void;
  /**
   * Adds entries and writes them to all who are live; done when all have been written to, and where
   * `more` follow at once, when these were read by all who read.
   */
  publish(entries: readonly Entry[], more?: boolean): Promise<void>;
  join(listener: Listener): void;
  leave(listener: Listener): void;
  /** Those of an account; null = all. */
  of(accountId: string | null): ReadonlySet<Listener>;
};

/** Sockets written to before others have their turn: some 5 ms. */
const slice = 1_000;
/** In a burst readers are waited for as long as one of them gets free within `stillMs`. */
const pollMs = 5;
const stillMs = 250;
const mostWaitMs = 2_000;

/** The clock by which a burst is timed. */
export type Pace = {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  wait(ms: number): Promise<void>;
};

const ownPace: Pace = {
  now: () => performance.now(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

export function createHub(time: Pace = ownPace): Hub {
  let position: Place = { seq: 0, number: 0 };
  const listeners = new Set<Listener>();
  const accounts = new Map<string, Set<Listener>>();

  async function writeToAll(entries: readonly Entry[], last: Place): Promise<void> {
    const bytes = bytesFor(entries);
    let written = 0;
    for (const each of listeners) {
      if (!each.live || each.at.seq >= last.seq) continue;
      each.at = last;
      const own = bytes(each);
      if (own.length > 0) each.write(own);
      written += 1;
      if (written % slice === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  return {
    position: () => position,
    startAt: (place) => {
      position = place;
    },
    publish: async (entries, more = false) => {
      const newest = entries.at(-1);
      if (newest === undefined) return;
      const last = { seq: newest.seq, number: newest.number };
      position = last;
      await writeToAll(entries, last);
      if (more) await pace(listeners, time);
    },
    join: (listener) => {
      listeners.add(listener);
      const own = accounts.get(listener.accountId) ?? new Set();
      own.add(listener);
      accounts.set(listener.accountId, own);
    },
    leave: (listener) => {
      listeners.delete(listener);
      const own = accounts.get(listener.accountId);
      own?.delete(listener);
      if (own?.size === 0) accounts.delete(listener.accountId);
    },
    of: (accountId) => (accountId === null ? listeners : (accounts.get(accountId) ?? new Set())),
  };
}

/** Lets readers keep up with a burst; those who do not, whoever they are, hold up nobody. */
async function pace(listeners: Iterable<Listener>, { now, wait }: Pace): Promise<void> {
  const isFull = (each: Listener) => each.live && each.isFull();
  let full = [...listeners].filter(isFull);
  const began = now();
  let freedAt = began;
  while (full.length > 0) {
    if (now() - freedAt >= stillMs || now() - began >= mostWaitMs) break;
    await wait(pollMs);
    const left = full.filter(isFull);
    if (left.length < full.length) freedAt = now();
    full = left;
  }
  for (const each of full) {
    if (!each.live) continue;
    each.live = false;
    each.fallBehind();
  }
}

/** Whether an account gets an entry: never of its own RFQs. */
export function isFor({ creatorId, holders }: Entry, accountId: string): boolean {
  return creatorId !== accountId && (holders === null || holders.has(accountId));
}

/** The bytes of some entries for each listener: made once for all who see the same of them. */
function bytesFor(entries: readonly Entry[]): (listener: Listener) => Buffer {
  const isPublic = ({ holders }: Entry) => holders === null;
  const special = new Set(
    entries.flatMap(({ creatorId, holders }) => [creatorId, ...(holders ?? [])]),
  );
  const made = new Map<string, Buffer>();
  return ({ accountId, manner }) => {
    const name = special.has(accountId) ? `${manner} ${accountId}` : manner;
    let bytes = made.get(name);
    if (bytes === undefined) {
      const may = special.has(accountId) ? (each: Entry) => isFor(each, accountId) : isPublic;
      const seen = entries.filter(may);
      bytes = entriesBytes(seen, manner);
      made.set(name, bytes);
    }
    return bytes;
  };
}
