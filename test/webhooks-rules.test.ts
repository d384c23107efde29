// The rules of the specification's webhooks, each over HTTP and at a real HTTPS receiver:
// specification parts 4 and 6, decisions 6 and 7.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { verifyWebhook } from '../sdk/webhooks.ts';
import { createDelivering } from '../server/webhooks/deliver.ts';
import { mostPingsEach } from '../server/webhooks/ping.ts';
import { type Receiver, startReceiver } from '../server/webhooks/testing/receiver.ts';
import { type TestMarket, type Trader, testMarket } from './support/trading.ts';

let market: TestMarket;
let receiver: Receiver;
let deliver: () => Promise<void>;

before(async () => {
  market = await testMarket({ settings: { webhookNetworks: ['127.0.0.1'] } });
  receiver = await startReceiver();
  deliver = createDelivering(market.deps).pass;
});
after(async () => {
  await receiver?.close();
  await market?.close();
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer(200);
});

type Registered = { readonly id: string; readonly secret: string };

async function register(trader: Trader, url = receiver.url): Promise<Registered> {
  const { status, body } = await trader.post('/v1/webhooks', { url });
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.webhook.id, secret: body.secret };
}

const shown = async (trader: Trader) => (await trader.get('/v1/webhooks')).body.webhooks[0];
const ping = (trader: Trader, id: string, headers: Record<string, string> = {}) =>
  trader.post(`/v1/webhooks/${id}/ping`, undefined, headers);

async function must(answer: ReturnType<Trader['post']>) {
  const { status, body } = await answer;
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
  return body;
}

async function newRfq(taker: Trader): Promise<string> {
  const { btc, usd } = market.assets;
  const wanted = {
    direction: 'sell_base',
    baseAssetId: btc.id,
    baseAmount: '100000',
    quoteAssetId: usd.id,
    ttlSeconds: 3_600,
  };
  return (await must(taker.post('/v1/rfqs', wanted))).rfq.id;
}

async function attemptsOf(deliveryId: string) {
  return market.db.rows({
    name: 'test_attempts',
    text: `select d.event, d.state, a.attempt, a.status, a.error from deliveries d
      join delivery_attempts a on a.delivery_id = d.id where d.id = $1 order by a.attempt`,
    values: [deliveryId],
  });
}

test('ping sends at once, and ok says whether a 2xx came', async () => {
  const trader = await market.trader();
  const { id, secret } = await register(trader);
  for (const [status, ok] of [
    [200, true],
    [204, true],
    [302, false],
    [500, false],
  ] as const) {
    receiver.answer(status);
    receiver.received.length = 0;
    const answer = await ping(trader, id);
    // Nothing else ran: it was sent by the request itself.
    const [one, ...more] = receiver.received;
    assert.ok(one !== undefined && more.length === 0);
    const { type, deliveryId, message } = verifyWebhook({ secret, ...one });
    assert.deepEqual([type, message], ['ping', 'a test of Parley']);
    assert.equal(one.headers['x-parley-event'], 'ping');
    assert.deepEqual([answer.status, answer.body], [200, { ok, deliveryId }]);
    const { lastStatus, lastError, lastDeliveryAt } = await shown(trader);
    assert.deepEqual([lastStatus, lastError], [status, null]);
    assert.match(lastDeliveryAt, /^\d{4}-.*Z$/);
    const state = ok ? 'delivered' : 'dropped';
    const logged = { event: 'ping', state, attempt: 1, status, error: null };
    assert.deepEqual(await attemptsOf(deliveryId), [logged]);
  }
});

test('ping is not retried', async () => {
  const trader = await market.trader();
  const { id } = await register(trader);
  receiver.answer(500);
  await ping(trader, id);
  market.deps.advance(86_400_000);
  await deliver();
  assert.equal(receiver.received.length, 1);
});

test('a ping that has no reply is ok: false, with lastStatus 0 and the reason', async () => {
  const trader = await market.trader();
  const closed = await startReceiver();
  const { id } = await register(trader, closed.url);
  await closed.close();
  const { body } = await ping(trader, id);
  assert.equal(body.ok, false);
  const { lastStatus, lastError } = await shown(trader);
  assert.deepEqual([lastStatus, lastError], [0, 'no connection: ECONNREFUSED']);
});

