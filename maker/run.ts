// A maker while it runs: everything wired, and what it does again and again.

import type { Writable } from 'node:stream';
import { formatUnits } from '../core/amounts.ts';
import type { ChainKey } from '../core/families.ts';
import type { Millis } from '../core/nominal.ts';
import { messageOf } from '../sdk/errors.ts';
import { type MakerFeed, makerFeed } from '../sdk/feed.ts';
import { fileStore } from '../sdk/stores/file.ts';
import { createAccepting } from './accepting.ts';
import { closeChains, openChains } from './chains.ts';
import type { Config } from './config/config.ts';
import { watchSwitch } from './control.ts';
import { openJournal } from './journal.ts';
import { type Log, openLog } from './log.ts';
import { createMetrics, type Metrics, serveMetrics } from './metrics.ts';
import { openPrices, type Prices } from './prices/sources.ts';
import { createPromises, type Promises } from './promises.ts';
import { createQuoting } from './quoting.ts';
import { holdingOf, takenOf } from './rules/inventory.ts';
import { approximate } from './rules/price.ts';
import { openSession, pinAssets } from './session.ts';
import { createSettling } from './settling.ts';
import { createStock, type Stock } from './stock.ts';

export type Running = {
  stop(): Promise<void>;
};

export type How = {
  readonly out: Writable;
  /** The maker's clock; default the machine's. */
  readonly now?: () => Millis;
};

const bookMs = 1_000;
const gaugesMs = 5_000;
const renewMs = 3_600_000;
const adoptMs = 300_000;
const feedAgainMs = 5_000;
const keyAgainMs = 60_000;
/** After a price came, before the book is looked at. */
const priceMs = 100;

/** Another process has the store. */
export class StoreTaken extends Error {
  override name = 'StoreTaken';
}

/** Things to undo, last first. */
type Undo = (() => unknown)[];

/** Resolves once it trades. Throws StoreTaken, KeyFileError, and what market and nodes refuse. */
export async function runMaker(config: Config, { out, now = Date.now }: How): Promise<Running> {
  const undo: Undo = [];
  const unwind = async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    await start(config, { out, now, undo });
    return { stop: unwind };
  } catch (error) {
    await unwind();
    throw error;
  }
}

type Starting = Required<How> & { readonly undo: Undo };

