// A maker while it runs: everything wired, and what it does again and again.

import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { formatUnits } from '@parley/core/amounts.ts';
import { threadTopics } from '@parley/core/events.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { codeOf, messageOf, ParleyApiError } from '@parley/sdk/errors.ts';
import { type BookChange, type FeedEvent, type MakerFeed, makerFeed } from '@parley/sdk/feed.ts';
import { fileStore } from '@parley/sdk/stores/file.ts';
import { createAccepting } from './accepting.ts';
import { closeChains, mustHaveChains, openChains } from './chains.ts';
import { createClock } from './clock.ts';
import type { Config } from './config/config.ts';
import { watchSwitch } from './control.ts';
import { createDoubts } from './doubts.ts';
import { openJournal } from './journal.ts';
import { createLevels } from './levels.ts';
import { type Log, openLog } from './log.ts';
import { createMetrics, type Metrics, serveMetrics } from './metrics.ts';
import { openPrices } from './prices/sources.ts';
import { createPromises } from './promises.ts';
import { createQuoting } from './quoting.ts';
import type { Mode } from './rules/decide.ts';
import { holdingOf, takenOf } from './rules/inventory.ts';
import { approximate } from './rules/price.ts';
import { openSession, pinAssets } from './session.ts';
import { createSettling } from './settling.ts';
import { openSocket } from './socket.ts';
import { createStock } from './stock.ts';
import { createTurns } from './turns.ts';

export type Running = {
  /** Rejects where it can neither trade nor has anything to settle. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
};

export type How = {
  readonly out: Writable;
  /** The maker's clock; default the machine's. */
  readonly now?: () => Millis;
  /** By how much a dev network has moved its clocks: dates of its market are of the machine. */
  readonly movedMs?: () => Millis;
};

const bookMs = 1_000;
/** Between two looks at the chains of a swap. */
const settlePollMs = 1_000;
const gaugesMs = 5_000;
/** Between two looks at the clocks of chains. */
const clockMs = 15_000;
const renewMs = 3_600_000;
/** Between two tries to take what remains in escrows of swaps that have ended. */
const remainsMs = 3_600_000;
const adoptMs = 300_000;
/** Between two tries to sign in, or to connect to the feed with a new key. */
const againMs = 5_000;
/** The limit of a frame of the feed: the newest 200 RFQs are a tenth of it. */
const mostFrameBytes = 8_388_608;
/** After a price came, before the book is looked at. */
const priceMs = 100;

/** Another process has the store. */
export class StoreTaken extends Error {
  override name = 'StoreTaken';
}

/** Things to undo, last first. */
type Undo = (() => unknown)[];

/**
 * Resolves once what was agreed before is being settled; it trades as soon as the market answers.
 * Throws StoreTaken, ChainMissing, Failure, and where a chain's pinned facts are unsound.
 */
export async function runMaker(config: Config, how: How): Promise<Running> {
  const { out, movedMs = () => 0, now = () => Date.now() + movedMs() } = how;
  const undo: Undo = [];
  const unwind = async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const desk = await openDesk(config, { log: openLog(out, now), now, movedMs, undo });
    const failed = trade(desk);
    failed.catch(() => undefined);
    return { failed, stop: unwind };
  } catch (error) {
    await unwind();
    throw error;
  }
}

type Opening = {
  readonly log: Log;
  readonly now: () => Millis;
  readonly movedMs: () => Millis;
  readonly undo: Undo;
};
type Desk = Awaited<ReturnType<typeof openDesk>>;

