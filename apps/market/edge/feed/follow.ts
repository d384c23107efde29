// Keeps this process at the end of the feed's log: appends what effects left in the outbox, reads
// what any process appended, and hands it to the hub.

import { families } from '@parley/core/families.ts';
import { feedLogEnds, holdersOf, readFeedLog } from '../../db/feed-log.ts';
import { sequenceFeed } from '../../market/feed-log.ts';
import type { Deps } from '../../ports/deps.ts';
import { type Next, pollMs, service } from '../../ports/service.ts';
import type { Entry, Hub } from './hub.ts';

/** While RFQs expire, and after a fault. */
const soonMs = 250;
/** While another process appends. */
const busyMs = 5;
const batch = 500;

export type Following = {
  /** Resolves when the end of the log is known: no socket is sent anything before. */
  readonly started: Promise<void>;
  stop(): Promise<void>;
};

type Parts = Pick<Deps, 'db' | 'now' | 'log' | 'metrics' | 'randomBytes'>;

/** `reset`: the frames sent to sockets are not known any more; they must begin anew. */
export function followFeed(deps: Parts, hub: Hub, reset: () => void): Following {
  let known = false;
  const started = Promise.withResolvers<void>();
  // On the market's clock. No RFQ lives for less than three polls: every expiry is heard of before
  // it.
  let checkedAt = 0;
  let expiryAt = 0;

  const pass = async (): Promise<Next> => {
    if (!known) {
      hub.startAt((await feedLogEnds(deps.db))?.newest ?? hub.position());
      known = true;
      started.resolve();
    }
    const now = deps.now();
    const expiry = now < checkedAt || now >= expiryAt;
    const { busy, more, expiresAt } = await sequenceFeed(deps, expiry);
    const behind = await pull(deps, hub, reset);
    if (expiry && !busy && !more) {
      const next = Math.min(expiresAt?.getTime() ?? Number.POSITIVE_INFINITY, now + pollMs);
      [checkedAt, expiryAt] = [now, Math.max(next, now + soonMs)];
    }
    if (more || behind) return 'now';
    return busy ? busyMs : Math.max(0, expiryAt - now);
  };

  const failureMs = { least: soonMs, most: 2_000 };
  const feed = service(deps, { name: 'feed', pass, wokenBy: ['feed'], failureMs });
  feed.start();
  return {
    started: started.promise,
    stop: async () => {
      await feed.stop();
      started.resolve();
    },
  };
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
