// The effect of closing, reopening and delisting an asset on its orders, and the parties that may
// undo it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testMarket } from '@parley/verify/test/support/trading.ts';
import type { Asset } from '../db/assets.ts';
import { type Closer, findListing, lockListings } from '../db/listing.ts';
import { findRfq } from '../db/rfqs.ts';
import { holdOpen, seedAssets } from './assets.ts';
import { haltChain, resumeChain } from './halts.ts';
import { closeAsset, curateAsset, delistAsset, reopenAsset } from './listing.ts';
import { ordersToClose } from './testing/orders.ts';
import { rfqView } from './views.ts';

const { market, taker, db, other, at, told, kindsOf, book, agreed, tryPost, post, quote } =
  await ordersToClose();
const { btc, usd, eth } = market.assets;
const reasons = ['its contract can be paused'];
const close = (asset: Asset, by: Closer = 'checks', on = db) =>
  on.transaction((tx) => closeAsset(tx, { assetId: asset.id, by, at: at(), reasons }));
const reopen = (asset: Asset, by: Closer = 'checks', on = db) =>
  on.transaction((tx) => reopenAsset(tx, { assetId: asset.id, by, at: at() }));

/** Closes what the RFQs ask for, and how that is undone: one asset, or its whole chain. */
const switches = {
  asset: [(on = db) => close(usd, 'checks', on), () => reopen(usd)],
  chain: [
    (on = db) =>
      on.transaction((tx) => haltChain(tx, { chain: 'evm-dev', reason: 'trouble', at: at() })),
    () => db.transaction((tx) => resumeChain(tx, 'evm-dev', at())),
  ],
} as const;

