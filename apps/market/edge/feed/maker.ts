// A maker on the feed: it gets the book, then what changes, and quotes down the same socket.

import { setTimeout as sleep } from 'node:timers/promises';
import { blocked } from '../../db/accounts.ts';
import { feedLogEnds, type Place, placeOf, readFeedLog } from '../../db/feed-log.ts';
import { findHoldings } from '../../db/holdings.ts';
import { holds } from '../../market/addresses.ts';
import { feedLogDays, feedLogEntries, mostReplayed } from '../../market/bounds.ts';
import type { Deps } from '../../ports/deps.ts';
import type { Caller, Credential, Keys } from '../auth.ts';
import type { Budgets } from '../budgets.ts';
import type { Run } from '../command.ts';
import type { LastUses } from '../last-uses.ts';
import type { Quoting } from '../routes/threads.ts';
import type { Asked, FeedEvents } from './events.ts';
import { entriesBytes, type Manner } from './frames.ts';
import { type Entry, type Hub, isFor, type Listener } from './hub.ts';
import { closeCodes, type Peer } from './peer.ts';
import type { Snapshots } from './snapshot.ts';
import type { Switches } from './switches.ts';

/** Entries written at once to one that catches up. */
const chunk = 200;
/** Entries or events that are sent again for one request of the budget: a page of a list. */
const entriesOfRequest = 100;
/** How far this process may be behind another, and how often that is checked. */
const lagMs = 2_000;
const shortMs = 10;
/** While the database does not answer. */
const againMs = 1_000;
const mostTries = 30;
const dayMs = 86_400_000;

/** The commands that REST runs too. */
export type Commands = Quoting & { readonly levels: Run };

/** The state that all sockets of a process share. */
export type Feed = {
  readonly deps: Pick<Deps, 'db' | 'now' | 'log' | 'settings' | 'metrics'>;
  readonly hub: Hub;
  readonly keys: Keys;
  readonly budgets: Budgets;
  readonly uses: LastUses;
  readonly snapshots: Snapshots;
  readonly commands: Commands;
  readonly events: FeedEvents;
  readonly switches: Switches;
  /** Until then no socket is sent anything. */
  readonly known: () => Promise<void>;
  isClosing(): boolean;
};

/** The identity in a first frame, and its request. */
export type Greeting = {
  readonly shown: Credential;
  readonly caller: Caller;
  readonly manner: Manner;
  /** The last entry that it has seen; null = it begins anew. */
  readonly since: number | null;
  /** Settled swaps of whose RFQs are in its snapshot; null = any. */
  readonly minSettled: number | null;
  /** Null = no events. */
  readonly asked: Asked | null;
  /** Cancel on disconnect; null = it does not ask for it. */
  readonly graceSeconds: number | null;
};

export type Maker = Listener &
  Pick<Caller, 'by' | 'keyId' | 'expiresAtMs'> & {
    readonly shown: Credential;
    readonly peer: Peer;
    /** Spends what it costs to send so many again; false where the budget has not as much. */
    affords(entries: number): Promise<boolean>;
    /** `more`: the further facts for clients that asked for them. */
    say(frame: object, more?: object): void;
  };

/** One who is not sent anything yet. */
export function createMaker(
  feed: Feed,
  peer: Peer,
  { shown, caller, manner }: Greeting,
  client: string,
): Maker {
  const { by, keyId, accountId, expiresAtMs } = caller;
  const asked = manner === 'resume';
  let sentAgain = 0;
  const maker: Maker = {
    shown,
    by,
    keyId,
    accountId,
    expiresAtMs,
    manner,
    peer,
    at: feed.hub.position(),
    live: false,
    write: peer.write,
    isFull: peer.isFull,
    // It ends by itself, or with the socket.
    fallBehind: () => void untilDone(feed, maker, () => goOn(feed, maker)),
    // Checked again before it quotes.
    check: () => {
      if (peer.isOpen()) checkKey(feed, maker).catch(() => {});
    },
    affords: async (entries) => {
      // The price is for all together: their cut into frames would reveal what lies between them.
      const paid = Math.ceil(sentAgain / entriesOfRequest);
      sentAgain += entries;
      const requests = Math.ceil(sentAgain / entriesOfRequest) - paid;
      return requests === 0 || (await feed.budgets.spendCaller(caller, client, requests)).allowed;
    },
    say: (frame, more) => peer.say({ ...frame, ...(asked ? more : {}) }),
  };
  if (asked) peer.adorn(() => ({ seq: maker.at.number }));
  return maker;
}

