// What closing, reopening and delisting an asset does to its orders, and who may undo what.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { type TestMarket, type Trader, testMarket } from '../../test/support/trading.ts';
import type { Asset } from '../db/assets.ts';
import { connect, type Database } from '../db/database.ts';
import { type Closer, findListing, lockListings } from '../db/listing.ts';
import { findRfq } from '../db/rfqs.ts';
import { buildApp } from '../edge/app.ts';
import { holdOpen, seedAssets } from './assets.ts';
import { closeAsset, curateAsset, delistAsset, reopenAsset } from './listing.ts';
import { cancelRfq } from './rfqs.ts';
import { rfqView } from './views.ts';

let market: TestMarket;
let taker: Trader;
let maker: Trader;
/** Another pool on the same database: what another process would do. */
let other: Database;

before(async () => {
  market = await testMarket();
  [taker, maker] = [await market.trader(), await market.trader()];
  other = connect(market.url);
});
after(async () => {
  await other.close();
  await market.close();
});
beforeEach(async () => {
  await market.db.rows({
    name: '',
    text: `delete from outbox where account_id is null`,
    values: [],
  });
  await market.db.rows({
    name: '',
    text: `update assets set closings = '{}', delisted_at = null`,
    values: [],
  });
  await market.db.rows({
    name: '',
    text: `update rfqs set status = 'cancelled' where status in ('open', 'negotiating')`,
    values: [],
  });
});

const reasons = ['its contract can be paused'];
const at = () => new Date(market.deps.now());
const close = (asset: Asset, by: Closer = 'checks', db = market.db) =>
  db.transaction((tx) => closeAsset(tx, { assetId: asset.id, by, at: at(), reasons }));
const reopen = (asset: Asset, by: Closer = 'checks', db = market.db) =>
  db.transaction((tx) => reopenAsset(tx, { assetId: asset.id, by, at: at() }));
const delist = (asset: Asset, by: Closer = 'checks') =>
  market.db.transaction((tx) => delistAsset(tx, { assetId: asset.id, by, at: at(), reasons }));

type Told = { kind: string; rfqId: string; body: string; again: boolean };

/** What waits for the feed, oldest first; it does not run here. */
async function told(): Promise<Told[]> {
  const rows = await market.db.rows<{ topic: string; payload: Told }>({
    name: 'test_told',
    text: `select topic, payload from outbox where account_id is null order by id`,
    values: [],
  });
  return rows.map(({ topic, payload }) => ({
    kind: topic.slice('feed.'.length),
    rfqId: payload.rfqId,
    body: payload.body,
    again: payload.again ?? false,
  }));
}

const kindsOf = async (id: string) =>
  (await told()).filter(({ rfqId }) => rfqId === id).map(({ kind }) => kind);

