// A maker on the feed: told of the book, then of what changes, and quoting down the same socket.

import { setTimeout as sleep } from 'node:timers/promises';
import { feedLogEnds, readFeedLog } from '../../db/feed-log.ts';
import { findHoldings } from '../../db/holdings.ts';
import type { Deps } from '../../deps.ts';
import { holds } from '../../market/addresses.ts';
import { mostReplayed } from '../../market/bounds.ts';
import type { Keys } from '../auth.ts';
import type { Budgets } from '../budgets.ts';
import type { Run } from '../command.ts';
import { callerOf, type Greeting } from './first-frame.ts';
import { entriesBytes, type Manner } from './frames.ts';
import { type Entry, type Hub, isFor, type Listener } from './hub.ts';
import { closeCodes, type Peer } from './peer.ts';
import type { Snapshots } from './snapshot.ts';

/** Entries written at once to one that catches up. */
const chunk = 200;
/** While the database does not answer. */
const againMs = 1_000;
const mostTries = 30;

/** What all sockets of a process share. */
export type Feed = {
  readonly deps: Pick<Deps, 'db' | 'now' | 'log' | 'settings' | 'metrics'>;
  readonly hub: Hub;
  readonly keys: Keys;
  readonly budgets: Budgets;
  readonly snapshots: Snapshots;
  readonly quote: Run;
  /** Until then nobody is told anything. */
  readonly started: Promise<void>;
  isClosing(): boolean;
};

export type Maker = Listener & {
  readonly key: string;
  readonly keyId: string;
  readonly expiresAtMs: number;
  readonly peer: Peer;
  /** A frame, with `seq` for those who asked for it. */
  say(frame: object): void;
  /** A refusal; what else is known of it goes to those who asked for more. */
  refuse(sentence: string, more: { code?: string; rfqId?: string }): void;
};

/** Joins the hub, and begins to be told; leaves when `over`. */
export function createMaker(feed: Feed, peer: Peer, { key, caller, manner }: Greeting): Maker {
  const asked = manner === 'resume';
  const maker: Maker = {
    key,
    keyId: caller.keyId,
    accountId: caller.accountId,
    expiresAtMs: caller.expiresAtMs,
    manner,
    peer,
    at: feed.hub.position(),
    live: false,
    write: peer.write,
    isFull: peer.isFull,
    fallBehind: () => {
      whileItLasts(feed, maker, () => goOn(feed, maker));
    },
    check: () => {
      if (!peer.isOpen()) return;
      checkKey(feed, maker).catch(() => {}); // Looked at again before it quotes, and by the minute.
    },
    say: (frame) => peer.say(asked ? { ...frame, seq: maker.at } : frame),
    refuse: (error, more) => maker.say({ type: 'error', error, ...(asked ? more : {}) }),
  };
  return maker;
}

/** False, and the socket is ended, where the key is revoked or expired. Throws as look-ups do. */
export async function checkKey({ keys }: Feed, { key, peer }: Maker): Promise<boolean> {
  if ((await callerOf(keys, key)) !== null) return true;
  peer.end(closeCodes.noKey, 'the API key was revoked or has expired');
  return false;
}

/** From the first frame to being live. */
export function begin(feed: Feed, maker: Maker, since: number | null): Promise<void> {
  // What was said before may be said again: an upsert, and a new `snapshot` is the book.
  return whileItLasts(feed, maker, () => tell(feed, maker, since));
}

/** Until it is done, or the database was away too long; never throws. */
async function whileItLasts(feed: Feed, maker: Maker, work: () => Promise<void>): Promise<void> {
  for (let tries = 1; maker.peer.isOpen(); tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      feed.deps.log.warn({ err: error }, 'a maker could not be told of the book');
      if (tries >= mostTries) break;
      await sleep(againMs, undefined, { ref: false });
    }
  }
  maker.peer.end(closeCodes.restart, 'the book cannot be read now: connect again');
}

/** From where it fell behind. */
async function goOn(feed: Feed, maker: Maker): Promise<void> {
  await maker.peer.drained();
  await catchUp(feed, maker, () => {});
}

async function tell(feed: Feed, maker: Maker, since: number | null): Promise<void> {
  const { hub, snapshots } = feed;
  await feed.started;
  // Revoked between its look-up and joining, nobody would have told this socket.
  if (!(await checkKey(feed, maker))) return;
  if (since !== null) {
    if (await reaches(feed, since)) {
      maker.at = since;
      maker.say({ type: 'resumed' });
      await catchUp(feed, maker, () => maker.say({ type: 'ready' }));
      return;
    }
    maker.at = hub.position();
    maker.say({ type: 'reset' });
  }
  const { accountId, manner } = maker;
  const { at, rfqs } = await snapshots.for(accountId);
  const addressed = manner === 'resume' ? { addressed: await snapshots.addressed(accountId) } : {};
  maker.at = at;
  maker.say({ type: 'snapshot', rfqs, ...addressed });
  maker.say({ type: 'ready' });
  await catchUp(feed, maker, () => {});
}

/** Whether everything after `since` is in the log, and not too much. */
async function reaches({ hub, deps }: Feed, since: number): Promise<boolean> {
  const position = hub.position();
  if (since > position || position - since > mostReplayed) return false;
  if (hub.after(since, 1) !== null) return true;
  const ends = await feedLogEnds(deps.db);
  return ends !== null && since >= ends.oldest;
}

/** Writes what it has not seen until there is nothing more; `ready` just before it is live. */
async function catchUp(feed: Feed, maker: Maker, ready: () => void): Promise<void> {
  const { hub } = feed;
  const { accountId, manner, peer } = maker;
  while (peer.isOpen()) {
    const behind = hub.position() - maker.at;
    if (behind <= 0) {
      ready();
      maker.live = true;
      return;
    }
    if (behind > 2 * mostReplayed) {
      peer.end(closeCodes.tooSlow, `${behind} frames behind: connect again`);
      return;
    }
    const entries = hub.after(maker.at, chunk);
    const seen = entries ?? (await readFor(feed, maker));
    const last = seen.at(-1);
    // Read from the database alone: what the hub knows of is there.
    if (last === undefined) throw new Error('the log of the feed ends before the hub');
    send(
      peer,
      seen.filter((each) => isFor(each, accountId)),
      manner,
    );
    maker.at = last.seq;
    await peer.drained();
  }
}

function send(peer: Peer, entries: readonly Entry[], manner: Manner): void {
  const bytes = entriesBytes(entries, manner);
  if (bytes.length > 0) peer.write(bytes);
}

/** The log for one account: who holds what is as of now. */
async function readFor({ deps }: Feed, { at, accountId }: Maker): Promise<Entry[]> {
  const [rows, { addresses }] = await Promise.all([
    readFeedLog(deps.db, at, chunk),
    findHoldings(deps.db, accountId),
  ]);
  return rows.map((row) => {
    const { targetAddress: target } = row;
    if (target === null) return { ...row, holders: null };
    return { ...row, holders: new Set(holds(addresses, target) ? [accountId] : []) };
  });
}
