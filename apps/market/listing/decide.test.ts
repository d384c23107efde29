// Looks that end in another order than they began, and decisions while others hold the locks.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Trader } from '@parley/verify/test/support/trading.ts';
import { connect, type Database } from '../db/database.ts';
import { findListing } from '../db/listing.ts';
import { curateAsset } from '../market/listing.ts';
import { decide } from './decide.ts';
import type { Judgement } from './judge.ts';
import { chain, type Looks, lookMarket } from './testing/looks.ts';

let market: Looks;
let taker: Trader;
/** Another pool on the same database: it acts as another process would. */
let other: Database;

before(async () => {
  market = await lookMarket({ listingLimit: 1_000 });
  taker = await market.trader();
  other = connect(market.url);
});
after(async () => {
  await other.close();
  await market.close();
});

const now = () => market.deps.now();
const ask = (address: string) => taker.post('/v1/assets', { chain, address });
const stateOf = async (id: string) => (await findListing(market.db, id))?.state;
const listed = async (address = market.says({})): Promise<{ id: string; address: string }> =>
  (await ask(address)).body.asset;
const decided = (address: string, judgement: Judgement | null, db = market.db) => {
  const wish = { chain, address, source: 'api', accountId: taker.accountId };
  return db.transaction((tx) => decide(tx, market.deps, wish, judgement));
};
/** A look that began `agoMs` ago. */
const look = (outcome: Judgement['outcome'], agoMs: number, assetId: string | null): Judgement => {
  const beganAt = new Date(now() - agoMs);
  const read = { symbol: 'LATE', decimals: 18 };
  return { ...read, outcome, beganAt, assetId, reasons: [`${outcome}: ${agoMs}`], notChecked: [] };
};

test('the later begun of two checks of a listed token counts, whichever ends last', async () => {
  const { id, address } = await listed();
  market.deps.advance(60_000);
  await decided(address, look('pass', 10_000, id));
  assert.equal((await decided(address, look('reject', 20_000, id))).status, 'listed');
  assert.equal(await stateOf(id), 'open');
  assert.equal((await decided(address, look('wait', 5_000, id))).status, 'closed');
  assert.equal((await decided(address, look('pass', 7_000, id))).status, 'closed');
});

test('a look that ends after its token was curated changes nothing', async () => {
  const { id, address } = await listed();
  await market.db.transaction((tx) => curateAsset(tx, id, null));
  for (const outcome of ['reject', 'wait'] as const) {
    assert.equal((await decided(address, look(outcome, 0, id))).status, 'listed', outcome);
  }
});

test('a delisting wants a second look that began a day after the first', async () => {
  const { id, address } = await listed();
  market.deps.freeze();
  await decided(address, look('reject', 0, id));
  market.deps.advance(86_401_000);
  assert.equal((await decided(address, look('reject', 2_000, id))).status, 'closed');
  assert.equal((await decided(address, look('reject', 0, id))).status, 'delisted');
});
