// Prices and quotes: tables of what is quoted, and over drawn terms that a quote never gives more
// than its spread allows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { distanceBps, marginBps, parsePrice, ratio, termsAt } from './price.ts';

const btcUsd = { base: { decimals: 8 }, quote: { decimals: 6 }, spreadBps: 100n };

test('a price is read exactly, and what is none is refused', () => {
  for (const [said, over, under] of [
    ['64000.5', 640_005n, 10n],
    [64_000.5, 640_005n, 10n],
    ['6.4e4', 64_000n, 1n],
    [1e-7, 1n, 10_000_000n],
    [' 12 ', 12n, 1n],
  ] as const) {
    const price = parsePrice(said);
    assert.equal(price.over * under, over * price.under, String(said));
  }
  for (const bad of ['0', '-1', '', 'NaN', '1e99', '1,5', null, {}, Number.NaN, Infinity]) {
    assert.throws(() => parsePrice(bad), RangeError, String(bad));
  }
});

test('the price of a pair of two coins is the ratio of their prices', () => {
  const { over, under } = ratio(parsePrice('64000'), parsePrice('160'));
  assert.equal(over, 400n * under);
  assert.equal(distanceBps(parsePrice('100'), parsePrice('101')), 100n);
  assert.equal(distanceBps(parsePrice('101'), parsePrice('100')), 100n);
});

// 64 000 dollars for a bitcoin, 100 basis points: 640 dollars for 0.01 bitcoin, and 6.40 of it.
for (const [what, asked, gives, base, quote] of [
  ['the taker sells bitcoin', ['sell_base', false, 1_000_000n], 'quote', 1_000_000n, 633_600_000n],
  ['the taker buys bitcoin', ['buy_base', false, 1_000_000n], 'base', 1_000_000n, 646_400_000n],
  ['the taker sells dollars', ['sell_base', true, 640_000_000n], 'base', 990_099n, 640_000_000n],
  ['the taker buys dollars', ['buy_base', true, 640_000_000n], 'quote', 1_010_102n, 640_000_000n],
] as const) {
  test(`${what}: the maker's quote`, () => {
    const [direction, flipped, amount] = asked;
    const terms = termsAt({ direction, flipped, amount }, parsePrice('64000'), btcUsd);
    assert.deepEqual(terms, { gives, base, quote });
  });
}

test('no price is quoted where the taker would get nothing', () => {
  const asked = { direction: 'sell_base', flipped: true, amount: 1n } as const;
  assert.equal(termsAt(asked, parsePrice('64000'), btcUsd), null);
});

test('a quote leaves the maker its spread, whatever is asked at whatever price', () => {
  const drawn = fc.record({
    direction: fc.constantFrom('sell_base' as const, 'buy_base' as const),
    flipped: fc.boolean(),
    amount: fc.bigInt({ min: 1n, max: 10n ** 30n }),
    over: fc.bigInt({ min: 1n, max: 10n ** 20n }),
    under: fc.bigInt({ min: 1n, max: 10n ** 20n }),
    spreadBps: fc.bigInt({ min: 0n, max: 5_000n }),
    base: fc.record({ decimals: fc.integer({ min: 0, max: 18 }) }),
    quote: fc.record({ decimals: fc.integer({ min: 0, max: 18 }) }),
  });
  fc.assert(
    fc.property(drawn, ({ over, under, spreadBps, base, quote, ...asked }) => {
      const price = { over, under };
      const pair = { base, quote, spreadBps };
      const terms = termsAt(asked, price, pair);
      if (terms === null) return;
      assert.ok(marginBps(terms, price, pair) >= spreadBps);
      assert.ok(terms.base > 0n && terms.quote > 0n);
    }),
    { numRuns: runs(300) },
  );
});
