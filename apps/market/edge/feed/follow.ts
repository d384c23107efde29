// Keeps this process at the end of the feed's log: appends what effects left in the outbox, reads
// what any process appended, and hands it to the hub.

import { families } from '@parley/core/families.ts';
import { feedLogEnds, holdersOf, readFeedLog } from '../../db/feed-log.ts';
import { sequenceFeed } from '../../market/feed-log.ts';
import type { Deps } from '../../ports/deps.ts';
import { type Next, pollMs, type Service, service, services } from '../../ports/service.ts';
import { workOf } from '../../ports/work.ts';
import type { Entry, Hub } from './hub.ts';

/** While RFQs expire, and after a fault. */
const soonMs = 250;
/** While another process appends. */
const busyMs = 5;
/** The other processes append what the first has not appended by then. */
const behindFirstMs = 200;
const batch = 500;

export type Following = {
  /** A socket has opened. */
  woken(): void;
  /** Resolves when the end of the log is known: no socket is sent anything before. */
  known(): Promise<void>;
  stop(): Promise<void>;
};

type Parts = Pick<Deps, 'db' | 'now' | 'log' | 'metrics' | 'randomBytes'>;

type Followed = {
  readonly hub: Hub;
  /** Whether a socket is open. Without one the log is not read. */
  readonly isWanted: () => boolean;
  /** The frames sent to sockets are not known any more; they must begin anew. */
  readonly reset: () => void;
};

export function followFeed(deps: Parts, followed: Followed): Following {
  const reading = readLog(deps, followed);
  const appending = appendLog(deps, reading.ring);
  const both = services([reading, appending]);
  both.start();
  return {
    woken: reading.ring,
    known: reading.known,
    stop: async () => {
      await both.stop();
      reading.end();
    },
  };
}

const failureMs = { least: soonMs, most: 2_000 };

function readLog(deps: Parts, { hub, isWanted, reset }: Followed) {
  let isKnown = false;
  let known = Promise.withResolvers<void>();
  const pass = async (): Promise<Next> => {
    if (!isWanted()) {
      if (isKnown) known = Promise.withResolvers<void>();
      isKnown = false;
      return undefined;
    }
    if (!isKnown) {
      hub.startAt((await feedLogEnds(deps.db))?.newest ?? hub.position());
      isKnown = true;
      known.resolve();
    }
    return (await pull(deps, hub, reset)) ? 'now' : undefined;
  };
  const own = service(deps, { name: 'feed', pass, wokenBy: ['feed'], failureMs });
  return { ...own, known: () => known.promise, end: () => known.resolve() };
}

/** `read`: has the log read, where no notice will say that there is more of it. */
function appendLog(deps: Parts, read: () => void): Service {
  // On the market's clock. No RFQ lives for less than three polls: every expiry is heard of before
  // it.
  let checkedAt = 0;
  let expiryAt = 0;
  const pass = async (): Promise<Next> => {
    const now = deps.now();
    const expiry = now < checkedAt || now >= expiryAt;
    const { busy, appended, more, expiresAt } = await sequenceFeed(deps, expiry);
    if (appended > 0 && !workOf(deps.db).isHeard()) read();
    if (expiry && !busy && !more) {
      const next = Math.min(expiresAt?.getTime() ?? Number.POSITIVE_INFINITY, now + pollMs);
      [checkedAt, expiryAt] = [now, Math.max(next, now + soonMs)];
    }
    if (more) return 'now';
    return busy ? busyMs : Math.max(0, expiryAt - now);
  };
  return service(deps, {
    name: 'feed outbox',
    pass,
    wokenBy: ['feed outbox'],
    behindFirstMs,
    doneBy: 'feed',
    failureMs,
  });
}

/** Hands a batch to the hub; true when there may be more. */
async function pull(deps: Parts, hub: Hub, reset: () => void): Promise<boolean> {
  const read = await readFeedLog(deps.db, hub.position().seq, batch, null);
  const anew = read.findLastIndex(({ kind }) => kind === 'reset');
  const mark = read[anew];
  if (mark !== undefined) {
    hub.startAt(mark);
    reset();
  }
  const rows = read.slice(anew + 1);
  const addresses = [...new Set(rows.flatMap(({ targetAddress }) => targetAddress ?? []))];
  const found = addresses.length === 0 ? [] : await holdersOf(deps.db, addresses, families);
  const holders = Map.groupBy(found, ({ address }) => address);
  const entries = rows.map((row): Entry => {
    const { targetAddress: target } = row;
    if (target === null) return { ...row, holders: null };
    const own = holders.get(target) ?? [];
    return { ...row, holders: new Set(own.map(({ accountId }) => accountId)) };
  });
  const more = read.length === batch;
  await hub.publish(entries, more);
  return more;
}
