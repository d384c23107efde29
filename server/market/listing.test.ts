// What closing, reopening and delisting an asset does to its orders, and who may undo what.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { testMarket } from '../../test/support/trading.ts';
import type { Asset } from '../db/assets.ts';
import { type Closer, findListing, lockListings } from '../db/listing.ts';
import { findRfq } from '../db/rfqs.ts';
import { buildApp } from '../edge/app.ts';
import { holdOpen, seedAssets } from './assets.ts';
import { haltChain, resumeChain } from './halts.ts';
import { closeAsset, curateAsset, delistAsset, reopenAsset } from './listing.ts';
import { cancelRfq } from './rfqs.ts';
import { ordersToClose } from './testing/orders.ts';
import { rfqView } from './views.ts';

const {
  place,
  at,
  told,
  kindsOf,
  post: tryPost,
  posted: post,
  quote,
  book,
  agreed,
} = ordersToClose();
const reasons = ['its contract can be paused'];
const close = (asset: Asset, by: Closer = 'checks', db = place.market.db) =>
  db.transaction((tx) => closeAsset(tx, { assetId: asset.id, by, at: at(), reasons }));
const reopen = (asset: Asset, by: Closer = 'checks', db = place.market.db) =>
  db.transaction((tx) => reopenAsset(tx, { assetId: asset.id, by, at: at() }));
const delist = (asset: Asset, by: Closer = 'checks') =>
  place.market.db.transaction((tx) =>
    delistAsset(tx, { assetId: asset.id, by, at: at(), reasons }),
  );

test('closing takes exactly its live orders off the book, told as they are, status unchanged', async () => {
  const { usd, eth, btc } = place.market.assets;
  const asQuote = await post();
  const asBase = await post({ baseAssetId: usd.id, quoteAssetId: btc.id, direction: 'buy_base' });
  const negotiating = await post();
  assert.equal((await quote(negotiating.id)).status, 201);
  const elsewhere = await post({ quoteAssetId: eth.id });
  const cancelled = await post();
  await place.taker.post(`/v1/rfqs/${cancelled.id}/cancel`);
  const link = await post({ visibility: 'private' });
  const before = (await told()).length;
  const changed = await close(usd);
  assert.deepEqual([changed.state, changed.changed, changed.orders], ['closed', true, 3]);
  assert.deepEqual(changed.closings.checks?.reasons, reasons);
  const left = (await told()).slice(before);
  assert.deepEqual(
    left.map(({ kind, rfqId }) => [kind, rfqId]).sort(),
    [asQuote, asBase, negotiating].map(({ id }) => ['cancelled', id]).sort(),
  );
  for (const { rfqId, body } of left) {
    const rfq = await findRfq(place.market.db, rfqId);
    assert.equal(body, JSON.stringify(rfqView(rfq!, place.market.deps.now(), true)));
    assert.equal(rfq!.status, rfqId === negotiating.id ? 'negotiating' : 'open');
    const shown = (await place.taker.get(`/v1/rfqs/${rfqId}`)).body;
    assert.equal(shown.status, rfq!.status);
    assert.equal((await quote(rfqId)).code, 'asset_closed');
  }
  assert.deepEqual(await book(), [elsewhere.id]);
  assert.equal((await quote(elsewhere.id)).status, 201);
  assert.equal((await quote(link.id)).code, 'asset_closed');
  const refused = await tryPost();
  assert.deepEqual([refused.status, refused.code], [409, 'asset_closed']);
  assert.match(
    refused.body.error,
    / is closed to trade for now: GET \/v1\/assets shows it enabled/,
  );
});

test('reopening brings back the same orders but those that ended meanwhile', async () => {
  const { usd } = place.market.assets;
  const stays = await post();
  const quoted = await post();
  await quote(quoted.id);
  const expires = await post({ ttlSeconds: 30 });
  const cancelled = await post();
  await close(usd);
  await place.taker.post(`/v1/rfqs/${cancelled.id}/cancel`);
  place.market.deps.advance(31_000);
  const before = (await told()).length;
  assert.equal((await reopen(usd)).orders, 2);
  const back = (await told()).slice(before);
  assert.deepEqual(
    back.map(({ kind, rfqId, again }) => [kind, rfqId, again]),
    [
      ['created', stays.id, true],
      ['created', quoted.id, true],
    ],
  );
  assert.deepEqual(JSON.parse(back[0]!.body), stays);
  assert.deepEqual(JSON.parse(back[1]!.body), { ...quoted, status: 'negotiating' });
  assert.deepEqual((await book()).sort(), [stays.id, quoted.id].sort());
  assert.ok(!(await kindsOf(expires.id)).slice(2).includes('created'));
});

