// One market of a maker: its session, what is promised on it, and trading on it until the maker
// stops. Chains, balances, prices, journal and limits are those of all markets.

import type { Millis } from '@parley/core/nominal.ts';
import { type ParleyClient, parleyClient } from '@parley/sdk/client.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import type { BookChange, FeedEvent, MakerFeed } from '@parley/sdk/feed.ts';
import type { Store } from '@parley/sdk/stores/store.ts';
import { createAccepting } from './accepting.ts';
import type { OwnChains } from './chains.ts';
import type { Clock } from './clock.ts';
import type { Config, MarketConfig } from './config/config.ts';
import type { Journal } from './journal.ts';
import { createLevels } from './levels.ts';
import { type Log, logWith } from './log.ts';
import { openFeed } from './market-feed.ts';
import { type MarketMetrics, type Metrics, metricsAt } from './metrics.ts';
import type { Prices } from './prices/sources.ts';
import { createPromises, type Promises } from './promises.ts';
import { bookMs, createQuoting } from './quoting.ts';
import { repeating } from './repeating.ts';
import type { Mode } from './rules/decide.ts';
import type { Commitment } from './rules/inventory.ts';
import { keyFor, openSession, type Session, signedIn } from './session.ts';
import type { Settling } from './settling.ts';
import type { Stock } from './stock.ts';
import { createTurns } from './turns.ts';
import type { Undo } from './undo.ts';

const renewMs = 3_600_000;
const adoptMs = 300_000;

/** All markets share these. */
export type Shared = {
  readonly config: Config;
  readonly log: Log;
  readonly now: () => Millis;
  readonly store: Store;
  readonly journal: Journal;
  readonly chains: OwnChains;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  readonly stock: Stock;
  readonly prices: Prices;
  readonly clock: Clock;
  /** By the switches of the store. */
  readonly switched: () => Mode;
  readonly withdrawing: ReadonlyMap<string, Commitment>;
};

/** A market with open swaps, or one that is traded on. */
export type MarketDesk = {
  readonly url: string;
  readonly name: string;
  readonly client: ParleyClient;
  readonly promises: Promises;
  readonly mode: () => Mode;
  readonly log: Log;
  readonly metrics: MarketMetrics;
  /** null: the settings do not name it any more, and its swaps are settled. */
  readonly trading: { readonly market: MarketConfig; readonly session: Session } | null;
};

/** By address: those of the settings first, and those that open deals were agreed on. */
export async function openMarkets(shared: Shared): Promise<ReadonlyMap<string, MarketDesk>> {
  const { config, journal, chains, log, clock } = shared;
  const desks = new Map<string, MarketDesk>();
  for (const market of config.markets) {
    const { url, name } = market;
    const own = logWith(log, { market: name });
    const time = clock.at(name);
    const session = await openSession(market, config.store, chains, own, time.heard);
    const mode = (): Mode => (time.isWrong() ? 'clock' : shared.switched());
    const { client } = session;
    desks.set(
      url,
      deskOf(shared, desks, { url, name, client, mode, trading: { market, session } }),
    );
  }
  for (const { market: url, end, remainsFrom } of journal.deals.values()) {
    if (desks.has(url) || (end !== null && remainsFrom === undefined)) continue;
    const key = await keyFor(config.store, url);
    const client = parleyClient({ baseUrl: url, ...(key === null ? {} : { key }) });
    const name = new URL(url).host;
    const mode = (): Mode => 'killed';
    desks.set(url, deskOf(shared, desks, { url, name, client, mode, trading: null }));
    log.warn('market_removed', { market: name, why: 'its open swaps are settled, and no more' });
  }
  return desks;
}

function deskOf(
  { config, stock, prices, journal, now, log, metrics, withdrawing }: Shared,
  desks: ReadonlyMap<string, MarketDesk>,
  own: Pick<MarketDesk, 'url' | 'name' | 'client' | 'mode' | 'trading'>,
): MarketDesk {
  const { assets, limits } = config;
  const others = () =>
    [...desks.values()].filter(({ url }) => url !== own.url).map(({ promises }) => promises);
  const known = { stock, prices, now, deals: journal.deals, mode: own.mode };
  return {
    ...own,
    promises: createPromises({ ...known, assets, limits, others, withdrawals: withdrawing }),
    log: logWith(log, { market: own.name }),
    metrics: metricsAt(metrics, own.name),
  };
}

type TradingDesk = Shared & {
  readonly settling: Settling;
  /** Told of a function that looks at the book again, for each new price. */
  readonly looks: Set<() => void>;
  readonly undo: Undo;
};

/** Signs in, however long that takes, and trades. */
export async function tradeOn(
  shared: TradingDesk,
  desk: MarketDesk,
  { market, session }: NonNullable<MarketDesk['trading']>,
): Promise<never> {
  const { config, now, undo, signal, settling, prices, looks, chains, store, journal } = shared;
  const { log, metrics, promises, mode } = desk;
  const { limits } = config;
  const every = repeating({ log, failures: metrics.failures, signal });
  const isAlone = config.markets.length === 1;
  const { userId, assets } = await signedIn(session, {
    assets: config.assets,
    log,
    signal,
    // Several markets need not list the same assets.
    needsAll: isAlone,
    // Time does not mend it, nothing is to be settled, and there is no other market to trade on.
    ends: (error) => !isUnreachable(error) && isAlone && promises.open.size === 0,
  });
  const pairs = config.pairs.filter(
    ({ base, quote }) => assets.has(base.name) && assets.has(quote.name),
  );
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
    isHedged: config.hedge !== null,
  });
  const link: { feed: MakerFeed | null } = { feed: null };
  const offering = {
    ...common,
    client: session.once,
    feed: () => link.feed,
    idOf: (name: string) => assets.get(name)?.id,
  };
  const quoting = createQuoting(offering);
  const levels = createLevels(offering);
  const open = () => {
    link.feed?.close();
    const heard = (event: FeedEvent) => {
      const { threadId, rfqId } = event;
      if (event.type !== 'thread.closed') {
        accepting.lookAt(threadId);
      } else if (event.reason === 'disconnected') quoting.disconnected(rfqId);
    };
    const changed = (change: BookChange) => quoting.changed(change);
    const own = { market, session, metrics, log, signal, cancelSeconds: limits.cancelSeconds };
    link.feed = openFeed(own, { changed, heard, again: open });
  };
  open();
  undo.push(() => link.feed?.close());
  // The maker would accept none of them any more.
  undo.push(() => quoting.withdraw());
  undo.push(() => levels.withdraw());
  looks.add(() => quoting.look());
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
  log.info('started', { url: market.url, account: userId, pairs: pairs.length });
  return new Promise<never>(() => {});
}

const isUnreachable = (error: unknown) => error instanceof ParleyApiError && error.unreachable;
