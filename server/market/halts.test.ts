// The kill switch: what halting a chain or an asset stops, for whom, and what it leaves alone.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { type TestMarket, type Trader, testMarket } from '../../test/support/trading.ts';
import { type Asset, insertListed } from '../db/assets.ts';
import { connect, type Database } from '../db/database.ts';
import { listHalts, shareChain } from '../db/halts.ts';
import { findListing } from '../db/listing.ts';
import { findRfq } from '../db/rfqs.ts';
import { buildApp } from '../edge/app.ts';
import { uuidv7 } from '../ports/ids.ts';
import { createMetrics } from '../ports/metrics.ts';
import { seedAssets } from './assets.ts';
import { createHaltsWatch, haltAsset, haltChain, resumeAsset, resumeChain } from './halts.ts';
import { closeAsset, reopenAsset } from './listing.ts';

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
  for (const text of [
    'delete from outbox where account_id is null',
    'delete from halts',
    `update assets set closings = '{}', delisted_at = null`,
    `update rfqs set status = 'cancelled' where status in ('open', 'negotiating')`,
  ]) {
    await market.db.rows({ name: '', text, values: [] });
  }
});

const chain = 'evm-dev';
const reason = 'its nodes disagree';
const at = () => new Date(market.deps.now());
const halt = (which = chain, db = market.db) =>
  db.transaction((tx) => haltChain(tx, { chain: which, reason, at: at() }));
const resume = (which = chain, db = market.db) =>
  db.transaction((tx) => resumeChain(tx, which, at()));
const haltOne = (asset: Asset, db = market.db) =>
  db.transaction((tx) => haltAsset(tx, asset.id, { reason, at: at() }));
const resumeOne = (asset: Asset) => market.db.transaction((tx) => resumeAsset(tx, asset.id, at()));

async function kindsOf(id: string): Promise<string[]> {
  const rows = await market.db.rows<{ topic: string }>({
    name: 'test_kinds',
    text: `select topic from outbox where account_id is null and payload ->> 'rfqId' = $1
      order by id`,
    values: [id],
  });
  return rows.map(({ topic }) => topic.slice('feed.'.length));
}

const post = (fields: Record<string, unknown> = {}) => {
  const { btc, usd } = market.assets;
  const wanted = { baseAssetId: btc.id, quoteAssetId: usd.id, baseAmount: '100000' };
  const rest = { direction: 'sell_base', ttlSeconds: 600 };
  return taker.post('/v1/rfqs', { ...wanted, ...rest, ...fields });
};
const posted = async (fields: Record<string, unknown> = {}) => {
  const { status, body } = await post(fields);
  assert.equal(status, 201, JSON.stringify(body));
  return body.rfq;
};
const quote = (id: string) => maker.post(`/v1/rfqs/${id}/quotes`, { quoteAmount: '65000000' });

/** The book of a process that changed nothing itself and keeps no page. */
async function book(db = other): Promise<string[]> {
  const app = await buildApp({ ...market.deps, db: { ...db } });
  const headers = { authorization: `Bearer ${taker.key}` };
  const reply = await app.inject({ url: '/v1/rfqs?limit=100', headers });
  await app.close();
  return reply.json().rfqs.map(({ id }: { id: string }) => id);
}

