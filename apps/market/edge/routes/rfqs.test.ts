// RFQs, the book and assets over HTTP. Shapes of bodies and queries are in every-operation.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { someAddress, type Trader } from '@parley/verify/test/support/trading.ts';
import { sequenceFeed } from '../../market/feed-log.ts';
import { refused } from '../testing/edge.ts';
import { negotiating, price } from '../testing/negotiating.ts';

const market = await negotiating();
const { taker, maker, wanted, rfq, quote } = market;
const { btc, eth, usd } = market.assets;
const post = (fields: object, by = taker) => by.post('/v1/rfqs', wanted(fields));
const cancel = (by: Trader, id: string) => by.post(`/v1/rfqs/${id}/cancel`);
const read = async (by: Trader, id: string) => (await by.get(`/v1/rfqs/${id}`)).body;
const idsOf = (rfqs: { id: string }[]) => rfqs.map(({ id }) => id);
const book = async (query = '') =>
  idsOf((await maker.get(`/v1/rfqs?limit=100&${query}`)).body.rfqs);
const emitted = (id: string) =>
  market.sql(
    `select topic, payload from outbox
      where payload->>'rfqId' = $1 and account_id is null order by id`,
    id,
  );
const enable = (assetId: string, isOpen: boolean) =>
  market.sql(
    'update assets set closings = $2 where id = $1',
    assetId,
    isOpen ? {} : { operator: { reasons: [], at: '' } },
  );

test('a page of the book is not sent to a client that has it, until the book changes', async () => {
  const ask = async (known: string | null, { method = 'GET', query = '' } = {}) => {
    const headers = {
      authorization: `Bearer ${maker.key}`,
      ...(known !== null && { 'if-none-match': known }),
    };
    const url = `/v1/rfqs?${query}`;
    const answer = await market.app.inject({ method: method as 'GET', url, headers });
    return { status: answer.statusCode, body: answer.body, headers: answer.headers };
  };
  const { headers, status } = await ask(null);
  const etag = String(headers.etag);
  assert.deepEqual([status, headers['cache-control']], [200, 'private, no-cache']);
  const ofTheMoment = /^(date|x-request-id|content-(type|length)|(x-)?ratelimit-re.*)$/;
  const lasting = (all: object) => Object.entries(all).filter(([name]) => !ofTheMoment.test(name));
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    for (const method of ['GET', 'HEAD']) {
      const again = await ask(known, { method });
      assert.deepEqual([again.status, again.body], [304, ''], known);
      assert.deepEqual(lasting(again.headers), lasting(headers));
      assert.equal(again.headers['content-length'], undefined);
    }
  }
  const spent = Number(headers['ratelimit-remaining']);
  const later = await ask('"other"');
  assert.deepEqual([later.status, later.headers.etag], [200, etag]);
  assert.equal(Number(later.headers['ratelimit-remaining']), spent - 9);
  await rfq();
  const changed = await ask(etag);
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.etag, etag);
  for (const query of ['own=true', 'addressed=true']) {
    const { headers: own, status: answered } = await ask('*', { query });
    assert.deepEqual([answered, own.etag, own['cache-control']], [200, undefined, 'no-store']);
  }
});

test('a posted RFQ shows what was asked, to all, with a feed event of the same', async () => {
  market.deps.freeze();
  const posted = await rfq({ askAmount: price, ttlSeconds: 600 });
  const now = market.deps.now();
  assert.match(posted.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(posted.creatorStanding.settled, 0);
  assert.deepEqual(posted, {
    id: posted.id,
    direction: 'sell_base',
    baseAssetId: btc.id,
    baseAmount: '100000',
    quoteAssetId: usd.id,
    status: 'open',
    visibility: 'public',
    askAmount: price,
    creatorId: taker.accountId,
    creatorStanding: posted.creatorStanding,
    minSettled: null,
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 600_000).toISOString(),
  });
  assert.deepEqual(await read(maker, posted.id.toUpperCase()), posted);
  const events = await emitted(posted.id);
  assert.deepEqual(
    events.map(({ topic, payload }) => [topic, JSON.parse(payload.body)]),
    [['feed.created', posted]],
  );
});