/** All that needs no market, and the settlement of what was agreed before. */
async function openDesk(config: Config, { log, now, movedMs, undo }: Opening) {
  const seconds = () => Math.floor(now() / 1_000);
  const { limits } = config;
  const store = await fileStore(config.store);
  const lock = (await store.lock?.('maker', AbortSignal.abort())) ?? null;
  if (lock === null) throw new StoreTaken(`another maker runs on ${config.store}`);
  undo.push(() => lock.release());
  const journal = await openJournal(config.store, seconds);
  undo.push(() => journal.close());
  await mustHaveChains(config.chains, store, [...journal.deals.values()]);
  const chains = await openChains(config.chains, seconds);
  undo.push(() => closeChains(chains));
  const metrics = createMetrics();
  if (config.metricsPort !== null) undo.push(await serveMetrics(metrics, config.metricsPort));
  const stop = new AbortController();
  const { signal } = stop;
  const clock = createClock({ chains, log, metrics, now, movedMs, signal });
  const session = await openSession(config, chains, log, clock.heard);
  const warnBelow = new Map(config.chains.map((each) => [each.chain, each.warnBelowSwaps]));
  const doubts = createDoubts({ log, metrics, now });
  const { assets } = config;
  const stock = createStock({ chains, assets, log, doubts, now, signal, warnBelow });
  const moved = { look: () => {} };
  const soon = debounced(priceMs, () => moved.look(), undo);
  const prices = openPrices(config.prices, { now, changed: soon, said: saidBy(log) });
  undo.push(prices.close);
  const { mode: switched, stop: unwatch } = await watchSwitch(config.store, (turned) => {
    log.warn('switched', { mode: turned });
    soon();
  });
  undo.push(unwatch);
  const mode = (): Mode => (clock.isWrong() ? 'clock' : switched());
  const { deals } = journal;
  const promises = createPromises({
    assets,
    limits,
    prices,
    stock,
    mode,
    now,
    deals,
  });
  const settling = createSettling({
    chains,
    store,
    session,
    journal,
    promises,
    log,
    metrics,
    doubts,
    now,
    signal,
    pollMs: settlePollMs,
    batchMs: limits.batchSeconds * 1_000,
  });
  undo.push(() => settling.stopped());
  undo.push(() => stop.abort(new Error('the maker stops')));
  for (const deal of deals.values()) {
    if (deal.end !== null) continue;
    promises.dealt(deal, null);
    settling.begin(deal);
  }
  log.info('settling', { openSwaps: promises.open.size, mode: mode() });
  return {
    config,
    log,
    now,
    undo,
    store,
    journal,
    chains,
    metrics,
    session,
    signal,
    stock,
    prices,
    mode,
    promises,
    settling,
    moved,
    clock,
  };
}

type FeedDesk = Pick<Desk, 'config' | 'session' | 'metrics' | 'log' | 'signal'>;

/** Signs in, however long that takes, and trades. */
async function trade(desk: Desk): Promise<never> {
  const { config, log, metrics, now, undo, signal, stock, promises, settling, session, clock } =
    desk;
  const every = repeating({ log, metrics, signal });
  for (const chain of batchingOf(config)) {
    every(`batch on ${chain}`, config.limits.batchSeconds * 500, () => settling.batch(chain));
  }
  every('gauges', gaugesMs, async () => show(desk));
  every('remains', remainsMs, () => settling.takeRemains());
  await clock.look();
  every('clock', clockMs, clock.look);
  await stock.read();
  const { userId, assets } = await signedIn(desk);
  const { limits, pairs } = config;
  const { prices, mode, moved, chains, store, journal } = desk;
  const turns = createTurns();
  const common = { promises, turns, log, metrics, mode, now, signal, prices, pairs, limits };
  const accepting = createAccepting({
    ...common,
    client: session.client,
    userId,
    chains,
    store,
    journal,
    settling,
    assets,
  });
  const link: { feed: MakerFeed | null } = { feed: null };
  const quoting = createQuoting({
    ...common,
    client: session.once,
    feed: () => link.feed,
    idOf: (name) => assets.get(name)?.id,
  });
  const levels = createLevels({
    ...common,
    client: session.once,
    feed: () => link.feed,
    idOf: (name) => assets.get(name)?.id,
  });
  const open = () => {
    link.feed?.close();
    const heard = (event: FeedEvent) => {
      const { threadId, rfqId } = event;
      if (event.type !== 'thread.closed') {
        accepting.lookAt(threadId);
      } else if (event.reason === 'disconnected') quoting.disconnected(rfqId);
    };
    const changed = (change: BookChange) => quoting.changed(change);
    link.feed = openFeed(desk, { changed, heard, again: open });
  };
  open();
  undo.push(() => link.feed?.close());
  // The maker would accept none of them any more.
  undo.push(() => quoting.withdraw());
  undo.push(() => levels.withdraw());
  moved.look = () => quoting.look();
  every('balances', limits.balanceSeconds * 1_000, () => stock.read());
  every('book', bookMs, async () => quoting.look());
  every('levels', bookMs, () => levels.look());
  every('threads', limits.pollMs, async () => {
    await accepting.look();
    await accepting.followUp();
  });
  every('adopting', adoptMs, () => accepting.adopt());
  every('key', renewMs, async () => {
    if (await session.renew(now())) open();
  });
  log.info('started', { market: config.market.url, account: userId, pairs: pairs.length });
  return new Promise<never>(() => {});
}

