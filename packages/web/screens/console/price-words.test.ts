// Prices are shown the way round in which they are one or more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { priceWords } from './price-words.ts';
import '../../texts/testing.ts';

const btc = { symbol: 'BTC', decimals: 8 };
const usd = { symbol: 'USD', decimals: 6 };

test('a price is so many of one coin for one of the other, never a fraction of it', () => {
  const coin = { baseAmount: 100_000_000n, quoteAmount: 64_000_000_000n };
  assert.equal(priceWords(coin, btc, usd), '64\u202f000 USD per BTC');
  const turned = { baseAmount: coin.quoteAmount, quoteAmount: coin.baseAmount };
  assert.equal(priceWords(turned, usd, btc), '64\u202f000 USD per BTC');
  const even = { baseAmount: 100_000_000n, quoteAmount: 1_000_000n };
  assert.equal(priceWords(even, btc, usd), '1 USD per BTC');
  const less = { ...even, quoteAmount: 999_999n };
  assert.equal(priceWords(less, btc, usd), '1… BTC per USD');
});
