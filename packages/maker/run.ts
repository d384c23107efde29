// A maker while it runs: everything wired, and what it does again and again.

import type { Writable } from 'node:stream';
import { formatUnits } from '@parley/core/amounts.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { fileStore } from '@parley/sdk/stores/file.ts';
import { closeChains, mustHaveChains, openChains } from './chains.ts';
import { createClock } from './clock.ts';
import type { Config } from './config/config.ts';
import { watchSwitch } from './control.ts';
import { createDoubts } from './doubts.ts';
import { openHedge } from './hedge/hedge.ts';
import { createFees } from './history/fees.ts';
import { openJournal } from './journal.ts';
import { type Log, openLog } from './log.ts';
import { openMarkets, tradeOn } from './market.ts';
import { mendDeals } from './mending.ts';
import { createMetrics, serveMetrics } from './metrics.ts';
import { openPrices, saidBy } from './prices/sources.ts';
import { priceMs } from './quoting.ts';
import { debounced, repeating } from './repeating.ts';
import { type Commitment, holdingOf, takenOf } from './rules/inventory.ts';
import { approximate } from './rules/price.ts';
import { createSettling, type MarketOfDeal } from './settling.ts';
import { createStock } from './stock.ts';
import { StoreTaken } from './store-taken.ts';
import { guarded, type Undo, unwound } from './undo.ts';
import { type Recent, recentLines } from './watching/recent.ts';
import { viewOf, writeView } from './watching/view.ts';
import { createWithdrawals, promisesWith } from './withdrawing/withdrawals.ts';

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

/** Between two looks at the chains of a swap. */
const settlePollMs = 1_000;
const gaugesMs = 5_000;
const unmendedWords =
  'a deal is damaged, and what it promises is not known: the log says what to do';
/** Between two looks for what the hedge has not heard. */
const hedgeMs = 250;
/** Between two looks at the clocks of chains. */
const clockMs = 15_000;
/** Between two tries to take what remains in escrows of swaps that have ended. */
const remainsMs = 3_600_000;
const withdrawalsMs = 500;
const viewMs = 1_000;
const feesMs = 10_000;

/**
 * Resolves once what was agreed before is being settled; it trades as soon as the market answers.
 * Throws StoreTaken, ChainMissing, Failure, and where a chain's pinned facts are unsound.
 */
export async function runMaker(config: Config, how: How): Promise<Running> {
  const { out, movedMs = () => 0, now = () => Date.now() + movedMs() } = how;
  const undo: Undo = [];
  return guarded(undo, async () => {
    const recent = recentLines(out);
    const log = openLog(recent.out, now);
    const desk = await openDesk(config, { log, recent, now, movedMs, undo });
    const failed = trade(desk, undo);
    failed.catch(() => undefined);
    return { failed, stop: () => unwound(undo) };
  });
}

type Opening = {
  readonly log: Log;
  readonly recent: Recent;
  readonly now: () => Millis;
  readonly movedMs: () => Millis;
  readonly undo: Undo;
};
type Desk = Awaited<ReturnType<typeof openDesk>>;

/** All that needs no market, and the settlement of what was agreed before. */
async function openDesk(config: Config, { log, recent, now, movedMs, undo }: Opening) {
  const seconds = () => Math.floor(now() / 1_000);
  const { limits } = config;
  const store = await fileStore(config.store);
  const lock = (await store.lock?.('maker', AbortSignal.abort())) ?? null;
  if (lock === null) {
    throw new StoreTaken(`another maker, or a withdrawal, runs on ${config.store}`);
  }
  undo.push(() => lock.release());
  const journal = await openJournal(config.store, seconds, config.markets[0]?.url ?? '');
  undo.push(() => journal.close());
  const unmended = await mendDeals({ config, store, journal, log });
  await mustHaveChains(config.chains, store, [...journal.deals.values()]);
  const chains = await openChains(config.chains, seconds);
  undo.push(() => closeChains(chains));
  const metrics = createMetrics();
  if (config.metricsPort !== null) undo.push(await serveMetrics(metrics, config.metricsPort));
  const stop = new AbortController();
  const { signal } = stop;
  const clock = createClock({ chains, log, metrics, now, movedMs, signal });
  const warnBelow = new Map(config.chains.map((each) => [each.chain, each.warnBelowSwaps]));
  const doubts = createDoubts({ log, metrics, now });
  const { assets } = config;
  const stock = createStock({ chains, assets, log, doubts, now, signal, warnBelow });
  const looks = new Set<() => void>();
  const lookAll = () => {
    for (const look of looks) look();
  };
  const soon = debounced(priceMs, lookAll, undo);
  const prices = openPrices(config.prices, { now, changed: soon, said: saidBy(log) });
  undo.push(prices.close);
  const { mode: ofSwitch, stop: unwatch } = await watchSwitch(config.store, (turned) => {
    log.warn('switched', { mode: turned });
    soon();
  });
  undo.push(unwatch);
  const switched = () => (unmended > 0 ? 'killed' : ofSwitch());
  const known = { config, log, now, store, journal, chains, metrics, signal };
  const withdrawing = new Map<string, Commitment>();
  const shared = { ...known, stock, prices, clock, switched, withdrawing };
  const markets = await openMarkets(shared);
  const paths = { dir: config.store, chains: config.chains, store, journal };
  const fees = await createFees({ ...paths, log, now, signal });
  const settling = createSettling({
    batched: fees.batched,
    chains,
    store,
    marketOf: marketOfDeals(markets),
    journal,
    log,
    doubts,
    now,
    signal,
    pollMs: settlePollMs,
    batchMs: limits.batchSeconds * 1_000,
  });
  if (config.hedge !== null) {
    const given = { config: config.hedge, dir: config.store, journal, assets };
    const hedge = await openHedge({ ...given, log, metrics, now });
    undo.push(() => hedge.stopped());
    const { failures } = metrics;
    repeating({ log, failures, signal })('hedge', hedgeMs, hedge.look);
  }
  const promised = () => [...markets.values()].flatMap(({ promises }) => promises.own());
  const commitments = () => [...withdrawing.values(), ...promised()];
  const paying = { config, chains, store, deals: journal.deals, stock, log, now, signal };
  const closedWhy = unmended === 0 ? null : unmendedWords;
  const withdrawals = createWithdrawals({
    ...paying,
    closedWhy,
    promises: promisesWith(withdrawing, commitments),
  });
  undo.push(() => withdrawals.stopped());
  undo.push(() => settling.stopped());
  undo.push(() => stop.abort(new Error('the maker stops')));
  await withdrawals.resume();
  const deals = [...journal.deals.values()].filter(({ end }) => end === null);
  for (const deal of deals) {
    markets.get(deal.market)?.promises.dealt(deal, null);
    settling.begin(deal);
  }
  log.info('settling', { openSwaps: deals.length, mode: switched() });
  return { ...shared, settling, looks, markets, recent, withdrawals, fees };
}