const most = 2n ** 256n - 1n;
const to = (targetAddress: string) => ({ visibility: 'private', targetAddress });
const refusals: [fields: object, code: string, words?: RegExp][] = [
  [{ baseAmount: '0' }, '400 bad_amount', /baseAmount/],
  [
    { baseAmount: '1.5' },
    '400 bad_amount',
    /^baseAmount must be a whole .* 1 to 2\^256-1, as a string without sign.*; it was "1.5"$/,
  ],
  [{ askAmount: `${most + 1n}` }, '400 bad_amount', /askAmount/],
  [{ ttlSeconds: 29 }, '400 bad_field', /ttlSeconds/],
  [{ ttlSeconds: 604_801 }, '400 bad_field', /ttlSeconds/],
  [{ ttlSeconds: 60.5 }, '400 bad_field', /ttlSeconds/],
  [{ direction: 'sell' }, '400 bad_field', /direction/],
  [{ visibility: 'secret' }, '400 bad_field', /visibility/],
  [{ quoteAssetId: '01a1fb07-751f-7744-b69c-bc76bd408690' }, '400 bad_asset'],
  [{ quoteAssetId: btc.id }, '400 same_chain'],
  [{ baseAssetId: eth.id }, '400 same_chain'],
  [{ baseAmount: '545' }, '400 amount_too_small'],
  [{ askAmount: '545' }, '400 amount_too_small'],
  [{ targetAddress: someAddress('evm') }, '400 bad_field'],
  [to('0x12'), '400 bad_address'],
  [to('0'.repeat(128)), '400 bad_address'],
  [to('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'), '400 wrong_network', /mainnet/],
];

test('each refusal at posting has its code and words', async () => {
  for (const [fields, code, words] of refusals) refused(await post(fields), code, words);
  await enable(eth.id, false);
  refused(await post({ quoteAssetId: eth.id }), '409 asset_closed');
  await enable(eth.id, true);
});

test('giving an asset needs a wallet on its chain, login or proven; taking one does not', async () => {
  const wallet = (family: 'bitcoin' | 'evm', standing: 'login' | 'proven') =>
    market.trader({ wallets: [{ family, address: someAddress(family), standing }] });
  const onEvm = await wallet('evm', 'login');
  const onBitcoin = await wallet('bitcoin', 'proven');
  refused(await post({}, onEvm), '403 no_wallet', /giving BTC needs a wallet on .*bitcoin/);
  refused(await post({ direction: 'buy_base' }, onBitcoin), '403 no_wallet', /giving USD/);
  await rfq({ direction: 'buy_base' }, onEvm);
  await rfq({}, onBitcoin);
});

test('its creator cancels it, again and again; a stranger never', async () => {
  const { id } = await rfq();
  refused(await cancel(maker, id), '403 not_creator');
  const { thread } = (await quote(maker, id)).body;
  for (let again = 0; again < 2; again += 1) {
    const { status, body } = await cancel(taker, id);
    assert.deepEqual([status, body.rfq.status], [200, 'cancelled']);
  }
  refused(await cancel(maker, id), '403 not_creator');
  const topics = (await emitted(id)).map(({ topic }) => topic);
  assert.deepEqual(topics, ['feed.created', 'feed.cancelled']);
  const { status, rfq: shown } = (await maker.get(`/v1/threads/${thread.id}`)).body;
  assert.deepEqual([status, shown.status], ['closed', 'cancelled']);
  const stored = await market.sql('select status from threads where rfq_id = $1', id);
  assert.deepEqual(stored, [{ status: 'closed' }]);
  refused(await quote(maker, id), '409 rfq_gone', /cancelled/);
});

test('an RFQ is live up to its expiry and expired from it on, swept or not', async () => {
  const { id, expiresAt } = await rfq({ ttlSeconds: 30 });
  market.deps.freeze(Date.parse(expiresAt) - 1);
  assert.ok((await book()).includes(id));
  market.deps.advance(1);
  assert.ok(!(await book()).includes(id));
  refused(await cancel(taker, id), '409 rfq_gone', /expired/);
  for (const swept of [0, 1]) {
    assert.equal((await read(maker, id)).status, 'expired');
    assert.ok((await sequenceFeed(market.deps)).appended >= 1 - swept);
  }
});

