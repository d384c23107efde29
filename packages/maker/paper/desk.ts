// Paper trading on observations, of all markets of the settings. With `books` it keeps an inventory
// of paper by the rule of fills.ts; without, it only says what a maker would do. The clock is an
// argument, so that a recorded day runs in seconds.

import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import type { Config } from '../config/config.ts';
import type { Deal } from '../journal.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type Hearing, openPrices, saidBy } from '../prices/sources.ts';
import type { Mode } from '../rules/decide.ts';
import { type Balance, type Costs, type Holding, holdingOf } from '../rules/inventory.ts';
import type { Stock } from '../stock.ts';
import { type Books, type Fill, usualStart } from './book.ts';
import type { CostsLine, Observed } from './lines.ts';
import { type Counts, createPaperMarket, type PaperMarket } from './market.ts';

/** A coin that pays for gas and is no asset of the settings is always there. */
const plenty: BaseUnits = 10n ** 40n;

export type PaperInput = {
  readonly config: Config;
  readonly now: () => Millis;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  readonly mode: () => Mode;
  /** Books of paper. With the stock of a maker's own wallets no trade is booked. */
  readonly held: Books | Stock;
  readonly filled?: (fill: Fill) => void;
};

export type PaperDesk = ReturnType<typeof createPaperDesk>;

export function createPaperDesk({ held, filled = () => {}, ...input }: PaperInput) {
  const { config, now, log } = input;
  const counts: Counts = {
    seen: 0,
    quotes: 0,
    agreed: 0,
    won: 0,
    lost: 0,
    declined: 0,
    unknown: 0,
  };
  const sources = new Map<string, Hearing>();
  const told = { now, said: saidBy(log), changed: () => {} };
  const prices = openPrices(config.prices, told, (each, hearing) => {
    sources.set(each.name, hearing);
  });
  const costs = new Map<Holding, Costs>();
  const books = 'add' in held ? held : null;
  const booked = (fill: Fill) => {
    books?.add(fill);
    filled(fill);
  };
  const shared = {
    ...input,
    prices,
    counts,
    stock: 'add' in held ? paperStock(config, { books: held, costs, now }) : held,
    deals: new Map<string, Deal>(),
    filled: books === null ? null : booked,
  };
  const markets = new Map<string, PaperMarket>();
  const marketOf = (name: string): PaperMarket => {
    const found = markets.get(name);
    if (found !== undefined) return found;
    const others = () =>
      [...markets].flatMap(([own, { promises }]) => (own === name ? [] : [promises]));
    const made = createPaperMarket(shared, name, others);
    markets.set(name, made);
    return made;
  };
  const begin = () => {
    if (books === null || books.start.size === config.assets.length) return;
    for (const asset of config.assets) {
      const usual = () => usualStart(asset, config.pairs, ({ price }) => prices.of(price));
      const units = books.start.has(asset.name) ? null : (asset.paper ?? usual());
      if (units !== null) books.begin(asset.name, units);
    }
  };
  const all = () => [...markets.values()];
  return {
    counts: counts as Readonly<Counts>,
    prices,
    pendings: () => all().reduce((sum, { pendings }) => sum + pendings(), 0),
    commitments: () => all().flatMap(({ promises }) => promises.own()),
    /** Whether a quote is on its way: it has arrived once the process has nothing else to do. */
    isBusy: () => all().some(({ isBusy }) => isBusy()),
    /** Whether a look could change anything. */
    isWatching: () => all().some(({ isWatching }) => isWatching()),
    take: (line: Observed): void => {
      begin();
      if (line.is === 'price') hear(sources.get(line.source), line.said);
      else if (line.is === 'costs') costs.set(line.holding, costsIn(line.costs));
      else takeAt(marketOf(line.market), line);
    },
    /** As often as a live maker looks at its book. */
    look: (): void => {
      begin();
      for (const market of all()) market.look();
    },
  };
}

function hear(source: Hearing | undefined, said: string | number): void {
  try {
    source?.take(said);
  } catch (error) {
    source?.failed(error);
  }
}

type OfMarket = Exclude<Observed, { readonly is: 'price' | 'costs' }>;

function takeAt(market: PaperMarket, line: OfMarket): void {
  switch (line.is) {
    case 'market':
      market.named(line.assets);
      break;
    case 'rfq':
      market.came(line.rfq);
      break;
    case 'gone':
      market.left(line.rfqId, line.why);
      break;
    case 'feed':
      market.connected(line.isLive);
      break;
    case 'agreement':
      market.shown(line);
  }
}

function costsIn({ fund, claim, refund, deposit, settlesFromAmount }: CostsLine): Costs {
  return {
    fund: BigInt(fund),
    claim: BigInt(claim),
    refund: BigInt(refund),
    deposit: BigInt(deposit),
    settlesFromAmount,
  };
}

type PaperStock = {
  readonly books: Books;
  readonly costs: ReadonlyMap<Holding, Costs>;
  readonly now: () => Millis;
};

/** Balances are the books', and always new. */
function paperStock({ assets }: Config, { books, costs, now }: PaperStock): Stock {
  const named = new Map(assets.map((each) => [holdingOf(each), each.name]));
  const get = (holding: Holding): Balance | undefined => {
    const name = named.get(holding);
    const units = name === undefined ? plenty : books.held.get(name);
    return units === undefined ? undefined : { units, readAtMs: now() };
  };
  return {
    balances: { get } as ReadonlyMap<Holding, Balance>,
    reserves: new Map(assets.map((each) => [holdingOf(each), each.reserve])),
    payable: new Map(),
    costsOf: (asset) => costs.get(holdingOf(asset)) ?? null,
    read: async () => {},
  };
}
