// Keeps this process at the end of the feed's log: appends what effects left in the outbox, reads
// what any process appended, and hands it to the hub. Told at once of changes made here and, by the
// database, of what others append; looks by itself too, so that nothing hangs on being told.

import { feedChannel, feedLogEnds, holdersOf, readFeedLog } from '../../db/feed-log.ts';
import type { Listener as Ears } from '../../db/listen.ts';
import { bookOf } from '../../market/book.ts';
import { sequenceFeed } from '../../market/feed-log.ts';
import { createBell } from '../../ports/bell.ts';
import type { Deps } from '../../ports/deps.ts';
import type { Entry, Hub } from './hub.ts';

/** Without being told: how late an expiry, or another program's change, is heard of. */
const lookEveryMs = 250;
/** While another process appends. */
const busyMs = 5;
const batch = 500;

export type Following = {
  /** Resolves when the end of the log is known: nobody may be told anything before. */
  readonly started: Promise<void>;
  stop(): Promise<void>;
};

type Parts = Pick<Deps, 'db' | 'now' | 'log'>;

/** `reset`: what sockets were told is not known any more; they must begin anew. */
export function followFeed(deps: Parts, hub: Hub, reset: () => void): Following {
  const halt = new AbortController();
  const bell = createBell();
  const forgetBook = bookOf(deps.db).onAnnounced(bell.ring);
  const ears = keepEars(deps, bell.ring);
  let known = false;
  const started = Promise.withResolvers<void>();

  let expiryAt = 0;

  /** One look; how long to wait for the next. */
  const look = async (): Promise<number> => {
    if (!known) {
      hub.startAt((await feedLogEnds(deps.db))?.newest ?? hub.position());
      known = true;
      started.resolve();
    }
    ears.keep();
    const at = performance.now();
    const expiry = at >= expiryAt;
    if (expiry) expiryAt = at + lookEveryMs;
    const { busy, more } = await sequenceFeed(deps, expiry);
    const behind = await pull(deps, hub, reset);
    if (more && expiry) expiryAt = 0;
    if (more || behind) return 0;
    return busy ? busyMs : lookEveryMs;
  };

  const run = async () => {
    let failing = false;
    while (!halt.signal.aborted) {
      let pauseMs = lookEveryMs;
      try {
        pauseMs = await look();
        if (failing) deps.log.info('the feed goes on');
        failing = false;
      } catch (error) {
        if (!failing) deps.log.error({ err: error }, 'the feed stands still');
        failing = true;
      }
      // A fault is not met again at once, whoever rings.
      await (failing ? bell.rest(pauseMs) : bell.wait(pauseMs));
    }
  };
  const running = run();
  return {
    started: started.promise,
    stop: async () => {
      halt.abort();
      forgetBook();
      ears.end();
      bell.stop();
      await running;
      started.resolve();
    },
  };
}

/** Hands a batch to the hub; true when there may be more. */
async function pull(deps: Parts, hub: Hub, reset: () => void): Promise<boolean> {
  const read = await readFeedLog(deps.db, hub.position().seq, batch);
  const anew = read.findLastIndex(({ kind }) => kind === 'reset');
  const mark = read[anew];
  if (mark !== undefined) {
    hub.startAt(mark);
    reset();
  }
  const rows = read.slice(anew + 1);
  const addresses = new Set(rows.flatMap(({ targetAddress: held }) => (held === null ? [] : held)));
  const holders = new Map<string, Set<string>>([...addresses].map((each) => [each, new Set()]));
  if (addresses.size > 0) {
    for (const { accountId, address } of await holdersOf(deps.db, [...addresses])) {
      holders.get(address)?.add(accountId);
    }
  }
  const entries = rows.map(({ targetAddress, ...row }): Entry => {
    const may = targetAddress === null ? null : (holders.get(targetAddress) ?? new Set<string>());
    return { ...row, targetAddress, holders: may };
  });
  const more = read.length === batch;
  await hub.publish(entries, more);
  return more;
}

/** A connection that is told of what other processes append, opened again at the next look. */
function keepEars({ db, log }: Parts, ring: () => void) {
  let ears: Ears | null = null;
  let opening = false;
  let ended = false;

  const open = async () => {
    let lost = false as boolean;
    const fresh = await db.listen({
      heard: ring,
      lost: () => {
        lost = true;
        ears = null;
      },
    });
    try {
      await fresh.rows({ name: 'feed_listen', text: `listen ${feedChannel}`, values: [] });
    } catch (error) {
      fresh.end();
      throw error;
    }
    if (ended || lost) return fresh.end();
    ears = fresh;
    // What was appended before it listened.
    ring();
  };
  return {
    keep: () => {
      if (ears !== null || opening || ended) return;
      opening = true;
      open()
        .catch((error: unknown) => log.debug({ err: error }, 'the feed is not told of others'))
        .finally(() => {
          opening = false;
        });
    },
    end: () => {
      ended = true;
      ears?.end();
    },
  };
}
