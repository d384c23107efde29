// Makers' levels for an amount, and those that are called a price.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { farBps } from '../../market/prices.ts';
import { type Asked, estimateBy, makersFor, otherAmount, sizesOf } from './makers.ts';
import { levelOf } from './testing.ts';

const median = { baseAmount: 10n, quoteAmount: 100n };
const asked = (more: Partial<Asked> = {}): Asked => ({
  amount: null,
  median,
  minSettled: 0,
  nowMs: Date.parse('2029-01-01T00:00:00Z'),
  ...more,
});
const names = (found: ReturnType<typeof makersFor>) =>
  found.map(({ level }) => `${level.makerId} ${level.quoteAmount}`);

test('each maker has one row, its best for the amount, those that have settled swaps first', () => {
  const levels = [
    levelOf({ maker: 'new', price: 10_200 }),
    levelOf({ maker: 'known', price: 10_100, settled: 3, size: 1_000, least: 500 }),
    levelOf({ maker: 'known', price: 20_000, settled: 3, size: 2_000 }),
    levelOf({ maker: 'new', price: 9_900 }),
  ];
  assert.deepEqual(names(makersFor(levels, asked())), ['known 10100', 'new 10200']);
  assert.deepEqual(names(makersFor(levels, asked({ amount: 499n }))), ['known 20000', 'new 10200']);
  assert.deepEqual(names(makersFor(levels, asked({ amount: 500n }))), ['known 10100', 'new 10200']);
  assert.deepEqual(names(makersFor(levels, asked({ amount: 1_001n }))), ['known 20000']);
  assert.deepEqual(names(makersFor(levels, asked({ amount: 2_001n }))), []);
});

test('a level that has ended, is of nothing, or is of a maker with too few swaps, is none', () => {
  const levels = [
    levelOf({ maker: 'ended', price: 10_100, settled: 9, expiresAt: '2029-01-01T00:00:00.000Z' }),
    levelOf({ maker: 'nothing', price: 0, settled: 9 }),
    levelOf({ maker: 'few', price: 10_100, settled: 4 }),
    levelOf({ maker: 'enough', price: 10_000, settled: 5 }),
  ];
  assert.deepEqual(names(makersFor(levels, asked({ minSettled: 5 }))), ['enough 10000']);
});

/** Recent swaps gave 10 000 for 1 000 base units: this is so many basis points better. */
const better = (maker: string, bps: number, more: object = {}) =>
  levelOf({ maker, price: 10_000 + bps, ...more });

test('a level far from recent swaps is not called a price, and is marked', () => {
  const levels = [better('liar', 2_000, { settled: 9 }), better('honest', farBps - 1)];
  const found = makersFor(levels, asked({ amount: 1_000n }));
  assert.deepEqual(names(found), ['honest 10299', 'liar 12000']);
  const estimate = estimateBy(found, median);
  assert.deepEqual(
    [estimate.by, estimate.count, estimate.price?.quoteAmount, estimate.bps, estimate.doubted],
    ['makers', 1, 10_299n, farBps - 1, { count: 1, bps: 2_000 }],
  );
  // At the limit it is far, and recent swaps are the price.
  const far = estimateBy(makersFor([better('far', farBps)], asked()), median);
  assert.deepEqual([far.by, far.price, far.doubted], ['recent', median, { count: 1, bps: farBps }]);
});

test('where makers give far less than recent swaps brought, the lower number is shown', () => {
  const levels = [better('liar', 2_000), better('low', -500), better('lower', -600)];
  const { by, count, price, bps } = estimateBy(makersFor(levels, asked()), median);
  assert.deepEqual([by, count, price?.quoteAmount, bps], ['makers', 0, 9_500n, -500]);
});

test('for one who gives the quote asset, less is better', () => {
  const direction = 'buy_base';
  const levels = [better('liar', -2_000, { direction }), better('fair', 100, { direction })];
  const found = makersFor(levels, asked({ amount: 1_000n }));
  assert.deepEqual(names(found), ['fair 10100', 'liar 8000']);
  const { bps, doubted } = estimateBy(found, median);
  assert.deepEqual([bps, doubted], [-100, { count: 1, bps: 2_000 }]);
});

test('without recent swaps nothing is far, and without makers recent swaps are the estimate', () => {
  const found = makersFor([better('any', 90_000)], asked({ median: null }));
  assert.deepEqual([found[0]?.bps, estimateBy(found, null).by], [null, 'makers']);
  assert.deepEqual(estimateBy([], median).by, 'recent');
  assert.deepEqual(estimateBy([], null), {
    price: null,
    by: 'none',
    count: 0,
    bps: null,
    doubted: null,
    isUnproven: false,
  });
});

test('a number that neither recent swaps nor a record stand behind is marked', () => {
  const unproven = (settled: number, known: typeof median | null) => {
    const of = asked({ median: known });
    return estimateBy(makersFor([better('any', 0, { settled })], of), known).isUnproven;
  };
  assert.deepEqual(
    [unproven(0, null), unproven(1, null), unproven(0, median)],
    [true, false, false],
  );
});

test('sizes are those of makers near recent swaps', () => {
  const levels = [
    better('liar', 2_000, { size: 900_000, price: 10_800_000 }),
    levelOf({ maker: 'one', price: 10_000, size: 1_000, least: 20 }),
    levelOf({ maker: 'other', price: 50_000, size: 5_000, least: 30 }),
  ];
  assert.deepEqual(sizesOf(levels, asked()), { least: 20n, most: 5_000n });
  assert.equal(sizesOf([better('liar', 2_000)], asked()), null);
});

test('the fee is taken out of what is got, which is rounded down, and what is given is rounded up', () => {
  const third = { baseAmount: 3n, quoteAmount: 100n };
  for (const [amount, isGot, fee, expected] of [
    [1n, true, 0n, 33n],
    [1n, true, 3n, 30n],
    [1n, true, 34n, 0n],
    [1n, false, 3n, 34n],
    [2n ** 256n - 1n, true, 1n, ((2n ** 256n - 1n) * 100n) / 3n - 1n],
  ] as const) {
    assert.equal(otherAmount(third, amount, { isGot, fee }), expected, `${amount} ${isGot}`);
  }
});
