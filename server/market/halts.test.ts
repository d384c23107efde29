// The kill switch: what halting a chain or an asset stops, for whom, and what it leaves alone. What
// races with it is in listing.test.ts, with closings of one asset.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { type Asset, insertListed } from '../db/assets.ts';
import type { Database } from '../db/database.ts';
import { listHalts, shareChain } from '../db/halts.ts';
import { findListing } from '../db/listing.ts';
import { buildApp } from '../edge/app.ts';
import { uuidv7 } from '../ports/ids.ts';
import { createMetrics } from '../ports/metrics.ts';
import { seedAssets } from './assets.ts';
import { createHaltsWatch, haltAsset, haltChain, resumeAsset, resumeChain } from './halts.ts';
import { closeAsset, reopenAsset } from './listing.ts';
import { ordersToClose } from './testing/orders.ts';

const { place, at, kindsOf, post, posted, quote, book } = ordersToClose();
const chain = 'evm-dev';
const reason = 'its nodes disagree';
const halt = (which = chain, db = place.market.db) =>
  db.transaction((tx) => haltChain(tx, { chain: which, reason, at: at() }));
const resume = (which = chain, db = place.market.db) =>
  db.transaction((tx) => resumeChain(tx, which, at()));
const haltOne = (asset: Asset, db = place.market.db) =>
  db.transaction((tx) => haltAsset(tx, asset.id, { reason, at: at() }));
const resumeOne = (asset: Asset) =>
  place.market.db.transaction((tx) => resumeAsset(tx, asset.id, at()));

test('a halted chain: no RFQ that touches it is posted, quoted, agreed or shown; others go on', async () => {
  const { btc, eth, usd } = place.market.assets;
  const asQuote = await posted();
  const asBase = await posted({ baseAssetId: eth.id, quoteAssetId: btc.id });
  const negotiating = await posted();
  assert.equal((await quote(negotiating.id)).status, 201);
  const changed = await halt();
  assert.deepEqual(changed, { changed: true, assets: 2, orders: 3 });
  assert.deepEqual(await book(), []);
  for (const { id } of [asQuote, asBase, negotiating]) {
    assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
    const refused = await quote(id);
    assert.deepEqual([refused.status, refused.code], [409, 'asset_closed']);
    const { status } = (await place.taker.get(`/v1/rfqs/${id}`)).body;
    assert.equal(status, id === negotiating.id ? 'negotiating' : 'open');
  }
  for (const quoteAssetId of [usd.id, eth.id]) {
    const refused = await post({ quoteAssetId });
    assert.deepEqual([refused.status, refused.code], [409, 'asset_closed']);
  }
  const { body } = await quote(asQuote.id);
  assert.match(
    body.error,
    / is halted by the operator for now with its whole chain since \d{4}-.*Z:/,
  );
  assert.match(body.error, /GET \/v1\/assets shows it enabled again when it is open/);
  assert.ok(!body.error.includes(reason), "the reason is the operator's own");
  const shown = (await place.taker.get('/v1/assets')).body.assets;
  const open = shown.filter((each: Asset) => each.enabled).map((each: Asset) => each.id);
  assert.deepEqual(open, [btc.id]);
  assert.deepEqual(await halt(), { changed: false, assets: 0, orders: 0 });

  assert.deepEqual(await resume(), { changed: true, assets: 2, orders: 3 });
  assert.deepEqual((await book()).sort(), [asQuote.id, asBase.id, negotiating.id].sort());
  for (const before of [asQuote, asBase]) {
    assert.deepEqual(await kindsOf(before.id), ['created', 'cancelled', 'created']);
    const { id, createdAt } = (await place.taker.get(`/v1/rfqs/${before.id}`)).body;
    assert.deepEqual([id, createdAt], [before.id, before.createdAt]);
  }
  assert.deepEqual(await resume(), { changed: false, assets: 0, orders: 0 });
});

test('another reason is shown from then on, and the halt is as old as it was', async () => {
  await halt();
  const [first] = await listHalts(place.market.db);
  await place.market.db.transaction((tx) =>
    haltChain(tx, { chain, reason: 'another', at: new Date(at().getTime() + 60_000) }),
  );
  const [again] = await listHalts(place.market.db);
  assert.deepEqual([again?.reason, again?.at], ['another', first?.at]);
});

test('a native coin can be halted by itself, and only its own switch lifts that', async () => {
  const { btc, usd } = place.market.assets;
  const rfq = await posted();
  assert.equal((await haltOne(btc)).orders, 1);
  assert.equal((await post()).code, 'asset_closed');
  const operator = { assetId: btc.id, by: 'operator' as const, at: at() };
  const reopened = await place.market.db.transaction((tx) => reopenAsset(tx, operator));
  assert.equal(reopened.state, 'closed');
  assert.equal((await halt('bitcoin')).orders, 0);
  assert.equal((await resumeOne(btc)).state, 'closed');
  assert.deepEqual(await kindsOf(rfq.id), ['created', 'cancelled']);
  await place.market.db.transaction((tx) =>
    closeAsset(tx, { assetId: usd.id, by: 'checks', at: at(), reasons: ['x'] }),
  );
  // Its place.other side closed meanwhile: it stays away until that opens too.
  assert.equal((await resume('bitcoin')).orders, 0);
  const checks = { assetId: usd.id, by: 'checks' as const, at: at() };
  assert.equal((await place.market.db.transaction((tx) => reopenAsset(tx, checks))).orders, 1);
  assert.deepEqual(await kindsOf(rfq.id), ['created', 'cancelled', 'created']);
});