/** Its key or session is good no more. */
export function endKey({ peer, manner, by }: Maker): void {
  const code = manner === 'resume' ? { code: 'key_invalid' } : {};
  const sentence =
    by === 'key'
      ? 'the API key was revoked or has expired'
      : 'the session has ended or was signed in to anew: connect with a new ticket';
  peer.end(closeCodes.noKey, sentence, code);
}

/** Its account begins nothing new from now on. */
export function endBlocked({ peer, manner }: Pick<Maker, 'peer' | 'manner'>): void {
  const { code, message } = blocked();
  peer.end(closeCodes.noScope, message, manner === 'resume' ? { code } : {});
}

/** The caller behind it, remembered or looked up. */
export async function callerOf(keys: Keys, shown: Credential): Promise<Caller | null> {
  const known = keys.known(shown);
  return known === undefined ? keys.find(shown) : known;
}

/**
 * False, and the socket is ended, where the key is revoked or expired, or its account blocked.
 * Throws as look-ups do.
 */
async function checkKey({ keys }: Feed, maker: Maker): Promise<boolean> {
  const caller = await callerOf(keys, maker.shown);
  if (caller !== null && !caller.isBlocked) return true;
  if (caller === null) endKey(maker);
  else endBlocked(maker);
  return false;
}

/** How far it has come: a try that failed is gone on with, and nothing is sent twice. */
type Start = {
  /** Null = it gets the book anew. */
  since: number | null;
  /** It knows so: everything up to its `at` was sent. */
  resumed: boolean;
  readonly minSettled: number | null;
};

/** From the first frame to being live. */
export async function begin(feed: Feed, maker: Maker, greeting: Greeting): Promise<void> {
  const { since, minSettled, asked, graceSeconds } = greeting;
  const start: Start = { since, resumed: false, minSettled };
  if (graceSeconds !== null) {
    await untilDone(feed, maker, () => feed.switches.set(maker, graceSeconds));
  }
  if (asked !== null) await untilDone(feed, maker, () => feed.events.begin(maker, asked));
  await untilDone(feed, maker, () => tell(feed, maker, start));
}

/** Tries again while the database does not answer; in the end the socket is closed. */
async function untilDone(feed: Feed, maker: Maker, work: () => Promise<void>): Promise<void> {
  for (let tries = 1; maker.peer.isOpen(); tries += 1) {
    try {
      return await work();
    } catch (error) {
      feed.deps.log.warn({ err: error }, 'a maker could not be told of the book or its events');
      if (tries >= mostTries) break;
      await sleep(againMs, undefined, { ref: false });
    }
  }
  maker.peer.end(closeCodes.restart, 'the book cannot be read now: connect again');
}

/** From where it fell behind. */
async function goOn(feed: Feed, maker: Maker): Promise<void> {
  await maker.peer.drained();
  if (await catchUp(feed, maker)) return;
  maker.peer.end(closeCodes.tooSlow, 'the log has gone on without this socket: connect again');
}

