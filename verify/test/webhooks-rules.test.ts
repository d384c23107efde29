// The rules of the specification's webhooks, each over HTTP and at a real HTTPS receiver:
// specification parts 4 and 6, decisions 6 and 7.

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { negotiating } from '@parley/market/edge/testing/negotiating.ts';
import { createDelivering } from '@parley/market/webhooks/deliver.ts';
import { mostPingsEach } from '@parley/market/webhooks/ping.ts';
import { startReceiver } from '@parley/market/webhooks/testing/receiver.ts';
import { verifyWebhook } from '@parley/sdk/webhooks.ts';
import type { Trader } from './support/trading.ts';

const market = await negotiating({ settings: { webhookNetworks: ['127.0.0.1'] } });
const receiver = await startReceiver();
after(() => receiver.close());
const { maker } = market;
const deliver = createDelivering(market.deps).pass;
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

const attemptsOf = (deliveryId: string) =>
  market.sql(
    `select d.event, d.state, a.attempt, a.status, a.error from deliveries d
      join delivery_attempts a on a.delivery_id = d.id where d.id = $1 order by a.attempt`,
    deliveryId,
  );

test('ping sends at once and never again, and ok says whether a 2xx came', async () => {
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
    // No other work ran: the request itself sent it.
    const [one, ...more] = receiver.received;
    assert.ok(one !== undefined && more.length === 0);
    const { type, deliveryId, message } = verifyWebhook({ secret, now: soon(), ...one });
    assert.deepEqual([type, message], ['ping', 'a test of Parley']);
    assert.equal(one.headers['x-parley-event'], 'ping');
    assert.deepEqual([answer.status, answer.body], [200, { ok, deliveryId }]);
    const { lastStatus, lastError, lastDeliveryAt } = await shown(trader);
    assert.deepEqual([lastStatus, lastError], [status, null]);
    assert.match(lastDeliveryAt, /^\d{4}-.*Z$/);
    const state = ok ? 'delivered' : 'dropped';
    const logged = { event: 'ping', state, attempt: 1, status, error: null };
    market.deps.advance(86_400_000);
    await deliver();
    assert.equal(receiver.received.length, 1);
    assert.deepEqual(await attemptsOf(deliveryId), [logged]);
  }
});

test('a ping whose first try was cut off is sent again under its key with the same deliveryId', async () => {
  const trader = await market.trader();
  const { id } = await register(trader);
  const headers = { 'idempotency-key': 'one' };
  const { body } = await ping(trader, id, headers);
  // As a crash before the commit would have left it: nothing.
  for (const table of ['idempotency', 'deliveries']) {
    await market.sql(`delete from ${table}`);
  }
  assert.deepEqual((await ping(trader, id, headers)).body, body);
  // And after a day, when the key is free again, it is a ping like any other.
  await market.sql('delete from idempotency');
  receiver.answer(500);
  assert.deepEqual((await ping(trader, id, headers)).body, { ...body, ok: false });
  const [logged] = await attemptsOf(body.deliveryId);
  assert.equal((logged as { status: number }).status, 500);
});

test('few pings are under way at once: one more is 429, and nothing of it is sent', async () => {
  const trader = await market.trader();
  const other = await market.trader();
  const mine = await register(trader);
  const theirs = await register(other);
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

/** The market's clock, in seconds. */
const soon = () => Math.floor(market.deps.now() / 1_000);

test('lastStatus is null before the first delivery, the HTTP status of the last, and 0 when no reply was had, with lastError', async () => {
  const own = await market.trader();
  const mortal = await startReceiver();
  await register(own, mortal.url);
  const nothing = { lastStatus: null, lastError: null, lastDeliveryAt: null };
  const { lastStatus, lastError, lastDeliveryAt } = await shown(own);
  assert.deepEqual({ lastStatus, lastError, lastDeliveryAt }, nothing);
  const { id: rfqId } = await market.rfq({}, own);
  mortal.answer(503);
  await market.quote(maker, rfqId);
  await deliver();
  const busy = await shown(own);
  assert.deepEqual([busy.lastStatus, busy.lastError], [503, null]);
  assert.ok(Math.abs(Date.parse(busy.lastDeliveryAt) / 1_000 - soon()) < 60);
  await mortal.close();
  await market.quote(maker, rfqId, '66000000');
  await deliver();
  const gone = await shown(own);
  assert.deepEqual([gone.lastStatus, gone.lastError], [0, 'no connection: ECONNREFUSED']);
});
