// MakerFeed against the real feed, through connections that are cut, held up and moved.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, type TestContext, test } from 'node:test';
import { type FeedMarket, feedMarket } from '@parley/market/edge/testing/feed-market.ts';
import { parseAddress } from '@parley/market/market/addresses.ts';
import { handOut } from '@parley/market/webhooks/hand-out.ts';
import { faultProxy } from '@parley/verify/test/support/fault-proxy.ts';
import { someAddress, type Trader } from '@parley/verify/test/support/trading.ts';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { type AssetPair, openBook } from './book.ts';
import { QuoteError } from './errors.ts';
import { type FeedEvent, type MakerFeed, type MakerFeedOptions, makerFeed } from './feed.ts';
import { running } from './testing/placed.ts';

let market: FeedMarket;
let taker: Trader;

before(async () => {
  market = await feedMarket();
  taker = await market.trader();
});
after(() => market.close());

const portOf = (url: string) => Number(new URL(url).port);
/** Closed with the test. */
function opened(t: TestContext, options: MakerFeedOptions): MakerFeed {
  const feed = makerFeed(options);
  t.after(() => feed.close());
  return feed;
}

/** The feed's words about the book. */
function telling() {
  const emitted: string[] = [];
  const onChange: MakerFeedOptions['onChange'] = ({ kind, rfq }) => {
    emitted.push(`${kind} ${rfq.id}`);
  };
  return { emitted, onChange };
}

/** Through a proxy of its own. */
async function proxied(t: TestContext, trader: Trader, more: Partial<MakerFeedOptions> = {}) {
  const proxy = await faultProxy(portOf(market.at));
  t.after(() => proxy.close());
  const baseUrl = `http://127.0.0.1:${proxy.port}`;
  const feed = opened(t, { baseUrl, key: trader.key, random: () => 0.01, ...more });
  await feed.ready;
  return { proxy, feed };
}

test('the book is there when it is ready, and follows what comes and goes', async (t) => {
  const { id: before } = await market.rfq(taker);
  const { key } = await market.trader();
  const { emitted, onChange } = telling();
  const feed = opened(t, { baseUrl: market.at, key, onChange });
  await feed.ready;
  assert.equal(feed.state(), 'live');
  assert.ok(feed.book.has(before));
  const { id } = await market.rfq(taker);
  await waitUntil(() => feed.book.has(id));
  await taker.post(`/v1/rfqs/${id}/cancel`);
  await waitUntil(() => !feed.book.has(id));
  assert.deepEqual(emitted.slice(-2), [`created ${id}`, `cancelled ${id}`]);
});

test('a quote has its thread, a refusal its code, and a bad amount is no silence', async (t) => {
  const feed = opened(t, { baseUrl: market.at, key: (await market.trader()).key });
  const { id } = await market.rfq(taker);
  const { threadId } = await feed.quote(id, 65_000_000n);
  assert.equal((await taker.get(`/v1/threads/${threadId}`)).body.quoteAmount, '65000000');
  const { threadId: again } = await feed.quote(id.toUpperCase(), '64000000');
  assert.equal(again, threadId);
  const refused = (rfqId: string, amount: string, code: string) =>
    assert.rejects(feed.quote(rfqId, amount), (error: QuoteError) => {
      assert.deepEqual([error.fault, error.code], ['refused', code], error.message);
      return error instanceof QuoteError;
    });
  await refused('nothing', '1', 'unknown_rfq');
  await refused(id, '0', 'bad_amount');
  await taker.post(`/v1/rfqs/${id}/cancel`);
  await refused(id, '63000000', 'rfq_gone');
  const { btc, usd } = market.assets;
  const pair = { baseAssetId: btc.id, quoteAssetId: usd.id };
  const terms = { direction: 'sell_base', quoteAmount: '65000000', validForSeconds: 60 } as const;
  const publish = (baseAmount: string) =>
    feed.publishLevels({ ...pair, levels: [{ ...terms, baseAmount }] });
  const [published, bad] = await Promise.allSettled([publish('100000'), publish('1')]);
  assert.equal(published.status === 'fulfilled' && published.value.published, 1);
  assert.equal(bad.status === 'rejected' && bad.reason.code, 'amount_too_small');
});

test('after a cut it resumes: nothing is missed, and nothing told twice', async (t) => {
  const { emitted, onChange } = telling();
  const { proxy, feed } = await proxied(t, await market.trader(), { onChange });
  emitted.length = 0;
  const expected: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    proxy.cut();
    const { id } = await market.rfq(taker);
    expected.push(`created ${id}`);
    if (round % 2 === 0) {
      await taker.post(`/v1/rfqs/${id}/cancel`);
      expected.push(`cancelled ${id}`);
    }
    await waitUntil(() => emitted.length === expected.length);
  }
  assert.deepEqual(emitted, expected);
  assert.equal(feed.state(), 'live');
});

