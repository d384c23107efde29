// Rows of the book: sides as their creator sees them, their order, prices and search.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asset, Rfq } from '@parley/sdk/types.ts';
import { foundIn, rowsOf } from './book-rows.ts';

const asset = (
  id: string,
  chain: string,
  decimals: number,
  address: string | null = null,
): Asset => ({
  id,
  chain,
  symbol: id.toUpperCase(),
  address,
  decimals,
  enabled: true,
  verified: true,
  source: 'config',
});
const btc = asset('btc', 'bitcoin', 8);
const usd = asset('usd', 'ethereum', 6, '0xAbC');
const rfq: Rfq = {
  id: 'r',
  direction: 'sell_base',
  baseAssetId: 'btc',
  baseAmount: '150000000',
  quoteAssetId: 'usd',
  status: 'open',
  visibility: 'public',
  askAmount: '96000000000',
  expiresAt: '2026-01-01T00:10:00Z',
  createdAt: '2026-01-01T00:00:00Z',
  creatorId: 'me',
  creatorStanding: null,
  minSettled: null,
};
const at = Date.parse('2026-01-01T00:00:00Z') / 1_000;
const rows = (more: Partial<Rfq>, assets = [btc, usd]) => rowsOf([{ ...rfq, ...more }], assets);

test('a seller gives the base asset, a buyer wants it, and the price is for one of it', () => {
  const price = { of: '64\u202f000 USD', per: 'BTC' };
  const base = { asset: btc, amount: 150_000_000n };
  const quote = { asset: usd, amount: 96_000_000_000n };
  const common = { id: 'r', price, closesAt: at + 600 };
  assert.deepEqual(rows({}), [{ ...common, gives: base, wants: quote }]);
  assert.deepEqual(rows({ direction: 'buy_base' }), [{ ...common, gives: quote, wants: base }]);
});

test('without an ask there is no price, and of an asset that is not listed no row', () => {
  const [open] = rows({ askAmount: null });
  assert.deepEqual([open?.price, open?.wants.amount], [null, null]);
  assert.deepEqual(rows({}, [btc]), []);
});

test('the newest is first, whatever order they came in', () => {
  const all = ['2', '3', '1'].map((id) => ({ ...rfq, id }));
  assert.deepEqual(
    rowsOf(all, [btc, usd]).map(({ id }) => id),
    ['3', '2', '1'],
  );
});

test('a row is found by all words of a search, on either side', () => {
  for (const [search, count] of [
    ['', 1],
    ['bitcoin', 1],
    [' uSd  BTC ', 1],
    ['0xabc', 1],
    ['tron', 0],
    ['btc tron', 0],
  ] as const) {
    assert.equal(foundIn(rows({}), search).length, count, search);
  }
});