/** Both accept; `meanwhile` runs before the second does. */
async function agreed(rfqId: string, meanwhile = async () => {}) {
  const { thread } = (await quote(rfqId)).body;
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

test('a halted chain: no RFQ that touches it is posted, quoted, agreed or shown; others go on', async () => {
  const { btc, eth, usd } = market.assets;
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
    const { status } = (await taker.get(`/v1/rfqs/${id}`)).body;
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
  const shown = (await taker.get('/v1/assets')).body.assets;
  const open = shown.filter((each: Asset) => each.enabled).map((each: Asset) => each.id);
  assert.deepEqual(open, [btc.id]);
  assert.deepEqual(await halt(), { changed: false, assets: 0, orders: 0 });

  assert.deepEqual(await resume(), { changed: true, assets: 2, orders: 3 });
  assert.deepEqual((await book()).sort(), [asQuote.id, asBase.id, negotiating.id].sort());
  for (const before of [asQuote, asBase]) {
    assert.deepEqual(await kindsOf(before.id), ['created', 'cancelled', 'created']);
    const { id, createdAt } = (await taker.get(`/v1/rfqs/${before.id}`)).body;
    assert.deepEqual([id, createdAt], [before.id, before.createdAt]);
  }
  assert.deepEqual(await resume(), { changed: false, assets: 0, orders: 0 });
});

test('another reason is shown from then on, and the halt is as old as it was', async () => {
  await halt();
  const [first] = await listHalts(market.db);
  await market.db.transaction((tx) =>
    haltChain(tx, { chain, reason: 'another', at: new Date(at().getTime() + 60_000) }),
  );
  const [again] = await listHalts(market.db);
  assert.deepEqual([again?.reason, again?.at], ['another', first?.at]);
});

test('a native coin can be halted by itself, and only its own switch lifts that', async () => {
  const { btc, usd } = market.assets;
  const rfq = await posted();
  assert.equal((await haltOne(btc)).orders, 1);
  assert.equal((await post()).code, 'asset_closed');
  const operator = { assetId: btc.id, by: 'operator' as const, at: at() };
  const reopened = await market.db.transaction((tx) => reopenAsset(tx, operator));
  assert.equal(reopened.state, 'closed');
  assert.equal((await halt('bitcoin')).orders, 0);
  assert.equal((await resumeOne(btc)).state, 'closed');
  assert.deepEqual(await kindsOf(rfq.id), ['created', 'cancelled']);
  await market.db.transaction((tx) =>
    closeAsset(tx, { assetId: usd.id, by: 'checks', at: at(), reasons: ['x'] }),
  );
  // Its other side closed meanwhile: it stays away until that opens too.
  assert.equal((await resume('bitcoin')).orders, 0);
  const checks = { assetId: usd.id, by: 'checks' as const, at: at() };
  assert.equal((await market.db.transaction((tx) => reopenAsset(tx, checks))).orders, 1);
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
  const { btc, eth, usd } = market.assets;
  const address = `0x${randomBytes(20).toString('hex')}`;
  const fresh = { chain, symbol: 'NEW', address, decimals: 6 };
  const all = [btc, eth, usd].map(settingsOf);
  const seeded = await seedAssets(market.db, market.deps, [...all, fresh]);
  assert.deepEqual(
    seeded.map(({ symbol, enabled }) => [symbol, enabled]),
    [
      ['BTC', true],
      ['ETH', false],
      ['USD', false],
      ['NEW', false],
    ],
  );
  const { closings } = (await findListing(market.db, seeded[3]!.id))!;
  assert.deepEqual(closings.chain?.reasons, [reason]);
  assert.match(closings.chain?.at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const listed = await market.db.transaction(async (tx) => {
    await shareChain(tx, chain);
    return insertListed(tx, someToken(), at(), at(), at());
  });
  assert.equal(listed?.enabled, false);
  await resume();
  for (const { id } of [seeded[3]!, listed!]) {
    assert.equal((await findListing(market.db, id))?.state, 'open');
  }
  await seedAssets(market.db, market.deps, all);
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
    const one = first === 'listing' ? list(other, true) : halting(other, true);
    await begun.promise;
    const two = first === 'listing' ? halting(market.db, false) : list(market.db, false);
    holding.resolve();
    await Promise.all([one, two]);
    assert.equal((await findListing(market.db, token.id))?.state, 'closed', first);
    await resume();
  }
});

test('an agreement that commits first stands and goes on; one after the halt is refused', async () => {
  const before = await posted();
  assert.equal((await agreed(before.id)).status, 200);
  const after = await posted();
  const refused = await agreed(after.id, async () => {
    await halt(chain, other);
  });
  assert.deepEqual([refused.status, refused.code], [409, 'asset_closed']);
  assert.equal((await findRfq(market.db, after.id))?.status, 'negotiating');
  assert.deepEqual(await kindsOf(before.id), ['created', 'gone']);
  assert.deepEqual(await kindsOf(after.id), ['created', 'cancelled']);
});

test('while the halt is being written nobody agrees or posts on its chain, and it waits for who does', async () => {
  const { id } = await posted();
  const holding = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const halting = other.transaction(async (tx) => {
    await haltChain(tx, { chain, reason, at: at() });
    begun.resolve();
    await holding.promise;
  });
  await begun.promise;
  try {
    assert.equal((await post()).code, 'asset_closed');
    assert.equal((await agreed(id)).code, 'asset_closed');
  } finally {
    holding.resolve();
    await halting;
  }
  assert.deepEqual(await kindsOf(id), ['created', 'cancelled']);
});

test('acceptances racing a halt: agreed before it, or refused, and told as it is', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { id } = await posted();
    let halting: Promise<unknown> = Promise.resolve();
    const answer = await agreed(id, async () => {
      halting = halt(chain, other);
    });
    await halting;
    const { status } = (await findRfq(market.db, id))!;
    assert.equal(answer.code, answer.status === 200 ? null : 'asset_closed');
    assert.equal(status, answer.status === 200 ? 'agreed' : 'negotiating');
    const expected = answer.status === 200 ? ['created', 'gone'] : ['created', 'cancelled'];
    assert.deepEqual(await kindsOf(id), expected);
    await resume();
  }
});

test('two servers: what one halts, the other refuses at once and shows within its pages’ age', async () => {
  const { id } = await posted();
  const second = await buildApp({ ...market.deps, db: other });
  const headers = { authorization: `Bearer ${maker.key}` };
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
  await haltOne(market.assets.btc);
  const watching = createHaltsWatch({ ...market.deps, log, metrics });
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