test('a book of more than a snapshot is whole when it is ready, and stays so', async (t) => {
  const own = await feedMarket();
  t.after(() => own.close());
  const asks = await own.trader();
  const maker = await own.trader();
  const ids: string[] = [];
  for (let count = 0; count < 250; count += 1) {
    const { id } = await own.rfq(count % 50 === 7 ? maker : asks);
    if (count % 50 !== 7) ids.push(id);
  }
  const feed = opened(t, { baseUrl: own.at, key: maker.key });
  await feed.ready;
  assert.deepEqual([...feed.book.keys()].sort(), ids.sort());
  const { btc, eth, usd } = own.assets;
  const other = await own.rfq(asks, { quoteAssetId: eth.id, baseAmount: '200000' });
  const bookOf = async (pairs: AssetPair[]) => {
    const book = openBook({ baseUrl: own.at, key: maker.key, pairs });
    t.after(() => book.close());
    await book.ready;
    return [...book.rfqs.keys()].sort();
  };
  assert.deepEqual(await bookOf([[usd.id, btc.id]]), ids);
  assert.deepEqual(await bookOf([[eth.id, btc.id]]), [other.id]);
  assert.throws(() => openBook({ baseUrl: own.at, key: maker.key, pairs: [] }), /1 to 20 pairs/);
  assert.throws(() => openBook({ baseUrl: own.at }), /needs an API key with the scope `maker`/);
});

test('an address that is no market is explained once, by a request', async (t) => {
  const server = createServer((_request, response) => void response.end('<!doctype html>'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const said: string[] = [];
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const onError = (sentence: string) => said.push(sentence);
  const book = openBook({ baseUrl, key: 'k', random: () => 0, onError });
  await waitUntil(() => said.length > 4);
  book.close();
  await assert.rejects(book.ready, /the book was closed/);
  assert.equal(said.filter((each) => each.includes('answered 200 with a web page')).length, 1);
});

test('private RFQs come and go with the wallets of the account', async (t) => {
  const trader = await market.trader();
  const feed = opened(t, { baseUrl: market.at, key: trader.key, renewMs: 50 });
  await feed.ready;
  const address = parseAddress(someAddress('evm'), 'dev').address;
  const { id } = await market.rfq(taker, { visibility: 'private', targetAddress: address });
  const wallet = (text: string) =>
    market.db.rows({ name: '', text, values: [trader.accountId, address] });
  await wallet(`insert into wallets (account_id, family, address, standing, proven_at)
    values ($1, 'evm', $2, 'proven', now())`);
  await waitUntil(() => feed.book.has(id));
  await wallet('delete from wallets where account_id = $1 and address = $2');
  await waitUntil(() => !feed.book.has(id));
});

test('the maker and the book of the README run as they stand', {
  timeout: 60_000,
}, async (t) => {
  const { key } = await market.trader();
  const env = { URL: market.at, KEY: key };
  const said = await running(t, 'packages/sdk/README.md', 'await feed.ready', env);
  const shown = await running(t, 'packages/sdk/README.md', 'openBook', env);
  assert.equal(await said(), 'live');
  assert.match(await said(), /^\d+ RFQs$/);
  while ((await shown()) !== 'live');
  const { id } = await market.rfq(taker, { askAmount: '64000000' });
  assert.match(await shown(), new RegExp(`^created ${id} \\d+$`));
  const [, threadId = ''] = new RegExp(`^quoted ${id} on (.*)$`).exec(await said()) ?? [];
  assert.equal((await taker.get(`/v1/threads/${threadId}`)).body.quoteAmount, '64000000');
});

test('events of its threads come through cut connections, each once, and its quotes stay', async (t) => {
  const maker = await market.trader();
  const told: FeedEvent[] = [];
  let gaps = 0;
  const { proxy, feed } = await proxied(t, maker, {
    events: ['thread.proposed'],
    onEvent: (event) => told.push(event),
    onGap: () => {
      gaps += 1;
    },
    cancelOnDisconnect: 60,
  });
  const rfq = await market.rfq(taker);
  const { threadId } = await feed.quote(rfq.id, '65000000');
  const wanted = ['1000001', '1000002', '1000003', '1000004'];
  for (const quoteAmount of wanted) {
    await taker.post(`/v1/threads/${threadId}/propose`, { quoteAmount });
    while ((await handOut(market.deps)) !== 0);
    proxy.cut();
  }
  await waitUntil(() => told.length >= wanted.length);
  assert.deepEqual(
    told.map((event) => event.type === 'thread.proposed' && event.quoteAmount),
    wanted,
  );
  assert.equal(gaps, 1);
});