for (const [what, [shut, open]] of Object.entries(switches)) {
  test(`closing its ${what} takes its live orders off the book, status unchanged; reopening brings back those that did not end`, async () => {
    const asQuote = await post();
    const asBase = await post({ baseAssetId: usd.id, quoteAssetId: btc.id, direction: 'buy_base' });
    const negotiating = await post();
    assert.equal((await quote(negotiating.id)).status, 201);
    // On the chain that closes there is no asset that stays open.
    const others = what === 'asset' ? [(await post({ quoteAssetId: eth.id })).id] : [];
    const expires = await post({ ttlSeconds: 30 });
    const ends = await post();
    const cancelled = await post();
    await taker.post(`/v1/rfqs/${cancelled.id}/cancel`);
    const link = await post({ visibility: 'private' });
    const live = [asQuote, asBase, negotiating, expires, ends];
    const before = (await told()).length;
    const { changed, orders } = await shut();
    assert.deepEqual([changed, orders], [true, live.length]);
    const left = (await told()).slice(before);
    assert.deepEqual(
      left.map(({ kind, rfqId }) => [kind, rfqId]).sort(),
      live.map(({ id }) => ['cancelled', id]).sort(),
    );
    for (const { rfqId, body } of left) {
      const rfq = await findRfq(db, rfqId);
      assert.equal(body, JSON.stringify(rfqView(rfq!, market.deps.now(), true)));
      const shown = (await taker.get(`/v1/rfqs/${rfqId}`)).body;
      assert.equal(shown.status, rfqId === negotiating.id ? 'negotiating' : 'open');
      assert.deepEqual([(await quote(rfqId)).code, shown.status], ['asset_closed', rfq!.status]);
    }
    assert.deepEqual(await book(), others);
    for (const id of others) assert.equal((await quote(id)).status, 201);
    assert.equal((await quote(link.id)).code, 'asset_closed');
    const refused = await tryPost();
    assert.deepEqual([refused.status, refused.code], [409, 'asset_closed']);
    assert.match(refused.body.error, /GET \/v1\/assets shows it enabled again when it is open/);

    await taker.post(`/v1/rfqs/${ends.id}/cancel`);
    market.deps.advance(31_000);
    const then = (await told()).length;
    assert.equal((await open()).orders, 3);
    const back = (await told()).slice(then);
    const expected = [asQuote, asBase, { ...negotiating, status: 'negotiating' }];
    assert.ok(back.every(({ kind, again }) => kind === 'created' && again));
    assert.deepEqual(
      back.map(({ body }) => JSON.parse(body)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      expected,
    );
    const ids = [...others, ...expected.map(({ id }) => id)];
    assert.deepEqual((await book()).sort(), ids.sort());
    assert.ok(!(await kindsOf(expires.id)).slice(2).includes('created'));
  });
}

test('delisted is for ever: nobody reopens or curates it, and no start does', async () => {
  const other = await testMarket();
  try {
    const { usd } = other.assets;
    const change = { assetId: usd.id, by: 'operator' as const, at: new Date(), reasons };
    const gone = await other.db.transaction((tx) => delistAsset(tx, change));
    assert.equal(gone.state, 'delisted');
    assert.equal((await other.db.transaction((tx) => delistAsset(tx, change))).changed, false);
    for (const by of ['settings', 'checks', 'operator'] as const) {
      const tried = other.db.transaction((tx) => reopenAsset(tx, { ...change, by }));
      await assert.rejects(tried, { code: 'asset_closed', message: /delisted at .* for ever/ });
    }
    const curated = other.db.transaction((tx) => curateAsset(tx, usd.id, null));
    await assert.rejects(curated, { code: 'asset_closed' });
    const tried = other.db.transaction((tx) => holdOpen(tx, usd.id, other.assets.btc.id));
    await assert.rejects(tried, /is delisted since \d.*Z, for ever/);
    const { chain, symbol, address, decimals } = usd;
    await seedAssets(other.db, other.deps, [{ chain, symbol, address, decimals }]);
    assert.equal((await findListing(other.db, usd.id))?.state, 'delisted');
  } finally {
    await other.close();
  }
});

test('an asset that the settings leave out closes with its orders, and returns with them', async () => {
  const settingsOf = ({ chain, symbol, address, decimals }: Asset) => ({
    chain,
    symbol,
    address,
    decimals,
  });
  const all = [btc, eth, usd].map(settingsOf);
  const { id } = await post();
  await seedAssets(db, market.deps, all.slice(0, 2));
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
  assert.match(
    (await findListing(db, usd.id))!.closings.settings!.reasons[0]!,
    /no longer among the curated assets/,
  );
  // A start that changes nothing emits nothing.
  await seedAssets(db, market.deps, all.slice(0, 2));
  const [, , back] = await seedAssets(db, market.deps, all);
  assert.deepEqual(back, usd);
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled', 'created']);
  // An asset that an operator closed stays closed at a start; one that an operator curated stays
  // open.
  await close(usd, 'operator');
  await seedAssets(db, market.deps, all);
  assert.equal((await findListing(db, usd.id))?.state, 'closed');
  await db.rows({
    name: 'test_listed',
    text: `update assets set source = 'api', verified = false, configured = false,
      closings = '{}' where id = $1`,
    values: [eth.id],
  });
  await db.transaction((tx) => curateAsset(tx, eth.id, 5n));
  await seedAssets(db, market.deps, [settingsOf(btc)]);
  const curated = await findListing(db, eth.id);
  assert.deepEqual(
    [curated?.state, curated?.asset.source, curated?.asset.verified, curated?.asset.highValueFrom],
    ['open', 'curated', true, 5n],
  );
  await seedAssets(db, market.deps, all);
});

for (const [what, [shut]] of Object.entries(switches)) {
  test(`while its ${what} is being closed, posting and agreeing on it are refused at once`, async () => {
    const { id } = await post();
    const unwanted = await post();
    const holding = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const closing = other.transaction(async (tx) => {
      await shut({ ...other, transaction: (work) => work(tx) });
      begun.resolve();
      await holding.promise;
    });
    await begun.promise;
    try {
      const refused = await tryPost();
      assert.deepEqual([refused.status, refused.code], [409, 'asset_closed']);
      assert.match(refused.body.error, /being closed or reopened/);
      assert.equal((await agreed(id)).code, 'asset_closed');
      if (what === 'asset') await post({ quoteAssetId: eth.id });
      assert.equal((await taker.post(`/v1/rfqs/${unwanted.id}/cancel`)).status, 200);
    } finally {
      holding.resolve();
      await closing;
    }
    assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
  });
}

test('a change that fails half-way is none: neither state nor frames', async () => {
  const { id } = await post();
  const failing = db.transaction(async (tx) => {
    await closeAsset(tx, { assetId: usd.id, by: 'checks', at: at(), reasons });
    throw new Error('on purpose');
  });
  await assert.rejects(failing, /on purpose/);
  assert.equal((await findListing(db, usd.id))?.state, 'open');
  assert.deepEqual(await kindsOf(id), ['created']);
  await db.transaction((tx) => lockListings(tx));
});