test('ping goes where deliveries may go, and nowhere else', async () => {
  const trader = await market.trader();
  const { id } = await register(trader, `https://localhost:${receiver.port}/`);
  const narrow = await testMarket({ settings: { webhookNetworks: [] } });
  try {
    const other = await narrow.trader();
    const named = await register(other, 'https://ip6-localhost.localdomain.invalid/');
    const { body } = await ping(other, named.id);
    assert.equal(body.ok, false);
    const { lastStatus, lastError } = await shown(other);
    assert.equal(lastStatus, 0);
    assert.match(lastError, /has no public address|not a public one/);
  } finally {
    await narrow.close();
  }
  assert.equal((await ping(trader, id)).body.ok, true, 'localhost is allowed where it is listed');
});

test('a ping repeated under one Idempotency-Key is sent once', async () => {
  const trader = await market.trader();
  const { id } = await register(trader);
  const headers = { 'idempotency-key': 'one' };
  const held = Promise.withResolvers<void>();
  const come = Promise.withResolvers<void>();
  receiver.answer((_received, response) => {
    come.resolve();
    void held.promise.then(() => response.writeHead(200).end());
  });
  const first = ping(trader, id, headers);
  await come.promise;
  assert.equal((await ping(trader, id, headers)).code, 'still_running');
  held.resolve();
  const answer = await first;
  assert.equal(answer.body.ok, true);
  assert.deepEqual((await ping(trader, id, headers)).body, answer.body);
  assert.equal(receiver.received.length, 1);
  await ping(trader, id, { 'idempotency-key': 'two' });
  assert.equal(receiver.received.length, 2);
});

test('a ping whose first try was cut off is sent again under its key with the same deliveryId', async () => {
  const trader = await market.trader();
  const { id } = await register(trader);
  const headers = { 'idempotency-key': 'one' };
  const { body } = await ping(trader, id, headers);
  // As a crash before the commit would have left it: nothing.
  for (const table of ['idempotency', 'deliveries']) {
    await market.db.rows({ name: `test_${table}`, text: `delete from ${table}`, values: [] });
  }
  assert.deepEqual((await ping(trader, id, headers)).body, body);
  // And after a day, when the key is free again, it is a ping like any other.
  await market.db.rows({ name: 'test_day', text: 'delete from idempotency', values: [] });
  receiver.answer(500);
  assert.deepEqual((await ping(trader, id, headers)).body, { ...body, ok: false });
  const [logged] = await attemptsOf(body.deliveryId);
  assert.equal((logged as { status: number }).status, 500);
});

test('few pings are under way at once: one more is 429, and nothing of it is sent', async () => {
  const [trader, other] = [await market.trader(), await market.trader()];
  const [mine, theirs] = [await register(trader), await register(other)];
  const held = Promise.withResolvers<void>();
  const come = Promise.withResolvers<void>();
  receiver.answer((_received, response) => {
    if (receiver.received.length === mostPingsEach) come.resolve();
    void held.promise.then(() => response.writeHead(200).end());
  });
  const under = Array.from({ length: mostPingsEach }, () => ping(trader, mine.id));
  await come.promise;
  const url = `/v1/webhooks/${mine.id}/ping`;
  const authorization = `Bearer ${trader.key}`;
  const refused = await market.app.inject({ method: 'POST', url, headers: { authorization } });
  const { 'x-parley-error': code, 'retry-after': seconds } = refused.headers;
  assert.deepEqual([refused.statusCode, code, seconds], [429, 'ping_rate_limited', '1']);
  assert.equal(receiver.received.length, mostPingsEach);
  const another = ping(other, theirs.id);
  held.resolve();
  for (const each of [...under, another]) assert.equal((await each).body.ok, true);
  assert.equal((await ping(trader, mine.id)).status, 200);
});

test('a webhook that is deleted while its ping is under way is 404, and nothing is left of it', async () => {
  const trader = await market.trader();
  const { id } = await register(trader);
  const url = `/v1/webhooks/${id}`;
  const headers = { authorization: `Bearer ${trader.key}` };
  let removed: unknown;
  receiver.answer(async (_received, response) => {
    removed = (await market.app.inject({ method: 'DELETE', url, headers })).json();
    response.writeHead(200).end();
  });
  assert.equal((await ping(trader, id)).code, 'no_such_webhook');
  assert.deepEqual(removed, { ok: true });
});

