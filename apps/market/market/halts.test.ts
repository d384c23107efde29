// The kill switch: the effect of a halted chain or asset, for each party, and its limits. Races
// with it are in listing.test.ts, with closings of one asset.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type Asset, insertListed } from '../db/assets.ts';
import type { Tx } from '../db/database.ts';
import { shareChain } from '../db/halts.ts';
import { findListing } from '../db/listing.ts';
import { uuidv7 } from '../ports/ids.ts';
import { seedAssets } from './assets.ts';
import { haltAsset, haltChain, resumeAsset, resumeChain } from './halts.ts';
import { closeAsset, reopenAsset } from './listing.ts';
import { ordersToClose } from './testing/orders.ts';

const { market, taker, db, other, at, kindsOf, tryPost, post, quote } = await ordersToClose();
const { btc, usd, eth } = market.assets;
const chain = 'evm-dev';
const reason = 'its nodes disagree';
const halt = (which = chain, on = db) =>
  on.transaction((tx) => haltChain(tx, { chain: which, reason, at: at() }));
const resume = (which = chain, on = db) => on.transaction((tx) => resumeChain(tx, which, at()));
const haltOne = (asset: Asset, on = db) =>
  on.transaction((tx) => haltAsset(tx, asset.id, { reason, at: at() }));
const resumeOne = (asset: Asset) => db.transaction((tx) => resumeAsset(tx, asset.id, at()));

test('a halted switch says so, with its chain and since when, and not why', async () => {
  const { id } = await post();
  assert.deepEqual(await halt(), { changed: true, assets: 2, orders: 1 });
  const { status, code, body } = await quote(id);
  assert.deepEqual([status, code], [409, 'asset_closed']);
  assert.match(
    body.error,
    / is halted by the operator for now with its whole chain since \d{4}-.*Z:/,
  );
  assert.ok(!body.error.includes(reason), "the reason is the operator's own");
  const shown: Asset[] = (await taker.get('/v1/assets')).body.assets;
  const open = shown.flatMap((each) => (each.enabled ? [each.id] : []));
  assert.deepEqual(open, [btc.id]);
  const unchanged = { changed: false, assets: 0, orders: 0 };
  assert.deepEqual(await halt(), unchanged);
  assert.deepEqual(await resume(), { changed: true, assets: 2, orders: 1 });
  assert.deepEqual(await resume(), unchanged);
});

test('a native coin can be halted by itself, and only its own switch lifts that', async () => {
  const rfq = await post();
  assert.equal((await haltOne(btc)).orders, 1);
  assert.equal((await tryPost()).code, 'asset_closed');
  const operator = { assetId: btc.id, by: 'operator' as const, at: at() };
  const reopened = await db.transaction((tx) => reopenAsset(tx, operator));
  assert.equal(reopened.state, 'closed');
  assert.equal((await halt('bitcoin')).orders, 0);
  assert.equal((await resumeOne(btc)).state, 'closed');
  assert.deepEqual(await kindsOf(rfq.id), ['created', 'cancelled']);
  await db.transaction((tx) =>
    closeAsset(tx, { assetId: usd.id, by: 'checks', at: at(), reasons: ['x'] }),
  );
  // Its other side closed meanwhile: it stays away until that opens too.
  assert.equal((await resume('bitcoin')).orders, 0);
  const checks = { assetId: usd.id, by: 'checks' as const, at: at() };
  assert.equal((await db.transaction((tx) => reopenAsset(tx, checks))).orders, 1);
  assert.deepEqual(await kindsOf(rfq.id), ['created', 'cancelled', 'created']);
});

test('a halt is there after a restart, for what the settings add and for what is listed meanwhile', async () => {
  await halt();
  const settingsOf = ({ symbol, address, decimals, chain: of }: Asset) => {
    return { chain: of, symbol, address, decimals };
  };
  const address = `0x${randomBytes(20).toString('hex')}`;
  const fresh = { chain, symbol: 'NEW', address, decimals: 6 };
  const all = [btc, eth, usd].map(settingsOf);
  const seeded = await seedAssets(db, market.deps, [...all, fresh]);
  assert.deepEqual(
    seeded.map(({ symbol, enabled }) => [symbol, enabled]),
    [
      ['BTC', true],
      ['ETH', false],
      ['USD', false],
      ['NEW', false],
    ],
  );
  const { closings } = (await findListing(db, seeded[3]!.id))!;
  assert.deepEqual(closings.chain?.reasons, [reason]);
  assert.match(closings.chain?.at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const listed = await db.transaction(async (tx) => {
    await shareChain(tx, chain);
    return insertListed(tx, someToken(), at(), at(), at());
  });
  assert.equal(listed?.enabled, false);
  await resume();
  for (const { id } of [seeded[3]!, listed!]) {
    assert.equal((await findListing(db, id))?.state, 'open');
  }
  await seedAssets(db, market.deps, all);
});

const someToken = () => ({
  id: uuidv7(market.deps.now(), market.deps.randomBytes),
  chain,
  symbol: 'TKN',
  address: `0x${randomBytes(20).toString('hex')}`,
  decimals: 6,
  source: 'api',
});

test('a token that is being listed while its chain is halted is held closed, whichever commits first', async () => {
  for (const first of ['listing', 'halt'] as const) {
    const holding = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const token = someToken();
    const work = {
      listing: async (tx: Tx) => {
        await shareChain(tx, chain);
        await insertListed(tx, token, at(), at(), at());
      },
      halt: (tx: Tx) => haltChain(tx, { chain, reason, at: at() }),
    };
    const one = other.transaction(async (tx) => {
      await work[first](tx);
      begun.resolve();
      await holding.promise;
    });
    await begun.promise;
    const two = db.transaction<unknown>(work[first === 'listing' ? 'halt' : 'listing']);
    holding.resolve();
    await Promise.all([one, two]);
    assert.equal((await findListing(db, token.id))?.state, 'closed', first);
    await resume();
  }
});