const post = async (fields: Record<string, unknown> = {}, by = taker) => {
  const { btc, usd } = market.assets;
  const wanted = { baseAssetId: btc.id, quoteAssetId: usd.id, baseAmount: '100000' };
  const rest = { direction: 'sell_base', ttlSeconds: 600 };
  const { status, body } = await by.post('/v1/rfqs', { ...wanted, ...rest, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.rfq;
};

const book = async (): Promise<string[]> => {
  // Past the pages that the application keeps: the change was not made by it.
  const app = await buildApp({ ...market.deps, db: { ...market.db } });
  const headers = { authorization: `Bearer ${taker.key}` };
  const reply = await app.inject({ url: '/v1/rfqs?limit=100', headers });
  await app.close();
  return reply.json().rfqs.map(({ id }: { id: string }) => id);
};

const quote = (id: string) => maker.post(`/v1/rfqs/${id}/quotes`, { quoteAmount: '65000000' });

test('closing takes exactly its live orders off the book, told as they are, status unchanged', async () => {
  const { usd, eth, btc } = market.assets;
  const asQuote = await post();
  const asBase = await post({ baseAssetId: usd.id, quoteAssetId: btc.id, direction: 'buy_base' });
  const negotiating = await post();
  assert.equal((await quote(negotiating.id)).status, 201);
  const elsewhere = await post({ quoteAssetId: eth.id });
  const cancelled = await post();
  await taker.post(`/v1/rfqs/${cancelled.id}/cancel`);
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
    const rfq = await findRfq(market.db, rfqId);
    assert.equal(body, JSON.stringify(rfqView(rfq!, market.deps.now(), true)));
    assert.equal(rfq!.status, rfqId === negotiating.id ? 'negotiating' : 'open');
    const shown = (await taker.get(`/v1/rfqs/${rfqId}`)).body;
    assert.equal(shown.status, rfq!.status);
    assert.equal((await quote(rfqId)).code, 'asset_closed');
  }
  assert.deepEqual(await book(), [elsewhere.id]);
  assert.equal((await quote(elsewhere.id)).status, 201);
  assert.equal((await quote(link.id)).code, 'asset_closed');
  const refused = await taker.post('/v1/rfqs', {
    direction: 'sell_base',
    baseAssetId: btc.id,
    baseAmount: '100000',
    quoteAssetId: usd.id,
    ttlSeconds: 600,
  });
  assert.deepEqual([refused.status, refused.code], [409, 'asset_closed']);
  assert.match(
    refused.body.error,
    / is closed to trade for now: GET \/v1\/assets shows it enabled/,
  );
});

test('reopening brings back the same orders but those that ended meanwhile', async () => {
  const { usd } = market.assets;
  const stays = await post();
  const quoted = await post();
  await quote(quoted.id);
  const expires = await post({ ttlSeconds: 30 });
  const cancelled = await post();
  await close(usd);
  await taker.post(`/v1/rfqs/${cancelled.id}/cancel`);
  market.deps.advance(31_000);
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
  const { btc, usd, eth } = market.assets;
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
  const { usd } = market.assets;
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
  const { usd } = market.assets;
  const first = await close(usd);
  market.deps.advance(1_000);
  const same = await close(usd);
  assert.deepEqual([same.changed, same.closings], [false, first.closings]);
  const next = await market.db.transaction((tx) =>
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
  const { usd, eth } = market.assets;
  const { id } = await post();
  assert.equal((await delist(usd)).orders, 1);
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
  await close(eth);
  assert.equal((await delist(eth)).orders, 0);
});

test('an asset that is not there is bad_asset', async () => {
  const nobody = { ...market.assets.usd, id: '01a1fb07-751f-7744-b69c-bc76bd408690' };
  await assert.rejects(close(nobody), { code: 'bad_asset' });
});

test('what the settings leave out closes with its orders, and returns with them', async () => {
  const { btc, eth, usd } = market.assets;
  const settingsOf = ({ chain, symbol, address, decimals }: Asset) => ({
    chain,
    symbol,
    address,
    decimals,
  });
  const all = [btc, eth, usd].map(settingsOf);
  const { id } = await post();
  await seedAssets(market.db, market.deps, all.slice(0, 2));
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
  assert.match(
    (await findListing(market.db, usd.id))!.closings.settings!.reasons[0]!,
    /no longer among the curated assets/,
  );
  // A start that changes nothing tells nothing.
  await seedAssets(market.db, market.deps, all.slice(0, 2));
  const [, , back] = await seedAssets(market.db, market.deps, all);
  assert.deepEqual(back, usd);
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled', 'created']);
  // What an operator closed, no start opens; what an operator curated, none closes.
  await close(usd, 'operator');
  await seedAssets(market.db, market.deps, all);
  assert.equal((await findListing(market.db, usd.id))?.state, 'closed');
  await market.db.rows({
    name: 'test_listed',
    text: `update assets set source = 'api', verified = false, configured = false,
      closings = '{}' where id = $1`,
    values: [eth.id],
  });
  await market.db.transaction((tx) => curateAsset(tx, eth.id, 5n));
  await seedAssets(market.db, market.deps, [settingsOf(btc)]);
  const curated = await findListing(market.db, eth.id);
  assert.deepEqual(
    [curated?.state, curated?.asset.source, curated?.asset.verified, curated?.asset.highValueFrom],
    ['open', 'curated', true, 5n],
  );
  await seedAssets(market.db, market.deps, all);
});

async function agreed(rfqId: string, meanwhile = async () => {}) {
  const thread = (await quote(rfqId)).body.thread;
  const hashlock = Buffer.from(market.deps.randomBytes(32)).toString('hex');
  const accept = (by: Trader, side: string) =>
    by.post(`/v1/threads/${thread.id}/accept`, {
      quoteAmount: '65000000',
      ...(thread.initiator === side ? { hashlock } : {}),
    });
  assert.equal((await accept(taker, 'taker')).status, 200);
  await meanwhile();
  return accept(maker, 'maker');
}

test('a swap that was agreed goes on: its addresses, its steps and its list do not ask', async () => {
  const { usd } = market.assets;
  const { id } = await post();
  const { body } = await agreed(id);
  await close(usd);
  await delist(usd);
  const swapId = body.swap.id;
  const shown = await maker.get(`/v1/swaps/${swapId}`);
  assert.deepEqual([shown.status, shown.body.status], [200, 'agreed']);
  assert.ok(shown.body.next.length > 0);
  assert.deepEqual(await kindsOf(id), ['created', 'gone']);
  const set = await taker.post(`/v1/swaps/${swapId}/address`, {
    chain: 'bitcoin',
    address: `02${'11'.repeat(32)}`,
  });
  assert.notEqual(set.code, 'asset_closed');
});

test('the last acceptance of a closed asset makes no swap', async () => {
  const { usd } = market.assets;
  const { id } = await post();
  const answer = await agreed(id, async () => {
    await close(usd);
  });
  assert.deepEqual([answer.status, answer.code], [409, 'asset_closed']);
  assert.equal((await findRfq(market.db, id))?.status, 'negotiating');
});

test('while it is being closed, posting and agreeing on it are refused at once, others are not', async () => {
  const { usd, eth } = market.assets;
  const { id } = await post();
  const unwanted = await post();
  const holding = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const closing = other.transaction(async (tx) => {
    await closeAsset(tx, { assetId: usd.id, by: 'checks', at: at(), reasons });
    begun.resolve();
    await holding.promise;
  });
  await begun.promise;
  try {
    const wanted = { direction: 'sell_base', baseAmount: '100000', ttlSeconds: 600 };
    const pair = { baseAssetId: market.assets.btc.id, quoteAssetId: usd.id };
    const refused = await taker.post('/v1/rfqs', { ...wanted, ...pair });
    assert.deepEqual([refused.status, refused.code], [409, 'asset_closed']);
    assert.match(refused.body.error, /being closed or reopened/);
    assert.equal((await agreed(id)).code, 'asset_closed');
    await post({ quoteAssetId: eth.id });
    assert.equal((await taker.post(`/v1/rfqs/${unwanted.id}/cancel`)).status, 200);
  } finally {
    holding.resolve();
    await closing;
  }
});

test('RFQs posted by two processes while an asset closes and reopens: told and shown the same', async () => {
  const { usd } = market.assets;
  const second = await buildApp({ ...market.deps, db: other });
  const posted: string[] = [];
  let stop = false;
  const lanes = Array.from({ length: 6 }, async (_, lane) => {
    const { key } = await market.trader();
    while (!stop) {
      const reply = await (lane % 2 === 0 ? market.app : second).inject({
        method: 'POST',
        url: '/v1/rfqs',
        headers: { authorization: `Bearer ${key}` },
        payload: {
          direction: 'sell_base',
          baseAssetId: market.assets.btc.id,
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
    await close(usd, 'checks', turn % 2 === 0 ? market.db : other);
    assert.deepEqual(await book(), []);
    await reopen(usd, 'checks', turn % 2 === 0 ? other : market.db);
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

test('acceptances racing a closing: agreed before it, or refused', async () => {
  const { usd } = market.assets;
  for (let round = 0; round < 12; round += 1) {
    const { id } = await post();
    let closing: Promise<unknown> = Promise.resolve();
    const answer = await agreed(id, async () => {
      closing = close(usd, 'checks', other);
    });
    await closing;
    const { status } = (await findRfq(market.db, id))!;
    assert.equal(answer.code, answer.status === 200 ? null : 'asset_closed');
    assert.equal(status, answer.status === 200 ? 'agreed' : 'negotiating');
    const expected = answer.status === 200 ? ['created', 'gone'] : ['created', 'cancelled'];
    assert.deepEqual(await kindsOf(id), expected);
    await reopen(usd);
  }
});

test('two assets of one order that change at once leave it told as it is', async () => {
  const { btc, usd } = market.assets;
  const { id } = await post();
  for (let round = 0; round < 10; round += 1) {
    await Promise.all([close(btc), close(usd, 'checks', other)]);
    assert.equal((await kindsOf(id)).at(-1), 'cancelled');
    await Promise.all([reopen(btc), reopen(usd, 'checks', other)]);
    assert.equal((await kindsOf(id)).at(-1), 'created');
  }
  assert.equal((await kindsOf(id)).length, 21);
});

test('a change that fails half-way is none: neither state nor frames', async () => {
  const { usd } = market.assets;
  const { id } = await post();
  const failing = market.db.transaction(async (tx) => {
    await closeAsset(tx, { assetId: usd.id, by: 'checks', at: at(), reasons });
    throw new Error('on purpose');
  });
  await assert.rejects(failing, /on purpose/);
  assert.equal((await findListing(market.db, usd.id))?.state, 'open');
  assert.deepEqual(await kindsOf(id), ['created']);
  await market.db.transaction((tx) => lockListings(tx));
});

test('orders in several pieces are told each once, oldest first', async () => {
  const { usd, btc } = market.assets;
  const count = 1_203;
  await market.db.rows({
    name: 'test_many',
    text: `insert into rfqs (id, creator_id, direction, base_asset_id, base_amount, quote_asset_id,
        visibility, status, created_at, expires_at, updated_at)
      select gen_random_uuid(), $1, 'sell_base', $2, 100000, $3, 'public', 'open', now(),
        now() + interval '1 day', now()
      from generate_series(1, $4)`,
    values: [taker.accountId, btc.id, usd.id, count],
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
        await (what === 'close' ? close : reopen)(market.assets[which], who);
        if (what === 'close') held[which].add(who);
        else held[which].delete(who);
        if (what === 'reopen' && who === 'operator') held[which].delete('checks');
        const open = held.btc.size === 0 && held.usd.size === 0;
        const kinds = await kindsOf(id);
        assert.equal(kinds.at(-1), open ? 'created' : 'cancelled');
        const changes = kinds.slice(1).filter((kind, index) => kind === kinds[index]);
        assert.deepEqual(changes, []);
      }
      for (const asset of [market.assets.btc, market.assets.usd]) {
        for (const by of ['settings', 'operator'] as const) await reopen(asset, by);
      }
      await market.db.transaction((tx) => cancelRfq(tx, market.deps, taker.accountId, id));
    }),
    { numRuns: runs(15) },
  );
});