/** Every deal that is open has its market. */
function marketOfDeals(markets: ReadonlyMap<string, MarketOfDeal>) {
  return ({ market }: { readonly market: string }): MarketOfDeal => {
    const found = markets.get(market);
    if (found === undefined) throw new Error(`no market at ${market} is known`);
    return found;
  };
}

/** Trades on each market of the settings; one that is down holds up no other. */
async function trade(desk: Desk, undo: Undo): Promise<never> {
  const { config, log, metrics, signal, stock, settling, clock, markets } = desk;
  const { failures } = metrics;
  const every = repeating({ log, failures, signal });
  for (const chain of batchingOf(config)) {
    every(`batch on ${chain}`, config.limits.batchSeconds * 500, () => settling.batch(chain));
  }
  every('gauges', gaugesMs, async () => show(desk));
  every('remains', remainsMs, () => settling.takeRemains());
  every('withdrawals', withdrawalsMs, desk.withdrawals.look);
  every('view', viewMs, showing(desk));
  every('fees', feesMs, desk.fees.look);
  await clock.look();
  every('clock', clockMs, clock.look);
  await stock.read();
  every('balances', config.limits.balanceSeconds * 1_000, () => stock.read());
  const closing: Undo[] = [];
  undo.push(() => Promise.all(closing.map(unwound)));
  const trades = [...markets.values()].flatMap((market) => {
    if (market.trading === null) return [];
    const own: Undo = [];
    closing.push(own);
    return [tradeOn({ ...desk, undo: own }, market, market.trading)];
  });
  return Promise.race(trades);
}

function batchingOf({ chains, limits }: Config): ChainKey[] {
  if (limits.batchSeconds === 0) return [];
  return chains.flatMap((each) => (has(each, 'batches') ? [each.chain] : []));
}

/** Writes what `watch` shows. */
function showing({ config, stock, markets, prices, metrics, recent }: Desk) {
  const startedAtMs = Date.now();
  return async () => {
    const { values } = await metrics.feedLive.get();
    const isLive = values.length > 0 && values.every(({ value }) => value === 1);
    const all = [...markets.values()];
    const events = recent.lines;
    await writeView(
      config.store,
      viewOf({ config, stock, markets: all, prices, isLive, events, startedAtMs }),
    );
  };
}

function show({ config, stock, markets, prices, metrics }: Desk): void {
  const [{ promises } = { promises: null }] = markets.values();
  const commitments = promises?.commitments() ?? [];
  for (const asset of config.assets) {
    const holding = holdingOf(asset);
    const balance = stock.balances.get(holding);
    if (balance === undefined) continue;
    const coins = (units: bigint) => Number(formatUnits(units, asset.decimals));
    metrics.balance.set({ asset: asset.name }, coins(balance.units));
    const promised = takenOf(holding, balance, commitments);
    metrics.promised.set({ asset: asset.name }, coins(promised));
    const held = promises?.heldOf(asset) ?? null;
    if (held !== null) metrics.held.set({ asset: asset.name }, coins(held));
  }
  for (const pair of config.pairs) {
    const tilt = promises?.tiltOf(pair) ?? null;
    if (tilt === null) metrics.tilt.remove({ pair: pair.name });
    else metrics.tilt.set({ pair: pair.name }, Number(tilt));
  }
  for (const [chain, swaps] of stock.payable) metrics.swapsPayable.set({ chain }, swaps);
  for (const [source, price] of prices.all()) {
    if (price === null) metrics.price.remove({ source });
    else metrics.price.set({ source }, approximate(price));
  }
  for (const { metrics: own, promises, mode } of markets.values()) {
    own.openSwaps.set(promises.open.size);
    own.mode.set(['open', 'paused', 'killed', 'clock'].indexOf(mode()));
  }
}
