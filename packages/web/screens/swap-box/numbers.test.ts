// Numbers of the box: few digits, against the reader.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { priceText, rounded, shortAmount, unitPrice } from './numbers.ts';
import { btc, usd } from './testing.ts';

test('six digits are kept, whole coins whole, and the rest goes against the reader', () => {
  for (const [units, decimals, down, up] of [
    [1_299_612_345n, 6, 1_299_610_000n, 1_299_620_000n],
    [1_299_610_000n, 6, 1_299_610_000n, 1_299_610_000n],
    [123_456_789n, 18, 123_456_000n, 123_457_000n],
    // Eight whole coins of no decimals, and 1.234567 million of two.
    [12_345_678n, 0, 12_345_678n, 12_345_678n],
    [123_456_789n, 2, 123_456_700n, 123_456_800n],
    [999_999_999n, 6, 999_999_000n, 1_000_000_000n],
    [7n, 8, 7n, 7n],
    [0n, 8, 0n, 0n],
  ] as const) {
    assert.equal(rounded(units, decimals, 'down'), down, `${units}`);
    assert.equal(rounded(units, decimals, 'up'), up, `${units}`);
  }
});

test('a price for one coin is rounded against the reader, however small or large it is', () => {
  const price = { baseAmount: 3n, quoteAmount: 100n };
  const text = (isGot: boolean) => priceText({ base: btc, quote: usd, isGot }, price, 'en').number;
  assert.equal(text(true), '3\u202f333.33');
  assert.equal(text(false), '3\u202f333.34');
  // A bitcoin that is got for dollars is counted in dollars too.
  const turned = { baseAmount: 100n, quoteAmount: 3n };
  const buys = priceText({ base: usd, quote: btc, isGot: true }, turned, 'en');
  assert.deepEqual(buys, { number: '3\u202f333.34', of: 'USD', per: 'BTC' });
  const dust = { of: { units: 1n, decimals: 18 }, per: { units: 10n ** 30n, decimals: 0 } };
  assert.equal(unitPrice(dust, 'down', 'en'), `0.${'0'.repeat(47)}1`);
});

test('dollars have their cents, in the mark of the language, and other coins no zeros', () => {
  const text = (units: bigint, locale: string) => shortAmount(units, usd, 'down', locale);
  assert.equal(text(1_302_400_000n, 'en'), '1\u202f302.40');
  assert.equal(text(1_302_000_000n, 'de'), '1\u202f302,00');
  assert.equal(text(1_299_619_999n, 'en'), '1\u202f299.61');
  assert.equal(text(1n, 'en'), '0.000001');
  assert.equal(shortAmount(50_000_000n, btc, 'down', 'en'), '0.5');
});
