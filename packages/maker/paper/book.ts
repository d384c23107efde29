// The books of paper trading: the amount held of each asset, and the profit of each won trade.
// Exact: amounts are base units, and a profit is rounded down.

import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import type { AssetConfig, Config, PairConfig } from '../config/config.ts';
import { type Price, profitAt, type Terms } from '../rules/price.ts';

export type Fill = {
  readonly atMs: Millis;
  readonly market: string;
  readonly rfqId: string;
  readonly pair: string;
  readonly gives: Terms['gives'];
  readonly base: BaseUnits;
  readonly quote: BaseUnits;
  /** The pair's price when it was agreed. */
  readonly price: Price;
  /** The most that its funding and its claim may have cost, by chain. */
  readonly fees: Readonly<Record<string, BaseUnits>>;
};

type PairUnits = Readonly<Record<'base' | 'quote', { readonly decimals: number }>>;

/** The gain at that price, in base units of the pair's quote, rounded down. */
export function profitOf(terms: Terms, price: Price, { base, quote }: PairUnits): BaseUnits {
  return profitAt(terms, price, { base: base.decimals, quote: quote.decimals });
}

export type PairSum = {
  won: number;
  bought: BaseUnits;
  sold: BaseUnits;
  /** Base units of quote, for all that was bought and sold. */
  paid: BaseUnits;
  got: BaseUnits;
  /** By the price of each agreement, in quote. */
  profit: BaseUnits;
};

const emptySum = (): PairSum => ({ won: 0, bought: 0n, sold: 0n, paid: 0n, got: 0n, profit: 0n });

export type Books = ReturnType<typeof createBooks>;

export function createBooks(config: Pick<Config, 'assets' | 'pairs'>) {
  /** By name; an asset without an entry has no beginning yet. */
  const start = new Map<string, BaseUnits>();
  const held = new Map<string, BaseUnits>();
  const sums = new Map<string, PairSum>();
  const fees = new Map<string, BaseUnits>();
  const pairs = new Map(config.pairs.map((each) => [each.name, each]));
  const move = (name: string, by: BaseUnits) => void held.set(name, (held.get(name) ?? 0n) + by);
  return {
    start: start as ReadonlyMap<string, BaseUnits>,
    held: held as ReadonlyMap<string, BaseUnits>,
    sums: sums as ReadonlyMap<string, PairSum>,
    fees: fees as ReadonlyMap<string, BaseUnits>,
    begin: (name: string, units: BaseUnits): void => {
      if (start.has(name)) return;
      start.set(name, units);
      move(name, units);
    },
    /** A pair that has left the settings counts in what is held, and in no sum. */
    add: (fill: Fill): void => {
      const [base = '', quote = ''] = fill.pair.split('/');
      const sign = fill.gives === 'base' ? -1n : 1n;
      move(base, sign * fill.base);
      move(quote, -sign * fill.quote);
      for (const [chain, units] of Object.entries(fill.fees)) {
        fees.set(chain, (fees.get(chain) ?? 0n) + units);
      }
      const pair = pairs.get(fill.pair);
      if (pair === undefined) return;
      const sum = sums.get(fill.pair) ?? emptySum();
      sum.won += 1;
      sum.profit += profitOf(fill, fill.price, pair);
      if (fill.gives === 'base') {
        sum.sold += fill.base;
        sum.got += fill.quote;
      } else {
        sum.bought += fill.base;
        sum.paid += fill.quote;
      }
      sums.set(fill.pair, sum);
    },
  };
}

/** The profit of a pair's won trades by a later price, in its quote. */
export function profitNow(sum: PairSum, price: Price, pair: PairUnits): BaseUnits {
  const net = sum.bought - sum.sold;
  const money = sum.got - sum.paid;
  return net < 0n
    ? profitOf({ gives: 'base', base: -net, quote: money }, price, pair)
    : profitOf({ gives: 'quote', base: net, quote: -money }, price, pair);
}

/**
 * With how much of an asset paper begins where the settings do not say: ten of the largest swaps of
 * each of its pairs. null: a price of them is missing.
 */
export function usualStart(
  asset: AssetConfig,
  pairs: readonly PairConfig[],
  priceOf: (pair: PairConfig) => Price | null,
): BaseUnits | null {
  let most = 0n;
  for (const pair of pairs) {
    if (pair.base.name === asset.name && pair.most > most) most = pair.most;
    if (pair.quote.name !== asset.name) continue;
    const price = priceOf(pair);
    if (price === null) return null;
    const value = profitOf({ gives: 'quote', base: pair.most, quote: 0n }, price, pair);
    if (value > most) most = value;
  }
  return most * swapsToBegin;
}

const swapsToBegin = 10n;
