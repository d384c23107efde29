// A typed price, and its worth for the maker.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rfq } from '@parley/sdk/types.ts';
import { drafted } from './offer.ts';
import '../../texts/testing.ts';

const usd = { decimals: 6 };
const rfqOf = (direction: Rfq['direction'], baseAmount = '10000000') =>
  ({ direction, baseAmount, baseAssetId: 'btc', quoteAssetId: 'usd', askAmount: null }) as Rfq;
/** 64 000 dollars a coin of 8 decimals. */
const indicative = { baseAmount: 100_000_000n, quoteAmount: 64_000_000_000n };
const typed = (
  what: string,
  rfq = rfqOf('sell_base'),
  price: typeof indicative | null = indicative,
) => drafted(what, rfq, usd, price, 'en');

test('an amount is whole coins of the quote asset; a spread is the gain of the maker', () => {
  // A tenth of a coin. Where the taker sells, the maker gives dollars: its gain is to give less.
  for (const [what, gives, gets] of [
    ['6400', 6_400_000_000n, 6_400_000_000n],
    ['6 400.5', 6_400_500_000n, 6_400_500_000n],
    ['+1%', 6_336_000_000n, 6_464_000_000n],
    ['1 %', 6_336_000_000n, 6_464_000_000n],
    ['-0.25%', 6_416_000_000n, 6_384_000_000n],
    ['−25bp', 6_416_000_000n, 6_384_000_000n],
    ['50 BPS', 6_368_000_000n, 6_432_000_000n],
    ['0%', 6_400_000_000n, 6_400_000_000n],
  ] as const) {
    assert.equal(typed(what).offer?.quoteAmount, gives, what);
    assert.equal(typed(what, rfqOf('buy_base')).offer?.quoteAmount, gets, what);
  }
  const { offer } = typed('6400');
  assert.deepEqual(offer?.gives, { assetId: 'usd', amount: 6_400_000_000n });
  assert.deepEqual(offer?.gets, { assetId: 'btc', amount: 10_000_000n });
});

test('a spread is never less than was typed, in the last unit of the quote asset either', () => {
  const odd = { baseAmount: 3n, quoteAmount: 10n };
  // 23.1 given at most, 23.333… asked, 23.56 got at least.
  const given = drafted('1%', rfqOf('sell_base', '7'), usd, odd, 'en').offer;
  const got = drafted('1%', rfqOf('buy_base', '7'), usd, odd, 'en').offer;
  assert.deepEqual([given?.quoteAmount, got?.quoteAmount], [23n, 24n]);
});

test('how far from the indicative price is told for the maker, and without one nothing is far', () => {
  for (const [what, bps, isFar] of [
    ['6400', 0, false],
    ['6592', -300, true],
    ['6585.6', -290, false],
    ['6208', 300, true],
    ['64000', -90_000, true],
    ['640', 9_000, true],
  ] as const) {
    const { offer } = typed(what);
    assert.deepEqual([offer?.bps, offer?.isFar], [bps, isFar], what);
    assert.deepEqual(typed(what, rfqOf('buy_base')).offer?.bps, bps === 0 ? 0 : -bps, what);
  }
  const { offer } = typed('1', undefined, null);
  assert.deepEqual([offer?.bps, offer?.isFar], [null, false]);
  // The asking price stands in for it.
  const asked = { ...rfqOf('sell_base'), askAmount: '6400000000' };
  const dear = typed('64000', asked, null).offer;
  assert.deepEqual([dear?.bps, dear?.isFar], [-90_000, true]);
  assert.equal(typed('6300', asked).offer?.bps, typed('6300').offer?.bps);
});

test('a text that is no price says what is wrong; an empty one says nothing', () => {
  for (const [what, words] of [
    ['0', /more than nothing/],
    ['x', /digits/i],
    ['1.1234567', /7 decimals.*6/],
    ['1.005%', /3 decimals.*2/],
    ['x%', /digits/i],
    ['100%', /nothing would be left/],
  ] as const) {
    const { offer, fault } = typed(what);
    assert.equal(offer, null, what);
    assert.match(fault ?? '', words, what);
  }
  assert.match(typed('1%', undefined, null).fault ?? '', /no indicative price/i);
  assert.deepEqual(typed('  '), { offer: null, fault: null });
});
