// Equivalents in a currency: exact, rounded down, and none of what is no price.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { equivalentOf } from './fiat.ts';

const at = '2026-03-14T09:26:53.589Z';
const told = (price: string, currency: string | null = 'USD') => ({
  currency,
  source: 'prices.example',
  at,
  prices: [{ assetId: 'btc', price }],
});
const btc = { id: 'btc', decimals: 8 };

test('an equivalent is exact, and rounded down to what the currency has', () => {
  for (const [units, price, currency, amount] of [
    [2_000_000n, '65120', 'USD', '1302.40'],
    [1n, '99999999', 'USD', '0.99'],
    [10n ** 30n, '65120.123456789012345678', 'USD', '651201234567890123456780000.00'],
    [100_000_000n, '9650000.9', 'JPY', '9650000'],
    [0n, '65120', 'USD', '0.00'],
  ] as const) {
    const found = equivalentOf(told(price, currency), units, btc);
    const wanted = { currency, amount, isLess: false, source: 'prices.example', at };
    assert.deepEqual(found, wanted);
  }
  const { amount, isLess } = equivalentOf(told('65120'), 1n, btc) ?? assert.fail();
  assert.deepEqual([amount, isLess], ['0.01', true]);
});

test('a word that is no price, no currency or no known asset has no equivalent', () => {
  for (const price of ['', '-1', '1e9', '1,5', '<b>', '9'.repeat(16)]) {
    assert.equal(equivalentOf(told(price), 1n, btc), null, price);
  }
  for (const currency of [null, 'usd', '$', '<b>']) {
    assert.equal(equivalentOf(told('1', currency), 1n, btc), null, `${currency}`);
  }
  assert.equal(equivalentOf(told('1'), 1n, { id: 'eth', decimals: 18 }), null);
  assert.equal(equivalentOf(undefined, 1n, btc), null);
});
