// The history of a pair as a chart displays it. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { PairHistory } from '@parley/sdk/types.ts';
import { secondsOf } from '../texts/people.ts';
import { type Price, priceIn } from './prices.ts';

export type HistoryPoint = PairHistory['points'][number];

type Decimals = { readonly decimals: number };

/** A price as a number of whole coins: to draw with, and for nothing else. */
export function drawn({ baseAmount, quoteAmount }: Price, base: Decimals, quote: Decimals): number {
  return Number(quoteAmount) / 10 ** quote.decimals / (Number(baseAmount) / 10 ** base.decimals);
}

export type Trend = {
  readonly first: Price;
  readonly last: Price;
  readonly lowest: Price;
  readonly highest: Price;
  /** From the first to the last, in basis points. */
  readonly changeBps: number;
};

type Seen = { readonly at: number; readonly price: Price; readonly count: number };

/** Points that hold no price are left out: the market's words are not trusted. */
export function seenOf(points: readonly HistoryPoint[]): Seen[] {
  return points
    .flatMap((each) => {
      const price = priceIn(each);
      return price === null ? [] : [{ at: secondsOf(each.at), price, count: each.count }];
    })
    .sort((one, other) => one.at - other.at);
}

/** One swap alone costs somebody who trades with itself the fees: it is no price of a pair. */
const leastSwaps = 3;

/** The middle one of as many points as `leastSwaps` need; undefined of none. */
function endOf(seen: readonly Seen[]): Price | undefined {
  const near: Price[] = [];
  let count = 0;
  for (const each of seen) {
    if (count >= leastSwaps) break;
    near.push(each.price);
    count += each.count;
  }
  return near.sort(byPrice)[Math.floor((near.length - 1) / 2)];
}

/** null: no swap. Both ends are of three swaps or more, the extremes of single ones. */
export function trendOf(points: readonly HistoryPoint[]): Trend | null {
  const seen = seenOf(points);
  const prices = seen.map(({ price }) => price);
  const first = endOf(seen);
  const last = endOf(seen.toReversed());
  if (first === undefined || last === undefined) return null;
  const extremes = points.flatMap(({ low, high }) => [priceIn(low), priceIn(high)]);
  const sorted = [...prices, ...extremes.filter((each) => each !== null)].sort(byPrice);
  return {
    first,
    last,
    lowest: sorted[0] ?? first,
    highest: sorted.at(-1) ?? last,
    changeBps: changeOf(first, last),
  };
}

/** The cheaper base first. */
export function byPrice(one: Price, other: Price): number {
  const difference = one.quoteAmount * other.baseAmount - other.quoteAmount * one.baseAmount;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Beyond that a number says no more: a hundredfold. */
const mostBps = 1_000_000n;

function changeOf(first: Price, last: Price): number {
  const before: BaseUnits = first.quoteAmount * last.baseAmount;
  const after: BaseUnits = last.quoteAmount * first.baseAmount;
  const bps = ((after - before) * 10_000n) / before;
  return Number(bps > mostBps ? mostBps : bps);
}

/** The same pair seen from the other asset. */
export function turnedPrice<P extends { baseAmount: unknown; quoteAmount: unknown }>(price: P): P {
  return { ...price, baseAmount: price.quoteAmount, quoteAmount: price.baseAmount };
}
