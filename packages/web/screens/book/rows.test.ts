// Rows of the book: sides as their creator sees them, prices, filters, and what has ended.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Asset, Rfq } from '@parley/sdk/types.ts';
import { filtered, rowsOf } from './rows.ts';

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
const rows = (more: Partial<Rfq>, now = at, assets = [btc, usd]) =>
  rowsOf([{ ...rfq, ...more }], assets, { mine: 'me', now });

test('a seller gives the base asset, a buyer wants it, and the price is for one of it', () => {
  const price = { of: '64\u202f000 USD', per: 'BTC' };
  const base = { asset: btc, amount: 150_000_000n };
  const quote = { asset: usd, amount: 96_000_000_000n };
  const common = { id: 'r', price, closesAt: at + 600, isMine: true };
  assert.deepEqual(rows({}), [{ ...common, gives: base, wants: quote }]);
  assert.deepEqual(rows({ direction: 'buy_base' }), [{ ...common, gives: quote, wants: base }]);
});

test('without an ask, or of an asset that is not known, there is no price', () => {
  const [open] = rows({ askAmount: null });
  assert.deepEqual([open?.price, open?.wants.amount], [null, null]);
  const [unknown] = rows({}, at, [btc]);
  assert.deepEqual([unknown?.price, unknown?.wants.asset], [null, undefined]);
});

test('an order that has ended by this clock is no row any more', () => {
  assert.equal(rows({}, at + 599).length, 1);
  assert.equal(rows({}, at + 600).length, 0);
  assert.equal(rows({ creatorId: 'other' })[0]?.isMine, false);
});

test('a chain, a part of a symbol and a whole contract address find a row by either side', () => {
  for (const [chain, word, count] of [
    ['', '', 1],
    ['bitcoin', '', 1],
    ['ethereum', 'bt', 1],
    ['', ' uSd ', 1],
    ['', '0xabc', 1],
    ['', '0xab', 0],
    ['tron', '', 0],
    ['', 'eth', 0],
  ] as const) {
    assert.equal(filtered(rows({}), { chain, word }).length, count, `${chain} ${word}`);
  }
});