test('an order both of whose assets closed comes back when both are open, told once each way', async () => {
  const { btc, usd, eth } = place.market.assets;
  const both = await post();
  const half = await post({ quoteAssetId: eth.id });
  await close(usd);
  await close(btc);
  assert.deepEqual(await kindsOf(both.id), ['created', 'cancelled']);
  await reopen(usd);
  assert.deepEqual(await kindsOf(both.id), ['created', 'cancelled']);
  assert.deepEqual(await book(), []);
  await reopen(btc);
  for (const { id } of [both, half]) {
    assert.deepEqual(await kindsOf(id), ['created', 'cancelled', 'created']);
  }
  assert.deepEqual((await book()).sort(), [both.id, half.id].sort());
});

test('each holds it closed by itself: it opens when nobody does', async () => {
  const { usd } = place.market.assets;
  await close(usd, 'checks');
  await close(usd, 'operator');
  assert.equal((await reopen(usd, 'checks')).state, 'closed');
  assert.equal((await reopen(usd, 'operator')).state, 'open');
  await close(usd, 'checks');
  await close(usd, 'settings');
  assert.deepEqual(Object.keys((await reopen(usd, 'operator')).closings), ['settings']);
  assert.equal((await reopen(usd, 'settings')).state, 'open');
  const again = await reopen(usd, 'settings');
  assert.deepEqual([again.changed, again.orders], [false, 0]);
});

test('the same reasons again change nothing, other reasons are kept with their time', async () => {
  const { usd } = place.market.assets;
  const first = await close(usd);
  place.market.deps.advance(1_000);
  const same = await close(usd);
  assert.deepEqual([same.changed, same.closings], [false, first.closings]);
  const next = await place.market.db.transaction((tx) =>
    closeAsset(tx, { assetId: usd.id, by: 'checks', at: at(), reasons: ['no liquidity'] }),
  );
  assert.deepEqual([next.changed, next.orders], [true, 0]);
  assert.notEqual(next.closings.checks?.at, first.closings.checks?.at);
});

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

test('delisting takes the orders off the book, of one that was closed nothing more', async () => {
  const { usd, eth } = place.market.assets;
  const { id } = await post();
  assert.equal((await delist(usd)).orders, 1);
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
  await close(eth);
  assert.equal((await delist(eth)).orders, 0);
});

test('an asset that is not there is bad_asset', async () => {
  const nobody = { ...place.market.assets.usd, id: '01a1fb07-751f-7744-b69c-bc76bd408690' };
  await assert.rejects(close(nobody), { code: 'bad_asset' });
});

test('what the settings leave out closes with its orders, and returns with them', async () => {
  const { btc, eth, usd } = place.market.assets;
  const settingsOf = ({ chain, symbol, address, decimals }: Asset) => ({
    chain,
    symbol,
    address,
    decimals,
  });
  const all = [btc, eth, usd].map(settingsOf);
  const { id } = await post();
  await seedAssets(place.market.db, place.market.deps, all.slice(0, 2));
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
  assert.match(
    (await findListing(place.market.db, usd.id))!.closings.settings!.reasons[0]!,
    /no longer among the curated assets/,
  );
  // A start that changes nothing tells nothing.
  await seedAssets(place.market.db, place.market.deps, all.slice(0, 2));
  const [, , back] = await seedAssets(place.market.db, place.market.deps, all);
  assert.deepEqual(back, usd);
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled', 'created']);
  // What an operator closed, no start opens; what an operator curated, none closes.
  await close(usd, 'operator');
  await seedAssets(place.market.db, place.market.deps, all);
  assert.equal((await findListing(place.market.db, usd.id))?.state, 'closed');
  await place.market.db.rows({
    name: 'test_listed',
    text: `update assets set source = 'api', verified = false, configured = false,
      closings = '{}' where id = $1`,
    values: [eth.id],
  });
  await place.market.db.transaction((tx) => curateAsset(tx, eth.id, 5n));
  await seedAssets(place.market.db, place.market.deps, [settingsOf(btc)]);
  const curated = await findListing(place.market.db, eth.id);
  assert.deepEqual(
    [curated?.state, curated?.asset.source, curated?.asset.verified, curated?.asset.highValueFrom],
    ['open', 'curated', true, 5n],
  );
  await seedAssets(place.market.db, place.market.deps, all);
});

