// Webhooks over HTTP: specification part 4, decisions 6.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, refused, testEdge } from '../testing/edge.ts';
import { evmWallet } from '../testing/signers.ts';

const edge = await testEdge();

async function newKey(lines: string[] = []): Promise<string> {
  return (await edge.mint(evmWallet(), lines)).body.key;
}

const url = 'https://hooks.example.com/parley';
const post = (key: string, body: unknown, headers: Record<string, string> = {}) =>
  edge.call('POST', '/v1/webhooks', { key, body, headers });

test('a webhook is registered with a secret shown once, listed without it, and deleted', async () => {
  const key = await newKey();
  const made = await post(key, { url, events: ['swap.agreed', 'swap.agreed'] });
  assert.equal(made.status, 201);
  const { webhook, secret, ...more } = made.body;
  assert.deepEqual(more, {});
  assert.match(secret, /^whsec_\S{43}$/);
  assert.deepEqual(webhook, { id: webhook.id, url, events: ['swap.agreed'], enabled: true });
  const { body } = await edge.call('GET', '/v1/webhooks', { key });
  const nothing = { lastStatus: null, lastError: null, lastDeliveryAt: null };
  assert.deepEqual(body, { webhooks: [{ ...webhook, ...nothing }], nextCursor: null });
  assert.ok(!JSON.stringify(body).includes(secret));
  const gone = await edge.call('DELETE', `/v1/webhooks/${webhook.id}`, { key });
  assert.deepEqual([gone.status, gone.body], [200, { ok: true }]);
  const again = await edge.call('DELETE', `/v1/webhooks/${webhook.id}`, { key });
  refused(again, '404 no_such_webhook');
});

test('any valid key will do; no events or an empty list are all events', async () => {
  const key = await newKey(['Scopes: read']);
  for (const body of [{ url }, { url, events: [] }]) {
    const made = await post(key, body);
    assert.deepEqual([made.status, made.body.webhook.events], [201, []]);
  }
});

test('an unknown event is 400, and the 21st webhook is 400', async () => {
  const key = await newKey();
  const answer = await post(key, { url, events: ['swap.agreed', 'swap.moon'] });
  refused(answer, '400 bad_event');
  assert.match(answer.body.error, /"swap\.moon" is not an event; there are: quote\.created, /);
  const made = await Promise.all(Array.from({ length: 25 }, () => post(key, { url })));
  const counted = made.map(codeOf).sort();
  assert.equal(counted.filter((each) => each === '400 too_many_webhooks').length, 5);
  assert.equal(counted.filter((each) => each === '201 ok').length, 20);
  const page = await edge.call('GET', '/v1/webhooks?limit=15', { key });
  assert.equal(page.body.webhooks.length, 15);
  const rest = await edge.call('GET', `/v1/webhooks?limit=15&cursor=${page.body.nextCursor}`, {
    key,
  });
  assert.deepEqual([rest.body.webhooks.length, rest.body.nextCursor], [5, null]);
});

test('another account’s webhook does not exist: not listed, not deleted, not pinged', async () => {
  const mine = await newKey();
  const theirs = await newKey();
  const { webhook } = (await post(mine, { url })).body;
  const { body } = await edge.call('GET', '/v1/webhooks', { key: theirs });
  assert.deepEqual(body.webhooks, []);
  for (const id of [webhook.id, crypto.randomUUID(), 'nothing']) {
    const ping = await edge.call('POST', `/v1/webhooks/${id}/ping`, { key: theirs });
    refused(ping, '404 no_such_webhook');
    const gone = await edge.call('DELETE', `/v1/webhooks/${id}`, { key: theirs });
    refused(gone, '404 no_such_webhook');
  }
});