test('both chains of an RFQ halted: it is told once each way', async () => {
  const { id } = await posted();
  await halt();
  await halt('bitcoin');
  await resume();
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
  await resume('bitcoin');
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled', 'created']);
});

test('a halt is there after a restart, for what the settings add and for what is listed meanwhile', async () => {
  await halt();
  const settingsOf = ({ symbol, address, decimals, chain: of }: Asset) => {
    return { chain: of, symbol, address, decimals };
  };
  const { btc, eth, usd } = place.market.assets;
  const address = `0x${randomBytes(20).toString('hex')}`;
  const fresh = { chain, symbol: 'NEW', address, decimals: 6 };
  const all = [btc, eth, usd].map(settingsOf);
  const seeded = await seedAssets(place.market.db, place.market.deps, [...all, fresh]);
  assert.deepEqual(
    seeded.map(({ symbol, enabled }) => [symbol, enabled]),
    [
      ['BTC', true],
      ['ETH', false],
      ['USD', false],
      ['NEW', false],
    ],
  );
  const { closings } = (await findListing(place.market.db, seeded[3]!.id))!;
  assert.deepEqual(closings.chain?.reasons, [reason]);
  assert.match(closings.chain?.at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const listed = await place.market.db.transaction(async (tx) => {
    await shareChain(tx, chain);
    return insertListed(tx, someToken(), at(), at(), at());
  });
  assert.equal(listed?.enabled, false);
  await resume();
  for (const { id } of [seeded[3]!, listed!]) {
    assert.equal((await findListing(place.market.db, id))?.state, 'open');
  }
  await seedAssets(place.market.db, place.market.deps, all);
});

const someToken = () => ({
  id: uuidv7(place.market.deps.now(), place.market.deps.randomBytes),
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
    const list = async (db: Database, pause: boolean) =>
      db.transaction(async (tx) => {
        await shareChain(tx, chain);
        const asset = await insertListed(tx, token, at(), at(), at());
        begun.resolve();
        if (pause) await holding.promise;
        return asset;
      });
    const halting = async (db: Database, pause: boolean) =>
      db.transaction(async (tx) => {
        await haltChain(tx, { chain, reason, at: at() });
        begun.resolve();
        if (pause) await holding.promise;
      });
    const one = first === 'listing' ? list(place.other, true) : halting(place.other, true);
    await begun.promise;
    const two =
      first === 'listing' ? halting(place.market.db, false) : list(place.market.db, false);
    holding.resolve();
    await Promise.all([one, two]);
    assert.equal((await findListing(place.market.db, token.id))?.state, 'closed', first);
    await resume();
  }
});

test('two servers: what one halts, the other refuses at once and shows within its pages’ age', async () => {
  const { id } = await posted();
  const second = await buildApp({ ...place.market.deps, db: place.other });
  const headers = { authorization: `Bearer ${place.maker.key}` };
  const ids = async (): Promise<string[]> => {
    const reply = await second.inject({ url: '/v1/rfqs?limit=100', headers });
    return reply.json().rfqs.map((each: { id: string }) => each.id);
  };
  try {
    assert.ok((await ids()).includes(id));
    await halt();
    const payload = { quoteAmount: '65000000' };
    const url = `/v1/rfqs/${id}/quotes`;
    const refused = await second.inject({ method: 'POST', url, headers, payload });
    assert.equal(refused.headers['x-parley-error'], 'asset_closed');
    // book.ts reads a page again after 250 ms.
    await sleep(260);
    assert.ok(!(await ids()).includes(id));
  } finally {
    await second.close();
  }
});

test('every process says in its log and metrics what is halted, and that it no longer is', async () => {
  const lines: { msg: string; chain: string; reason?: string }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const metrics = createMetrics('parley');
  await halt();
  await haltOne(place.market.assets.btc);
  const watching = createHaltsWatch({ ...place.market.deps, log, metrics });
  watching.start();
  const until = async (text: string) => {
    while (!(await metrics.registry.metrics()).includes(text)) await sleep(20);
  };
  try {
    await until(`parley_chain_halted{chain="${chain}"} 1`);
    await until('parley_halted_assets 1');
    assert.deepEqual([lines[0]?.chain, lines[0]?.reason], [chain, reason]);
    await resume();
    await until(`parley_chain_halted{chain="${chain}"} 0`);
    assert.match(lines[1]?.msg ?? '', /resumed/);
  } finally {
    await watching.stop();
  }
});
