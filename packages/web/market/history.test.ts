// The history of a pair: first, last and extremes, of prices alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawn, seenOf, trendOf } from './history.ts';

const amounts = (quoteAmount: string, baseAmount = '1000') => ({ baseAmount, quoteAmount });
const point = (hour: number, quoteAmount: string, low = quoteAmount, high = quoteAmount) => ({
  at: `2026-03-14T0${hour}:00:00.000Z`,
  ...amounts(quoteAmount),
  low: amounts(low),
  high: amounts(high),
  count: 3,
});
const price = (quoteAmount: bigint) => ({ baseAmount: 1_000n, quoteAmount });

test('a trend goes from the oldest to the newest, whatever their order, with single swaps as extremes', () => {
  const points = [point(3, '64000', '63000', '65000'), point(1, '62500'), point(2, '61000', '0')];
  assert.deepEqual(trendOf(points), {
    first: price(62_500n),
    last: price(64_000n),
    lowest: price(61_000n),
    highest: price(65_000n),
    changeBps: 240,
  });
  assert.equal(trendOf([]), null);
  assert.equal(trendOf([point(1, '0')]), null);
});

test('one swap that somebody made with itself is neither end of a trend', () => {
  const alone = (hour: number, quoteAmount: string) => ({ ...point(hour, quoteAmount), count: 1 });
  const found = trendOf([
    point(1, '62500'),
    alone(2, '62600'),
    alone(3, '62400'),
    alone(4, '99000'),
  ]);
  assert.deepEqual([found?.first, found?.last], [price(62_500n), price(62_600n)]);
  assert.deepEqual(trendOf([alone(1, '99000')])?.last, price(99_000n));
});

test('a chart is drawn in whole coins', () => {
  const [seen] = seenOf([point(1, '65120000')]);
  assert.equal(drawn(seen!.price, { decimals: 5 }, { decimals: 6 }), 6_512);
  assert.equal(seen!.at, Date.UTC(2026, 2, 14, 1) / 1_000);
});