test('the book filters, and a closed asset takes its RFQs off it and gives them back', async () => {
  const a = (await rfq({ quoteAssetId: eth.id })).id;
  const b = (await rfq({ quoteAssetId: eth.id, direction: 'buy_base' })).id;
  const ofEth = `quoteAssetId=${eth.id}`;
  assert.deepEqual((await book(`quoteAssetId=${eth.id.toUpperCase()}`)).slice(0, 2), [b, a]);
  const buys = await book(`${ofEth}&direction=buy_base`);
  assert.ok(buys.includes(b) && !buys.includes(a));
  assert.ok(!(await book(`quoteAssetId=${usd.id}&baseAssetId=${btc.id}`)).includes(a));
  for (const isOpen of [false, true]) {
    await enable(eth.id, isOpen);
    await new Promise((resolve) => setTimeout(resolve, 260));
    assert.deepEqual((await book(ofEth)).slice(0, 2), isOpen ? [b, a] : []);
    if (!isOpen) refused(await quote(maker, a, '650000'), '409 asset_closed');
  }
});

test('a creator lists its own until they end: private ones and of closed assets, of nobody else', async () => {
  const creator = await market.trader();
  const own = async (by: Trader, query = '') => by.get(`/v1/rfqs?own=true&${query}`);
  const lists = async (by: Trader) => idsOf((await own(by)).body.rfqs);
  const open = await rfq({}, creator);
  const linked = await rfq({ visibility: 'private' }, creator);
  const addressed = await rfq(to(someAddress('evm')), creator);
  const ended = await rfq({}, creator);
  await cancel(creator, ended.id);
  assert.deepEqual(await lists(creator), [addressed.id, linked.id, open.id]);
  assert.deepEqual(await lists(await market.trader()), []);
  const [first] = (await own(creator, 'limit=1')).body.rfqs;
  assert.equal(first.targetAddress, addressed.targetAddress);
  await enable(btc.id, false);
  assert.equal((await lists(creator)).length, 3);
  await enable(btc.id, true);
  const { nextCursor } = (await own(creator, 'limit=1')).body;
  refused(await own(maker, `limit=1&cursor=${nextCursor}`), '400 bad_cursor');
});

const symbols = async (query = '') => {
  const { body } = await taker.get(`/v1/assets?${query}`);
  return body.assets.map((each: { symbol: string }) => each.symbol);
};

test('assets are listed with what the specification names and nothing else, by filters', async () => {
  const { body } = await taker.get('/v1/assets');
  assert.deepEqual(body.assets[0], {
    id: btc.id,
    chain: 'bitcoin',
    symbol: 'BTC',
    address: null,
    decimals: 8,
    enabled: true,
    verified: true,
    source: 'curated',
  });
  assert.deepEqual([body.assets.length, body.nextCursor], [3, null]);
  // Symbols and addresses in hex compare without case.
  for (const [query, expected] of [
    ['chain=evm-dev', ['ETH', 'USD']],
    ['symbol=uSd', ['USD']],
    [`address=${usd.address?.toUpperCase().replace('X', 'x')}`, ['USD']],
    ['enabled=true&chain=bitcoin', ['BTC']],
    ['enabled=false', []],
    ['symbol=NONE', []],
  ] as const) {
    assert.deepEqual(await symbols(query), expected, query);
  }
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = (await taker.get(`/v1/assets?limit=1${cursor}`)).body;
    seen.push(...page.assets.map((each: { symbol: string }) => each.symbol));
    cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
    const foreign = await taker.get(`/v1/assets?limit=1&chain=bitcoin${cursor}`);
    if (cursor !== '') refused(foreign, '400 bad_cursor');
  } while (cursor !== '');
  assert.deepEqual(seen, ['BTC', 'ETH', 'USD']);
});
