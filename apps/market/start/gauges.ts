// The figures of the whole market in a scrape: a few statements on one connection, kept for some
// seconds and given up after two. An unreadable figure is left out: an old figure looks like a
// market that works.

import { within } from '@parley/host/within.ts';
import type { Gauge } from 'prom-client';
import { oldestEvents, serverState } from '../db/doctor.ts';
import * as figures from '../db/gauges.ts';
import { nextJobs } from '../db/jobs.ts';
import { expectedWithin, readStatus } from '../market/status.ts';
import { channelOf } from '../messages/deliver.ts';
import { messageKinds } from '../messages/sealed.ts';
import type { Deps } from '../ports/deps.ts';
import type { Metrics } from '../ports/metrics.ts';
import { createMoments } from '../ports/moments.ts';
import { passesOf } from '../ports/passes.ts';

/** However many scrape, and how often: the database is asked once in it. */
const keptMs = 5_000;
/** Prometheus waits for ten seconds unless it is told otherwise. */
const figuresMs = 2_000;
/** The steps that are due for less are on their way. */
const graceSeconds = 60;
/**
 * The failures of a job of the keeper: from so many on it is as old as the job (the doctor's
 * measure).
 */
const failures = 5;

type Needs = Pick<Deps, 'db' | 'adapters' | 'settings' | 'presence' | 'now' | 'metrics' | 'log'>;

/** Reads it all again, unless that was done a moment ago. Never throws, and takes a time limit. */
export function createFigures(deps: Needs, limits = { keptMs, figuresMs }): () => Promise<void> {
  const { metrics, log, db } = deps;
  const kept = createMoments<void>(limits.keptMs, 1);
  let asking: Promise<Figures> | null = null;
  let wasUp = true;
  forget(metrics.market);
  /** One question at a time, however long the database takes over it. */
  const ask = () => {
    asking ??= read(deps, limits.figuresMs).finally(() => {
      asking = null;
    });
    return asking;
  };
  const refresh = async () => {
    const began = performance.now();
    const found = await within(
      limits.figuresMs,
      ask().catch(() => null),
      null,
    );
    const isUp = found !== null;
    if (isUp !== wasUp) {
      wasUp = isUp;
      if (isUp) log.info('the market’s figures can be read again');
      else log.warn({ milliseconds: limits.figuresMs }, 'the market’s figures could not be read');
    }
    metrics.databaseUp.set(isUp ? 1 : 0);
    metrics.figuresSeconds.set((performance.now() - began) / 1_000);
    forget(metrics.market);
    if (found !== null) show(deps, found);
  };
  return async () => {
    metrics.passesLate.reset();
    for (const { service, byMs } of passesOf(db).late()) {
      metrics.passesLate.set({ service }, byMs / 1_000);
    }
    await kept.of('', refresh);
  };
}

type Figures = Awaited<ReturnType<typeof read>>;

async function read(deps: Needs, limitMs: number) {
  const { db } = deps;
  const nowMs = deps.now();
  const now = new Date(nowMs);
  const wall = Math.floor(nowMs / 1_000);
  const chains = [...deps.adapters.keys()];
  return db.transaction(async (tx) => {
    await figures.limitFigures(tx, String(limitMs));
    // One after the other: a scrape takes one connection of the pool.
    return {
      nowMs,
      // The one read that grows with them: 35 ms of 100 000.
      swaps: await figures.swapsByStatus(tx, figures.mostSwaps),
      status: await readStatus({ ...deps, db: { ...db, rows: tx.rows } }),
      events: await oldestEvents(tx),
      deadlines: await figures.nextDeadlines(tx, wall, chains),
      overdue: await figures.overdueSteps(tx, wall - graceSeconds, { chains, failures }),
      delivery: await figures.oldestDelivery(tx, now),
      failing: await figures.failingWebhooks(tx),
      messages: await nextJobs(tx, messageKinds),
      accounts: await figures.accountsAbout(tx),
      server: await serverState(tx),
    };
  });
}

/** One without labels would be 0 after `reset` alone. */
function forget(market: Metrics['market']): void {
  for (const each of Object.values(market) as Pick<Gauge, 'reset' | 'remove'>[]) {
    each.reset();
    each.remove({});
  }
}

function show({ metrics: { market } }: Needs, found: Figures): void {
  const { nowMs } = found;
  const since = (at: Date | null | undefined) =>
    at === null || at === undefined ? 0 : Math.max(0, (nowMs - at.getTime()) / 1_000);
  for (const { status, highValue, count } of found.swaps) {
    market.swaps.set({ status, value: highValue ? 'high' : 'normal' }, count);
  }
  for (const { step, at } of found.deadlines) {
    market.nextDeadline.set({ step }, at - nowMs / 1_000);
  }
  for (const { step, count, at } of found.overdue) {
    market.overdueSteps.set({ step }, count);
    market.overdueOldest.set({ step }, at === null ? 0 : nowMs / 1_000 - at);
  }
  for (const audience of ['webhooks', 'feed', 'messages'] as const) {
    const first = found.events.find((each) => each.audience === audience);
    market.waitingOldest.set({ audience }, since(first?.at));
  }
  for (const channel of ['email', 'telegram']) {
    const own = found.messages.filter(({ kind }) => channelOf(kind) === channel);
    market.messagesOldest.set({ channel }, Math.max(0, ...own.map(({ at }) => since(at))));
  }
  market.deliveriesOldest.set(since(found.delivery?.at));
  market.webhooksFailing.set(found.failing.count);
  market.webhookAccountsFailing.set(found.failing.accounts);
  market.webhooksFailingOldest.set(since(found.failing.since));
  for (const { chain, seenAt, blockSeconds } of found.status.chains) {
    market.headExpected.set({ chain }, expectedWithin(blockSeconds));
    if (seenAt !== null) market.headAge.set({ chain }, since(new Date(seenAt)));
  }
  market.agrees.set(found.status.agrees ? 1 : 0);
  market.accounts.set(found.accounts);
  market.connections.set(found.server.connections);
  market.mostConnections.set(found.server.most);
}
