// A running maker shows itself in a file of its store, written anew every second, without a key or
// secret. `watch` and `withdraw` read it; it says nothing that money rests on.

import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatUnits } from '@parley/core/amounts.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { jsonOf } from '@parley/trader/io.ts';
import { readUpTo } from '@parley/trader/places.ts';
import type { Config } from '../config/config.ts';
import type { Prices } from '../prices/sources.ts';
import type { Promises } from '../promises.ts';
import type { Mode } from '../rules/decide.ts';
import { holdingOf, takenOf } from '../rules/inventory.ts';
import { approximate } from '../rules/price.ts';
import type { Stock } from '../stock.ts';

export type View = {
  /** By the machine's clock. */
  readonly atMs: Millis;
  readonly startedAtMs: Millis;
  readonly market: string;
  readonly mode: Mode;
  /** Whether the book is whole. */
  readonly isLive: boolean;
  readonly pairs: readonly PairView[];
  readonly quotes: readonly QuoteView[];
  readonly assets: readonly AssetView[];
  readonly chains: readonly { readonly chain: string; readonly swapsPayable: number }[];
  /** Lines of the log, the newest last. */
  readonly events: readonly string[];
};

/** Prices are whole coins of quote for one of base, for the smallest size; null: there is none. */
export type PairView = {
  readonly name: string;
  readonly price: number | null;
  /** The maker pays `bid` for base, and asks `ask` for it. */
  readonly bid: number | null;
  readonly ask: number | null;
};

/** Amounts are whole coins. */
export type QuoteView = {
  readonly pair: string;
  readonly gives: 'base' | 'quote';
  readonly base: string;
  readonly quote: string;
  readonly untilMs: Millis;
};

/** Base units as texts; null: no balance was read. */
export type AssetView = {
  readonly name: string;
  readonly chain: string;
  readonly decimals: number;
  readonly balance: string | null;
  readonly promised: string;
  readonly reserve: string;
};

export type Viewed = {
  readonly config: Pick<Config, 'assets' | 'pairs'>;
  readonly stock: Pick<Stock, 'balances' | 'payable'>;
  /** The first one's promises know those of all. */
  readonly markets: readonly {
    readonly url: string;
    readonly mode: () => Mode;
    readonly promises: Pick<Promises, 'quotes' | 'commitments' | 'termsFor'>;
  }[];
  readonly prices: Prices;
  readonly isLive: boolean;
  readonly events: () => readonly string[];
  readonly startedAtMs: Millis;
};

const name = 'view.json';
/** Quotes that are shown. */
const mostQuotes = 100;

export function viewOf(viewed: Viewed): View {
  const { config, stock, markets, prices, isLive, events, startedAtMs } = viewed;
  const [first] = markets;
  const commitments = first?.promises.commitments() ?? [];
  const quotes = markets.flatMap(({ promises }) => [...promises.quotes.values()]);
  const assets = config.assets.map((asset): AssetView => {
    const balance = stock.balances.get(holdingOf(asset));
    const taken = balance === undefined ? 0n : takenOf(holdingOf(asset), balance, commitments);
    return {
      name: asset.name,
      chain: asset.chain,
      decimals: asset.decimals,
      balance: balance === undefined ? null : String(balance.units),
      promised: String(taken),
      reserve: String(asset.reserve),
    };
  });
  return {
    atMs: Date.now(),
    startedAtMs,
    market: markets.map(({ url }) => url).join(', '),
    mode: first?.mode() ?? 'killed',
    isLive,
    pairs: config.pairs.map((pair) => pairView(pair, prices, first?.promises)),
    quotes: quotes.slice(0, mostQuotes).map(({ match, terms, untilMs }) => {
      const { pair } = match;
      const shown = (which: 'base' | 'quote') => formatUnits(terms[which], pair[which].decimals);
      const amounts = { base: shown('base'), quote: shown('quote') };
      return { pair: pair.name, gives: terms.gives, ...amounts, untilMs };
    }),
    assets,
    chains: [...stock.payable].map(([chain, swapsPayable]) => ({ chain, swapsPayable })),
    events: events(),
  };
}

function pairView(
  pair: Config['pairs'][number],
  prices: Prices,
  promises: Pick<Promises, 'termsFor'> | undefined,
): PairView {
  const price = prices.of(pair.price);
  const side = (direction: 'sell_base' | 'buy_base') => {
    const terms = promises?.termsFor({
      pair,
      ids: { base: '', quote: '' },
      asked: { direction, flipped: false, amount: pair.least },
    });
    if (terms === undefined || 'code' in terms || !pair.gives.includes(terms.gives)) return null;
    const over = terms.quote * 10n ** BigInt(pair.base.decimals);
    return approximate({ over, under: terms.base * 10n ** BigInt(pair.quote.decimals) });
  };
  const shown = price === null ? null : approximate(price);
  return { name: pair.name, price: shown, bid: side('sell_base'), ask: side('buy_base') };
}

/** A reader has the old one or the new. It is not synced: the next second writes another. */
export async function writeView(dir: string, view: View): Promise<void> {
  const beside = join(dir, `.${name}`);
  await writeFile(beside, jsonOf(view), { mode: 0o600 });
  await rename(beside, join(dir, name));
}

/** null: no maker has run here, or an older version. */
export async function readView(dir: string): Promise<View | null> {
  const text = await readUpTo(join(dir, name));
  try {
    return text === null ? null : (JSON.parse(text) as View);
  } catch {
    return null;
  }
}

/** The maker has written it a moment ago. */
export const isOfNow = ({ atMs }: View, nowMs: Millis) => nowMs - atMs < 10_000;
