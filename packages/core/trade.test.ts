import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchange, givenByMaker, givenByTaker, roleOf } from './trade.ts';

const sell = { direction: 'sell_base', baseAssetId: 'btc', quoteAssetId: 'usd' } as const;
const buy = { ...sell, direction: 'buy_base' } as const;

test('the taker funds leg b with what it gives, the maker leg a', () => {
  const amounts = { baseAmount: 5n, quoteAmount: 9n };
  assert.deepEqual(exchange({ ...sell, ...amounts }), {
    a: { assetId: 'usd', amount: 9n },
    b: { assetId: 'btc', amount: 5n },
  });
  assert.deepEqual(exchange({ ...buy, ...amounts }), {
    a: { assetId: 'btc', amount: 5n },
    b: { assetId: 'usd', amount: 9n },
  });
  assert.equal(givenByTaker(sell), 'btc');
  assert.equal(givenByTaker(buy), 'usd');
  assert.equal(givenByMaker(sell), 'usd');
  assert.equal(givenByMaker(buy), 'btc');
});

test('the funder of the long leg is the initiator', () => {
  assert.equal(roleOf('maker', 'a'), 'initiator');
  assert.equal(roleOf('taker', 'a'), 'counterparty');
  assert.equal(roleOf('taker', 'b'), 'initiator');
});