test('a swap that was agreed goes on: its addresses, its steps and its list do not ask', async () => {
  const { usd } = place.market.assets;
  const { id } = await post();
  const { body } = await agreed(id);
  await close(usd);
  await delist(usd);
  const swapId = body.swap.id;
  const shown = await place.maker.get(`/v1/swaps/${swapId}`);
  assert.deepEqual([shown.status, shown.body.status], [200, 'agreed']);
  assert.ok(shown.body.next.length > 0);
  assert.deepEqual(await kindsOf(id), ['created', 'gone']);
  const set = await place.taker.post(`/v1/swaps/${swapId}/address`, {
    chain: 'bitcoin',
    address: `02${'11'.repeat(32)}`,
  });
  assert.notEqual(set.code, 'asset_closed');
});

/** Closes what the RFQs ask for, and how that is undone: one asset, or its whole chain. */
const switches = {
  asset: [
    (db = place.market.db) => close(place.market.assets.usd, 'checks', db),
    () => reopen(place.market.assets.usd),
  ],
  chain: [
    (db = place.market.db) =>
      db.transaction((tx) => haltChain(tx, { chain: 'evm-dev', reason: 'trouble', at: at() })),
    () => place.market.db.transaction((tx) => resumeChain(tx, 'evm-dev', at())),
  ],
} as const;

for (const [what, [shut, open]] of Object.entries(switches)) {
  test(`while its ${what} is being closed, posting and agreeing on it are refused at once`, async () => {
    const { other, taker } = place;
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
      if (what === 'asset') await post({ quoteAssetId: place.market.assets.eth.id });
      assert.equal((await taker.post(`/v1/rfqs/${unwanted.id}/cancel`)).status, 200);
    } finally {
      holding.resolve();
      await closing;
    }
    assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
  });

  test(`acceptances racing a closing of its ${what}: agreed before it, or refused`, async () => {
    for (let round = 0; round < 12; round += 1) {
      const { id } = await post();
      let closing: Promise<unknown> = Promise.resolve();
      const answer = await agreed(id, async () => {
        closing = shut(place.other);
      });
      await closing;
      const { status } = (await findRfq(place.market.db, id))!;
      assert.equal(answer.code, answer.status === 200 ? null : 'asset_closed');
      assert.equal(status, answer.status === 200 ? 'agreed' : 'negotiating');
      const expected = answer.status === 200 ? ['created', 'gone'] : ['created', 'cancelled'];
      assert.deepEqual(await kindsOf(id), expected);
      await open();
    }
  });

  test(`the last acceptance after its ${what} closed makes no swap; one before it stands`, async () => {
    const before = await post();
    assert.equal((await agreed(before.id)).status, 200);
    const { id } = await post();
    const answer = await agreed(id, async () => {
      await shut(place.other);
    });
    assert.deepEqual([answer.status, answer.code], [409, 'asset_closed']);
    assert.equal((await findRfq(place.market.db, id))?.status, 'negotiating');
    assert.deepEqual(await kindsOf(before.id), ['created', 'gone']);
    assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
  });
}