test('quote.created goes to the creator of the RFQ, for first and changed quotes, and to nobody else', async () => {
  const [taker, maker, other] = [
    await market.trader(),
    await market.trader(),
    await market.trader(),
  ];
  const { secret } = await register(taker);
  const [atMaker, atOther] = [await startReceiver(), await startReceiver()];
  await register(maker, atMaker.url);
  await register(other, atOther.url);
  try {
    const rfqId = await newRfq(taker);
    const quotes = `/v1/rfqs/${rfqId}/quotes`;
    const { thread } = await must(maker.post(quotes, { quoteAmount: '65000000' }));
    await must(maker.post(quotes, { quoteAmount: '66000000' }));
    const propose = `/v1/threads/${thread.id}/propose`;
    await must(maker.post(propose, { quoteAmount: '67000000' }));
    await must(taker.post(propose, { quoteAmount: '60000000' }));
    await deliver();
    const heard = receiver.received.map((each) => verifyWebhook({ secret, now: soon(), ...each }));
    assert.deepEqual(
      heard.map(({ deliveryId: _id, createdAt: _at, ...rest }) => rest),
      ['65000000', '66000000', '67000000'].map((quoteAmount) => ({
        type: 'quote.created',
        threadId: thread.id,
        rfqId,
        quoteAmount,
      })),
    );
    assert.deepEqual([atMaker.received, atOther.received], [[], []]);
  } finally {
    await Promise.all([atMaker.close(), atOther.close()]);
  }
});

test('swap.agreed goes to the webhooks of both parties, after the quotes of its thread', async () => {
  const [taker, maker] = [await market.trader(), await market.trader()];
  await register(taker);
  const atMaker = await startReceiver();
  const { secret } = await register(maker, atMaker.url);
  try {
    const rfqId = await newRfq(taker);
    const quote = { quoteAmount: '65000000' };
    const { thread } = await must(maker.post(`/v1/rfqs/${rfqId}/quotes`, quote));
    const lockOf = (side: string) =>
      thread.initiator === side ? { hashlock: randomBytes(32).toString('hex') } : {};
    const accept = `/v1/threads/${thread.id}/accept`;
    let [underway, most] = [0, 0];
    receiver.answer((_received, response) => {
      underway += 1;
      most = Math.max(most, underway);
      setTimeout(() => {
        underway -= 1;
        response.writeHead(200).end();
      }, 100);
    });
    await must(taker.post(accept, { ...quote, ...lockOf('taker') }));
    const { swap } = await must(maker.post(accept, { ...quote, ...lockOf('maker') }));
    await deliver();
    assert.deepEqual(
      receiver.received.map(({ headers }) => headers['x-parley-event']),
      ['quote.created', 'swap.agreed'],
    );
    assert.equal(most, 1, 'one after the answer to the other');
    const [one, ...more] = atMaker.received;
    assert.ok(one !== undefined && more.length === 0);
    const heard = verifyWebhook({ secret, now: soon(), ...one });
    assert.deepEqual(
      [heard.type, heard.swapId, heard.threadId],
      ['swap.agreed', swap.id, thread.id],
    );
  } finally {
    await atMaker.close();
  }
});

/** The market's clock, in seconds. */
const soon = () => Math.floor(market.deps.now() / 1_000);

test('lastStatus is null before the first delivery, the HTTP status of the last, and 0 when no reply was had, with lastError', async () => {
  const [taker, maker] = [await market.trader(), await market.trader()];
  const mortal = await startReceiver();
  await register(taker, mortal.url);
  const nothing = { lastStatus: null, lastError: null, lastDeliveryAt: null };
  const { lastStatus, lastError, lastDeliveryAt } = await shown(taker);
  assert.deepEqual({ lastStatus, lastError, lastDeliveryAt }, nothing);
  const quotes = `/v1/rfqs/${await newRfq(taker)}/quotes`;
  mortal.answer(503);
  await must(maker.post(quotes, { quoteAmount: '65000000' }));
  await deliver();
  const busy = await shown(taker);
  assert.deepEqual([busy.lastStatus, busy.lastError], [503, null]);
  assert.ok(Math.abs(Date.parse(busy.lastDeliveryAt) / 1_000 - soon()) < 60);
  await mortal.close();
  await must(maker.post(quotes, { quoteAmount: '66000000' }));
  await deliver();
  const gone = await shown(taker);
  assert.deepEqual([gone.lastStatus, gone.lastError], [0, 'no connection: ECONNREFUSED']);
});

test('A url of 2 048 characters is registered as it is, with any port; one more is 400', async () => {
  const trader = await market.trader();
  const head = 'https://hooks.example.com:65535/?';
  const longest = head + 'x'.repeat(2_048 - head.length);
  const { status, body } = await trader.post('/v1/webhooks', { url: longest });
  assert.deepEqual([status, body.webhook.url], [201, longest]);
  assert.equal((await trader.post('/v1/webhooks', { url: `${longest}x` })).code, 'bad_webhook_url');
});