async function start(config: Config, { out, now, undo }: Starting): Promise<void> {
  const log = openLog(out, now);
  const seconds = () => Math.floor(now() / 1_000);
  const { limits, pairs } = config;
  const store = await fileStore(config.store);
  const lock = (await store.lock?.('maker', AbortSignal.abort())) ?? null;
  if (lock === null) throw new StoreTaken(`another maker runs on ${config.store}`);
  undo.push(() => lock.release());
  const journal = await openJournal(config.store, seconds);
  undo.push(() => journal.close());
  const chains = await openChains(config.chains, seconds);
  undo.push(() => closeChains(chains));
  const metrics = createMetrics();
  if (config.metricsPort !== null) undo.push(await serveMetrics(metrics, config.metricsPort));
  const session = await openSession(config, chains, log);
  const assets = await pinAssets(session.client, config.assets);
  const stop = new AbortController();
  const { signal } = stop;
  const warnBelow = new Map(config.chains.map((each) => [each.chain, each.warnBelowSwaps]));
  const stock = createStock({ chains, assets: config.assets, log, now, signal, warnBelow });
  const prices = openPrices(config.prices, { now, changed: () => soon(), said: saidBy(log) });
  undo.push(prices.close);
  const { mode, stop: unwatch } = await watchSwitch(config.store, (turned) => {
    log.warn('switched', { mode: turned });
    soon();
  });
  undo.push(unwatch);
  const { deals } = journal;
  const promises = createPromises({
    ...{ assets: config.assets, limits, prices, stock, mode, now, deals },
  });
  const common = { promises, log, metrics, now };
  const pollMs = Math.max(1_000, limits.pollMs);
  const settling = createSettling({
    ...{ ...common, chains, store, session, journal, signal, pollMs },
    batchMs: limits.batchSeconds * 1_000,
  });
  const accepting = createAccepting({
    ...{ ...common, session, chains, store, journal, settling, prices, pairs, limits, assets },
    signal,
  });
  // What was agreed before goes first.
  for (const deal of deals.values()) {
    if (deal.end !== null) continue;
    promises.dealt(deal, null);
    settling.begin(deal);
  }
  const idOf = (name: string) => assets.get(name)?.id;
  const quoting = createQuoting({ ...common, feed: () => feed, prices, pairs, idOf, limits });
  const soon = debounced(priceMs, () => quoting.look(), undo);
  await stock.read();
  let feed = openFeed();
  undo.push(() => feed.close());
  undo.push(() => settling.stopped());
  undo.push(() => stop.abort(new Error('the maker stops')));
  const every = repeating({ log, metrics, signal });
  every('balances', limits.balanceSeconds * 1_000, () => stock.read());
  every('book', bookMs, async () => quoting.look());
  every('threads', limits.pollMs, async () => {
    await accepting.look();
    await accepting.followUp();
  });
  every('adopting', adoptMs, () => accepting.adopt());
  every('gauges', gaugesMs, async () => show({ config, stock, promises, prices, metrics, mode }));
  every('key', renewMs, async () => {
    if (await session.renew(now())) reopen();
  });
  for (const chain of batchingOf(config)) {
    every(`batch on ${chain}`, limits.batchSeconds * 500, () => settling.batch(chain));
  }
  const mine = { market: config.market.url, account: session.userId, pairs: pairs.length };
  log.info('started', { ...mine, mode: mode(), openSwaps: promises.open.size });

  function reopen(): void {
    feed.close();
    feed = openFeed();
  }
  function openFeed(): MakerFeed {
    const { shortName, url: baseUrl } = config.market;
    const own = makerFeed({
      ...{ baseUrl, key: session.key(), ...(shortName === null ? {} : { shortName }) },
      onChange: (change) => quoting.changed(change),
      onState: (state) => {
        metrics.feedLive.set(state === 'live' ? 1 : 0);
        log.info('feed', { state });
        if (state === 'closed' && !signal.aborted) setTimeout(refeed, feedAgainMs, own).unref();
      },
      onError: (error) => log.warn('feed_error', { error }),
    });
    return own;
  }
  /** The key was revoked, or another mint took its place. */
  function refeed(closed: MakerFeed): void {
    if (closed !== feed || signal.aborted) return;
    session.renew(Number.POSITIVE_INFINITY).then(reopen, (error: unknown) => {
      log.error('no_key', { error: messageOf(error) });
      setTimeout(refeed, keyAgainMs, closed).unref();
    });
  }
}

function saidBy(log: Log) {
  return (source: string, fault: string | null) => {
    if (fault === null) log.info('price_again', { source });
    else log.warn('price_fault', { source, why: fault });
  };
}

function batchingOf({ chains, limits }: Config): ChainKey[] {
  if (limits.batchSeconds === 0) return [];
  return chains.flatMap(({ family, chain }) =>
    family === 'evm' || family === 'tron' ? [chain] : [],
  );
}

/** Begins each pass when the one before has ended and the pause is over. */
function repeating({ log, metrics, signal }: { log: Log; metrics: Metrics; signal: AbortSignal }) {
  return (what: string, pauseMs: Millis, work: () => Promise<void>) => {
    const pass = async () => {
      try {
        await work();
      } catch (error) {
        if (signal.aborted) return;
        metrics.failures.inc({ what });
        log.warn('pass_failed', { what, error: messageOf(error) });
      }
      if (signal.aborted) return;
      const timer = setTimeout(pass, pauseMs);
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    };
    void pass();
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

type Shown = {
  readonly config: Config;
  readonly stock: Stock;
  readonly promises: Promises;
  readonly prices: Prices;
  readonly metrics: Metrics;
  readonly mode: () => 'open' | 'paused' | 'killed';
};

function show({ config, stock, promises, prices, metrics, mode }: Shown): void {
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
  metrics.mode.set(['open', 'paused', 'killed'].indexOf(mode()));
}
