// Assets over HTTP, and how the curated ones come and go.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestMarket, type Trader, testMarket } from '../../../test/support/trading.ts';
import { findAssets, findCuratedAsset } from '../../db/assets.ts';
import { seedAssets } from '../../market/assets.ts';

let market: TestMarket;
let someone: Trader;

before(async () => {
  market = await testMarket();
  someone = await market.trader({ scopes: ['read'] });
});
after(() => market.close());

const symbols = async (query = '') => {
  const { body } = await someone.get(`/v1/assets?${query}`);
  return body.assets.map((each: { symbol: string }) => each.symbol);
};

test('assets are listed with what the specification names and nothing else', async () => {
  const { status, body } = await someone.get('/v1/assets');
  assert.equal(status, 200);
  assert.deepEqual(body.assets[0], {
    id: market.assets.btc.id,
    chain: 'bitcoin',
    symbol: 'BTC',
    address: null,
    decimals: 8,
    enabled: true,
    verified: true,
    source: 'curated',
  });
  assert.deepEqual([body.assets.length, body.nextCursor], [3, null]);
  assert.equal((await market.app.inject('/v1/assets')).statusCode, 401);
});

test('the filters narrow the list; symbols and addresses in hex compare without case', async () => {
  const address = market.assets.usd.address?.toUpperCase().replace('X', 'x');
  assert.deepEqual(await symbols('chain=evm-dev'), ['ETH', 'USD']);
  assert.deepEqual(await symbols('symbol=BTC'), ['BTC']);
  assert.deepEqual(await symbols('symbol=uSd'), ['USD']);
  assert.deepEqual(await symbols(`address=${address}`), ['USD']);
  assert.deepEqual(await symbols('enabled=true&chain=bitcoin'), ['BTC']);
  assert.deepEqual(await symbols('enabled=false'), []);
  assert.deepEqual(await symbols('symbol=NONE'), []);
  for (const bad of ['enabled=perhaps', 'limit=0', 'limit=1e9', `chain=${'x'.repeat(65)}`]) {
    const { status, code } = await someone.get(`/v1/assets?${bad}`);
    assert.deepEqual([status, code], [400, 'bad_field'], bad);
  }
});

test('pages meet every asset once; a cursor is bound to its filters', async () => {
  const seen: string[] = [];
  let cursor = '';
  do {
    const { body } = await someone.get(`/v1/assets?limit=1${cursor}`);
    seen.push(...body.assets.map((each: { symbol: string }) => each.symbol));
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
    if (cursor !== '') {
      const foreign = await someone.get(`/v1/assets?limit=1&chain=bitcoin${cursor}`);
      assert.deepEqual([foreign.status, foreign.code], [400, 'bad_cursor']);
    }
  } while (cursor !== '');
  assert.deepEqual(seen, ['BTC', 'ETH', 'USD']);
});

test('seeding again keeps ids, updates what changed, and closes what is no longer listed', async () => {
  const other = await testMarket();
  try {
    const { btc, usd } = other.assets;
    const next = await seedAssets(other.db, other.deps, [
      { chain: 'bitcoin', symbol: 'XBT', address: null, decimals: 8, highValueFrom: '500' },
      { chain: 'nowhere', symbol: 'NIL', address: null, decimals: 1 },
    ]);
    assert.deepEqual(next, [{ ...btc, symbol: 'XBT', highValueFrom: 500n }]);
    assert.equal((await findAssets(other.db, [usd.id]))[0]?.enabled, false);
    assert.equal(await findCuratedAsset(other.db, 'USD'), null);
    assert.equal((await findCuratedAsset(other.db, 'XBT'))?.id, btc.id);
  } finally {
    await other.close();
  }
});