test('RFQs posted by two processes while an asset closes and reopens: told and shown the same', async () => {
  const { usd } = place.market.assets;
  const second = await buildApp({ ...place.market.deps, db: place.other });
  const posted: string[] = [];
  let stop = false;
  const lanes = Array.from({ length: 6 }, async (_, lane) => {
    const { key } = await place.market.trader();
    while (!stop) {
      const reply = await (lane % 2 === 0 ? place.market.app : second).inject({
        method: 'POST',
        url: '/v1/rfqs',
        headers: { authorization: `Bearer ${key}` },
        payload: {
          direction: 'sell_base',
          baseAssetId: place.market.assets.btc.id,
          baseAmount: '100000',
          quoteAssetId: usd.id,
          ttlSeconds: 600,
        },
      });
      if (reply.statusCode === 201) posted.push(reply.json().rfq.id);
      else assert.equal(reply.headers['x-parley-error'], 'asset_closed');
    }
  });
  for (let turn = 0; turn < 20; turn += 1) {
    await close(usd, 'checks', turn % 2 === 0 ? place.market.db : place.other);
    assert.deepEqual(await book(), []);
    await reopen(usd, 'checks', turn % 2 === 0 ? place.other : place.market.db);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await close(usd);
  stop = true;
  await Promise.all(lanes);
  await second.close();
  assert.ok(posted.length > 20, `only ${posted.length} posted`);
  const last = new Map<string, string[]>();
  for (const { rfqId, kind } of await told()) {
    last.set(rfqId, [...(last.get(rfqId) ?? []), kind]);
  }
  for (const id of posted) {
    const kinds = last.get(id) ?? [];
    // In turn, and off the book in the end.
    const expected = kinds.map((_, index) => (index % 2 === 0 ? 'created' : 'cancelled'));
    assert.deepEqual(kinds, expected, id);
    assert.equal(kinds.at(-1), 'cancelled');
  }
});

test('two assets of one order that change at once leave it told as it is', async () => {
  const { btc, usd } = place.market.assets;
  const { id } = await post();
  for (let round = 0; round < 10; round += 1) {
    await Promise.all([close(btc), close(usd, 'checks', place.other)]);
    assert.equal((await kindsOf(id)).at(-1), 'cancelled');
    await Promise.all([reopen(btc), reopen(usd, 'checks', place.other)]);
    assert.equal((await kindsOf(id)).at(-1), 'created');
  }
  assert.equal((await kindsOf(id)).length, 21);
});

test('a change that fails half-way is none: neither state nor frames', async () => {
  const { usd } = place.market.assets;
  const { id } = await post();
  const failing = place.market.db.transaction(async (tx) => {
    await closeAsset(tx, { assetId: usd.id, by: 'checks', at: at(), reasons });
    throw new Error('on purpose');
  });
  await assert.rejects(failing, /on purpose/);
  assert.equal((await findListing(place.market.db, usd.id))?.state, 'open');
  assert.deepEqual(await kindsOf(id), ['created']);
  await place.market.db.transaction((tx) => lockListings(tx));
});

test('orders in several pieces are told each once, oldest first', async () => {
  const { usd, btc } = place.market.assets;
  const count = 1_203;
  await place.market.db.rows({
    name: 'test_many',
    text: `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id,
        visibility, status, created_at, expires_at, updated_at)
      select gen_random_uuid(), $1, 'sell_base', $2, 100000, $3, 'public', 'open', now(),
        now() + interval '1 day', now()
      from generate_series(1, $4)`,
    values: [place.taker.accountId, btc.id, usd.id, count],
  });
  assert.equal((await close(usd)).orders, count);
  const ids = (await told()).map(({ rfqId }) => rfqId);
  assert.equal(new Set(ids).size, count);
  assert.deepEqual(ids, ids.toSorted());
});

type Step = { what: 'close' | 'reopen'; who: Closer; which: 'btc' | 'usd' };

test('whatever opens and closes, an order is on the book when both its assets are held by nobody', async () => {
  const step = fc.record<Step>({
    what: fc.constantFrom('close', 'reopen'),
    who: fc.constantFrom('settings', 'checks', 'operator'),
    which: fc.constantFrom('btc', 'usd'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { id } = await post();
      const held = { btc: new Set<Closer>(), usd: new Set<Closer>() };
      for (const { what, who, which } of steps) {
        await (what === 'close' ? close : reopen)(place.market.assets[which], who);
        if (what === 'close') held[which].add(who);
        else held[which].delete(who);
        if (what === 'reopen' && who === 'operator') held[which].delete('checks');
        const open = held.btc.size === 0 && held.usd.size === 0;
        const kinds = await kindsOf(id);
        assert.equal(kinds.at(-1), open ? 'created' : 'cancelled');
        const changes = kinds.slice(1).filter((kind, index) => kind === kinds[index]);
        assert.deepEqual(changes, []);
      }
      for (const asset of [place.market.assets.btc, place.market.assets.usd]) {
        for (const by of ['settings', 'operator'] as const) await reopen(asset, by);
      }
      await place.market.db.transaction((tx) =>
        cancelRfq(tx, place.market.deps, place.taker.accountId, id),
      );
    }),
    { numRuns: runs(15) },
  );
});