/** Throws what time does not mend, where nothing is to be settled. */
async function signedIn({ config, session, log, promises, signal }: Desk) {
  for (;;) {
    signal.throwIfAborted();
    try {
      const userId = await session.signIn();
      return { userId, assets: await pinAssets(session.client, config.assets) };
    } catch (error) {
      const passes = error instanceof ParleyApiError && error.unreachable;
      if (!passes && promises.open.size === 0) throw error;
      log.error('sign_in_failed', { code: codeOf(error), error: messageOf(error) });
    }
    await wait(againMs, undefined, { signal });
  }
}

type Hearing = {
  readonly changed: (change: BookChange) => void;
  readonly heard: (event: FeedEvent) => void;
  /** With the key of then. */
  readonly again: () => void;
};

export function openFeed(
  { config, session, metrics, log, signal }: FeedDesk,
  { changed, heard, again }: Hearing,
  pauseMs: Millis = againMs,
): MakerFeed {
  const { shortName, url: baseUrl } = config.market;
  const key = session.key();
  let isOver = false;
  /** The key was revoked. Where another took its place, whoever minted that opens a feed. */
  const renew = () => {
    if (signal.aborted || session.key() !== key) return;
    session.renew(Number.POSITIVE_INFINITY).then(again, (error: unknown) => {
      log.error('no_key', { error: messageOf(error) });
      setTimeout(renew, pauseMs * 12).unref();
    });
  };
  return makerFeed({
    baseUrl,
    key,
    ...(shortName === undefined ? {} : { shortName }),
    events: threadTopics,
    cancelOnDisconnect: config.limits.cancelSeconds,
    open: (address) => openSocket(address, mostFrameBytes),
    onChange: changed,
    onEvent: heard,
    onState: (state) => {
      metrics.feedLive.set(state === 'live' ? 1 : 0);
      log.info('feed', { state });
    },
    onError: (error) => {
      log.warn('feed_error', { error });
      // It is said in a frame and again at the end: two mints would revoke each other's key.
      if (isOver || !/^the API key/.test(error)) return;
      isOver = true;
      setTimeout(renew, pauseMs).unref();
    },
  });
}

function saidBy(log: Log) {
  return (source: string, fault: string | null) => {
    if (fault === null) log.info('price_again', { source });
    else log.warn('price_fault', { source, why: fault });
  };
}

function batchingOf({ chains, limits }: Config): ChainKey[] {
  if (limits.batchSeconds === 0) return [];
  return chains.flatMap((each) => (has(each, 'batches') ? [each.chain] : []));
}

/** Begins each pass when the one before has ended and the pause is over. */
function repeating({ log, metrics, signal }: { log: Log; metrics: Metrics; signal: AbortSignal }) {
  return (what: string, pauseMs: Millis, work: () => Promise<void>) => {
    const passes = async () => {
      for (;;) {
        try {
          await work();
        } catch (error) {
          signal.throwIfAborted();
          metrics.failures.inc({ what });
          log.warn('pass_failed', { what, error: messageOf(error) });
        }
        await wait(pauseMs, undefined, { signal });
      }
    };
    // Only the signal ends it.
    passes().catch(() => undefined);
  };
}

function debounced(ms: Millis, work: () => void, undo: Undo): () => void {
  let timer: NodeJS.Timeout | undefined;
  undo.push(() => clearTimeout(timer));
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work();
    }, ms);
  };
}

function show({ config, stock, promises, prices, metrics, mode }: Desk): void {
  const commitments = promises.commitments();
  for (const asset of config.assets) {
    const holding = holdingOf(asset);
    const balance = stock.balances.get(holding);
    if (balance === undefined) continue;
    const coins = (units: bigint) => Number(formatUnits(units, asset.decimals));
    metrics.balance.set({ asset: asset.name }, coins(balance.units));
    const promised = takenOf(holding, balance, commitments);
    metrics.promised.set({ asset: asset.name }, coins(promised));
  }
  for (const [chain, swaps] of stock.payable) metrics.swapsPayable.set({ chain }, swaps);
  for (const [source, price] of prices.all()) {
    if (price === null) metrics.price.remove({ source });
    else metrics.price.set({ source }, approximate(price));
  }
  metrics.openSwaps.set(promises.open.size);
  metrics.mode.set(['open', 'paused', 'killed', 'clock'].indexOf(mode()));
}
