// Prices as one side sees them: roundings, and how far two prices are apart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Level } from '@parley/sdk/types.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import {
  advantageBps,
  bestLevel,
  farBps,
  getsQuote,
  indicated,
  isFar,
  levelBps,
  priceIn,
  quoteAt,
  sidesOf,
} from './prices.ts';

const rfq = {
  direction: 'sell_base',
  baseAssetId: 'btc',
  baseAmount: '1000',
  quoteAssetId: 'usd',
} as const;
const btc = { assetId: 'btc', amount: 1000n };
const usd = { assetId: 'usd', amount: 7n };

test('each side gives what the other gets, whichever way the RFQ goes', () => {
  const buying = { ...rfq, direction: 'buy_base' } as const;
  for (const [asked, party, gives, gets] of [
    [rfq, 'taker', btc, usd],
    [rfq, 'maker', usd, btc],
    [buying, 'taker', usd, btc],
    [buying, 'maker', btc, usd],
  ] as const) {
    assert.deepEqual(sidesOf(asked, 7n, party), { gives, gets });
    assert.equal(getsQuote(asked, party), gets === usd);
  }
});

test('a price is rounded down for who gets it and up for who gives it', () => {
  const third = { baseAmount: 3n, quoteAmount: 1n };
  for (const [base, isGot, expected] of [
    [3n, true, 1n],
    [3n, false, 1n],
    [4n, true, 1n],
    [4n, false, 2n],
    [2n, true, 0n],
    [2n, false, 1n],
  ] as const) {
    assert.equal(quoteAt(third, base, isGot), expected, `${base} ${isGot}`);
  }
});

const units = fc.bigInt(1n, 2n ** 256n - 1n);

test('the other way round nobody gains by rounding twice', () => {
  fc.assert(
    fc.property(units, units, units, (baseAmount, quoteAmount, amount) => {
      const price = { baseAmount, quoteAmount };
      const turned = { baseAmount: quoteAmount, quoteAmount: baseAmount };
      const got = quoteAt(price, amount, true);
      assert.ok(quoteAt(turned, got, true) <= amount);
      const given = quoteAt(price, amount, false);
      assert.ok(given - got <= 1n && given >= got);
      assert.ok(quoteAt(turned, given, true) >= amount || given === 0n);
    }),
    { numRuns: runs(300) },
  );
});

test('a price never looks better than it is, and what is expected of nothing is not known', () => {
  for (const [price, expected, isGot, bps] of [
    [103n, 100n, true, 300],
    [97n, 100n, true, -300],
    [103n, 100n, false, -300],
    [97n, 100n, false, 300],
    // A third of a basis point less is one less; a third more is none more.
    [299_990n, 300_000n, true, -1],
    [300_010n, 300_000n, true, 0],
    [0n, 5n, true, -10_000],
    [2n ** 256n - 1n, 1n, true, 1_000_000],
    [2n ** 256n - 1n, 1n, false, -1_000_000],
    [5n, 0n, true, null],
  ] as const) {
    assert.equal(advantageBps(price, expected, isGot), bps, `${price} for ${expected}`);
  }
});

test('far is from the limit on, better or worse', () => {
  for (const [bps, far] of [
    [farBps - 1, false],
    [farBps, true],
    [1 - farBps, false],
    [-farBps, true],
    [null, false],
  ] as const) {
    assert.equal(isFar(bps), far, String(bps));
  }
});

const level = (makerId: string, settled: number | null) =>
  ({
    makerId,
    baseAmount: '3',
    quoteAmount: '7',
    makerStanding: settled === null ? null : { settled },
  }) as Level;

test('a maker that has settled swaps comes before a better price of one that has none', () => {
  const fresh = level('fresh', 0);
  const unknown = level('unknown', null);
  const known = level('known', 1);
  assert.equal(indicated([fresh, unknown, known, level('later', 9)]), known);
  assert.equal(indicated([unknown, fresh]), unknown);
  assert.equal(indicated([]), null);
  assert.deepEqual(priceIn(known), { baseAmount: 3n, quoteAmount: 7n });
  assert.equal(priceIn({ ...known, baseAmount: '0' }), null);
});

test('a level far from recent swaps is not called a price, and the next one is', () => {
  const level = (direction: 'sell_base' | 'buy_base', quoteAmount: string, settled = 0) =>
    ({ direction, baseAmount: '2000', quoteAmount, makerStanding: { settled } }) as Level;
  const median = { baseAmount: 1_000n, quoteAmount: 100_000n };
  const lie = level('sell_base', '206000', 9);
  const price = level('sell_base', '205999');
  const low = level('sell_base', '194000');
  assert.equal(bestLevel([lie, price], median), price);
  assert.equal(bestLevel([lie, low], median), null);
  assert.equal(bestLevel([lie, price], null), lie);
  // A low price promises a buyer too much.
  const cheap = level('buy_base', '194000');
  const dear = level('buy_base', '194001');
  assert.equal(bestLevel([cheap, dear], median), dear);
  assert.deepEqual([levelBps(lie, median), levelBps(cheap, median)], [300, 300]);
  assert.equal(levelBps({ ...lie, baseAmount: '0' }, median), null);
});
