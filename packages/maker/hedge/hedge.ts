// A hedge is told of each agreed and each ended swap, at least once and in order. The deal is on
// disk before that, and so is afterwards that it was told: a crash between both tells it again with
// the same id. A hook that fails is tried again, and holds up no other swap and no settlement.

import { join } from 'node:path';
import type { Millis } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { type NamedFiles, namedFiles } from '@parley/trader/named-files.ts';
import { mustBePrivate } from '@parley/trader/places.ts';
import type { AssetConfig, HedgeConfig } from '../config/config.ts';
import type { Deal, Journal } from '../journal.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type Notice, noticesOf } from './notices.ts';
import { tell } from './tell.ts';

/** Swaps whose notices are being told. */
const mostAtOnce = 4;
const pauseFirstMs = 1_000;
const pauseMostMs = 60_000;

/** The notices of one thread that a hedge was told, by id. */
type Told = { readonly told: readonly string[]; readonly givenUp: readonly string[] };
const nothingTold: Told = { told: [], givenUp: [] };

/** `waitedMs`: all pauses of this process before its tries; no clock that is set changes it. */
type Try = { readonly tries: number; readonly waitedMs: Millis; readonly nextAtMs: Millis };
const notTried: Try = { tries: 0, waitedMs: 0, nextAtMs: 0 };

export type HedgeInput = {
  readonly config: HedgeConfig;
  /** The maker's store. */
  readonly dir: string;
  readonly journal: Pick<Journal, 'deals'>;
  readonly assets: readonly AssetConfig[];
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => Millis;
};

export type Hedge = Awaited<ReturnType<typeof openHedge>>;

/** Throws Failure where others of this machine may read the hedge's token. */
export async function openHedge(input: HedgeInput) {
  const { config, journal, assets, log, metrics, now } = input;
  if ('url' in config.to && config.to.tokenFile !== null) await mustBePrivate(config.to.tokenFile);
  const files = namedFiles(join(input.dir, 'hedge'));
  const byName = new Map(assets.map((each) => [each.name, each]));
  const records = await recordsIn(files, log);
  const tries = new Map<string, Try>();
  const running = new Map<string, Promise<void>>();
  /** Swaps that have ended, and all of it is told. A lapsed acceptance may still become a swap. */
  const done = new Set<string>();

  const nextOf = (deal: Deal): Notice | undefined => {
    const { told, givenUp } = records.get(deal.threadId) ?? nothingTold;
    return noticesOf(deal, byName).find(({ id }) => !told.includes(id) && !givenUp.includes(id));
  };

  const keep = async ({ threadId, id }: Notice, how: keyof Told) => {
    const before = records.get(threadId) ?? nothingTold;
    const record = { ...before, [how]: [...before[how], id] };
    await files.write(threadId, JSON.stringify(record));
    records.set(threadId, record);
    tries.delete(id);
  };

  const failed = async (notice: Notice, error: unknown) => {
    const { id, type, swapId, at } = notice;
    const { tries: before, waitedMs } = tries.get(id) ?? notTried;
    const count = before + 1;
    const pauseMs = Math.min(pauseMostMs, pauseFirstMs * 2 ** Math.min(before, 10));
    tries.set(id, { tries: count, waitedMs: waitedMs + pauseMs, nextAtMs: now() + pauseMs });
    metrics.failures.inc({ what: 'hedge' });
    log.warn('hedge_failed', { id, type, swapId, tries: count, error: messageOf(error) });
    // One that is old as a process begins is tried as often as a new one.
    if (waitedMs <= config.giveUpSeconds * 1_000) return;
    const ageSeconds = Math.floor((now() - Date.parse(at)) / 1_000);
    await keep(notice, 'givenUp');
    metrics.hedgeGivenUp.inc();
    log.error('hedge_given_up', { id, type, swapId, tries: count, ageSeconds });
  };

  const tellOne = async (notice: Notice) => {
    const { id, type, swapId } = notice;
    try {
      await tell(config, notice);
      await keep(notice, 'told');
      metrics.hedgeTold.inc({ type });
      log.info('hedge_told', { id, type, swapId });
    } catch (error) {
      await failed(notice, error);
    }
  };

  const begin = (notice: Notice) => {
    const { threadId, id } = notice;
    const run = tellOne(notice)
      .catch((error: unknown) => log.error('hedge_failed', { id, error: messageOf(error) }))
      .finally(() => running.delete(threadId));
    running.set(threadId, run);
  };

  /** The journal has forgotten their deals. */
  const forget = async () => {
    for (const threadId of [...records.keys()]) {
      if (journal.deals.has(threadId)) continue;
      await files.remove(threadId);
      records.delete(threadId);
      done.delete(threadId);
    }
  };

  return {
    /** Tells what is due, and does not wait for it. */
    look: async (): Promise<void> => {
      await forget();
      let waiting = 0;
      for (const deal of journal.deals.values()) {
        const { threadId, swapId, end } = deal;
        if (done.has(threadId)) continue;
        const notice = nextOf(deal);
        if (notice === undefined) {
          if (end !== null && swapId !== null) done.add(threadId);
          continue;
        }
        waiting += 1;
        const pauseMs = (tries.get(notice.id) ?? notTried).nextAtMs - now();
        // A clock that was set back makes no wait longer.
        const isDue = pauseMs <= 0 || pauseMs > pauseMostMs;
        if (isDue && !running.has(threadId) && running.size < mostAtOnce) begin(notice);
      }
      metrics.hedgeWaiting.set(waiting);
    },
    /** Until the tries under way have ended: each has its limit of time. */
    stopped: async (): Promise<void> => {
      await Promise.allSettled(running.values());
    },
  };
}

/** A file that cannot be read tells nothing: its notices are told again. */
async function recordsIn({ ids, read }: NamedFiles, log: Log): Promise<Map<string, Told>> {
  const records = new Map<string, Told>();
  const damaged = (threadId: string | null) => (error: unknown) => {
    log.error('hedge_file_damaged', { threadId, error: messageOf(error) });
    return [];
  };
  for (const threadId of await ids().catch(damaged(null))) {
    try {
      const { told, givenUp } = JSON.parse((await read(threadId)) ?? '') as Told;
      records.set(threadId, { told: [...told], givenUp: [...givenUp] });
    } catch (error) {
      damaged(threadId)(error);
    }
  }
  return records;
}