async function tell(feed: Feed, maker: Maker, start: Start): Promise<void> {
  const { hub, snapshots } = feed;
  await feed.known();
  // Revoked between its look-up and joining, nobody would have ended this socket.
  if (!(await checkKey(feed, maker))) return;
  const { since } = start;
  if (since !== null) {
    const from = start.resumed ? maker.at : await placeAfter(feed, since);
    if (from !== null) {
      if (!start.resumed) {
        maker.at = from;
        start.resumed = true;
        maker.say({ type: 'resumed' });
      }
      if (await catchUp(feed, maker, () => maker.say({ type: 'ready' }), maker.affords)) return;
    }
    start.since = null;
    maker.at = hub.position();
    maker.say({ type: 'reset' });
  }
  const { accountId, manner } = maker;
  const { at, rfqs } = await snapshots.for(accountId, start.minSettled);
  const addressed = manner === 'resume' ? await snapshots.addressed(accountId) : [];
  maker.at = at;
  maker.say({ type: 'snapshot', rfqs }, { addressed });
  maker.say({ type: 'ready' });
  if (!(await catchUp(feed, maker))) throw new Error('the log ends before a snapshot');
}

/**
 * Where the entry with the number `since` is; null where not all that came after it is in the log,
 * or too much. Only entries for everybody decide this: a client that comes back learns nothing of
 * others.
 */
async function placeAfter({ hub, deps }: Feed, since: number): Promise<Place | null> {
  const oldest = new Date(deps.now() - feedLogDays * dayMs);
  const place = await placeOf(deps.db, since, oldest);
  if (place === null) return null;
  // Another process sent it; this one reads it in a moment.
  for (let waited = 0; hub.position().seq < place.seq; waited += shortMs) {
    if (waited > lagMs) return null;
    await sleep(shortMs, undefined, { ref: false });
  }
  return hub.position().number - since > mostReplayed ? null : place;
}

const isFree: Maker['affords'] = async () => true;

/**
 * Writes what it has not seen until there is nothing more; `ready` just before it is live. False
 * where some of it has left the log meanwhile, or is more than `affords` allows.
 */
async function catchUp(
  feed: Feed,
  maker: Maker,
  ready = () => {},
  affords = isFree,
): Promise<boolean> {
  const { accountId, manner, peer } = maker;
  while (peer.isOpen()) {
    const newest = feed.hub.position();
    if (newest.seq <= maker.at.seq) {
      ready();
      maker.live = true;
      return true;
    }
    const behind = newest.number - maker.at.number;
    if (behind > feedLogEntries) {
      peer.end(closeCodes.tooSlow, `${behind} frames behind: connect again`);
      return true;
    }
    const seen = await unseen(feed, maker, newest);
    if (seen === null) return false;
    const own = seen.filter((each) => isFor(each, accountId));
    // Those for it alone count too: another account of its own may have posted them.
    if (!(await affords(own.length))) return false;
    const bytes = entriesBytes(own, manner);
    if (bytes.length > 0) peer.write(bytes);
    // If there is none, no entry before the read is for it.
    const { seq, number } = seen.at(-1) ?? newest;
    maker.at = { seq, number };
    await peer.drained();
  }
  return true;
}

/**
 * The next entries up to the newest that it has not seen, as it may see them now: without what
 * strangers posted for others, which may be nearly all of the log. Null where the log begins later.
 */
async function unseen(
  { deps: { db } }: Feed,
  { at, accountId }: Maker,
  newest: Place,
): Promise<Entry[] | null> {
  const { addresses } = await findHoldings(db, accountId);
  const rows = await readFeedLog(db, at.seq, chunk, addresses);
  // Read after the rows: an entry pruned before them is seen to be gone.
  const ends = await feedLogEnds(db);
  if (ends === null || ends.oldest.seq > at.seq) return null;
  // Later ones come with the hub.
  const known = rows.filter(({ seq }) => seq <= newest.seq);
  return known.map((row) => {
    const { targetAddress: target } = row;
    if (target === null) return { ...row, holders: null };
    return { ...row, holders: new Set(holds(addresses, target) ? [accountId] : []) };
  });
}
