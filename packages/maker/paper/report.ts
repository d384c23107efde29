// The result of paper trading, for people, as JSON, and its won trades as CSV. Amounts are whole
// coins, exact.

import { formatUnits } from '@parley/core/amounts.ts';
import { factsOf } from '@parley/core/families.ts';
import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import { csvOf as rowsToCsv } from '@parley/trader/csv.ts';
import { tableOf } from '@parley/trader/show.ts';
import type { Config } from '../config/config.ts';
import { holdingOf } from '../rules/inventory.ts';
import { approximate } from '../rules/price.ts';
import { type Books, type Fill, profitNow, profitOf } from './book.ts';
import type { PaperDesk } from './desk.ts';

export type Report = ReturnType<typeof reportOf>;

type Span = { readonly fromMs: Millis; readonly untilMs: Millis };

export function reportOf(config: Config, desk: PaperDesk, books: Books, span: Span) {
  const committed = desk.commitments();
  const pairs = config.pairs.flatMap((pair) => {
    const sum = books.sums.get(pair.name);
    if (sum === undefined) return [];
    const price = desk.prices.of(pair.price);
    const base = (units: BaseUnits) => formatUnits(units, pair.base.decimals);
    const quote = (units: BaseUnits) => formatUnits(units, pair.quote.decimals);
    const { won, bought, sold, paid, got, profit } = sum;
    return {
      pair: pair.name,
      won,
      bought: base(bought),
      sold: base(sold),
      paid: quote(paid),
      got: quote(got),
      /** In quote, by the price at each agreement. */
      profit: quote(profit),
      /** In quote, by the last price; null without one. */
      profitNow: price === null ? null : quote(profitNow(sum, price, pair)),
    };
  });
  const isTraded = (name: string) =>
    config.pairs.some(({ base, quote }) => base.name === name || quote.name === name);
  const traded = config.assets.filter(({ name }) => isTraded(name));
  const assets = traded.map((asset) => {
    const { name, decimals } = asset;
    const start = books.start.get(name);
    const held = books.held.get(name);
    const promised = committed.reduce(
      (sum, { before }) => sum + (before.get(holdingOf(asset)) ?? 0n),
      0n,
    );
    return {
      asset: name,
      start: start === undefined ? null : formatUnits(start, decimals),
      held: held === undefined ? null : formatUnits(held, decimals),
      change: start === undefined ? null : formatUnits((held ?? 0n) - start, decimals),
      promised: formatUnits(promised, decimals),
    };
  });
  const fees = config.chains.flatMap(({ chain, family }) => {
    const units = books.fees.get(chain);
    if (units === undefined) return [];
    return { chain, most: formatUnits(units, factsOf[family].coin.decimals) };
  });
  const rfqs = { ...desk.counts, pending: desk.pendings() };
  return { from: isoOf(span.fromMs), until: isoOf(span.untilMs), rfqs, pairs, assets, fees };
}

const isoOf = (ms: Millis) => new Date(ms).toISOString();

export function textOf({ from, until, rfqs, pairs, assets, fees }: Report): string {
  const { seen, quotes, agreed, won, lost, declined, unknown, pending } = rfqs;
  const lines = [
    `${from} to ${until}`,
    `RFQs: ${seen} seen, ${quotes} prices quoted, ${agreed} agreed elsewhere while a quote stood:`,
    `  ${won} won, ${lost} lost, ${declined} not accepted by then, ${unknown} unknown, ${pending} open`,
    '',
    wonOf(pairs),
    '',
    tableOf(
      ['asset', 'start', 'held', 'change', 'promised'],
      assets.map(({ asset, start, held, change, promised }) => [
        asset,
        start ?? 'no price',
        held ?? 'no price',
        change ?? '',
        promised,
      ]),
    ),
    '',
    'Profits are before network fees.',
    ...fees.map(({ chain, most }) => `Network fees on ${chain}: ${most} at most`),
  ];
  return lines.join('\n');
}

function wonOf(pairs: Report['pairs']): string {
  if (pairs.length === 0) return 'no trade was won';
  const rows = pairs.map(({ pair, won, bought, sold, profit, profitNow: now }) => {
    const [, quote = ''] = pair.split('/');
    const coins = (text: string | null) => (text === null ? 'no price' : `${text} ${quote}`);
    return [pair, String(won), bought, sold, coins(profit), coins(now)];
  });
  const profits = ['profit at agreement', 'profit at the last price'];
  return tableOf(['pair', 'won', 'bought', 'sold', ...profits], rows);
}

const columns = [
  'at',
  'market',
  'rfq',
  'pair',
  'gives',
  'base',
  'quote',
  'price at agreement',
  'profit in quote at agreement',
];

export function csvOf(fills: readonly Fill[], { pairs }: Pick<Config, 'pairs'>): string {
  const rows = fills.map((fill) => {
    const { atMs, market, rfqId, gives, price } = fill;
    const pair = pairs.find(({ name }) => name === fill.pair);
    const amount = (side: 'base' | 'quote') =>
      pair === undefined ? '' : formatUnits(fill[side], pair[side].decimals);
    const profit =
      pair === undefined ? '' : formatUnits(profitOf(fill, price, pair), pair.quote.decimals);
    const amounts = [amount('base'), amount('quote'), String(approximate(price)), profit];
    return [isoOf(atMs), market, rfqId, fill.pair, gives, ...amounts];
  });
  return rowsToCsv([columns, ...rows]);
}
