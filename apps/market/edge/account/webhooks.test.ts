// The log of a webhook's deliveries, and sending one again, as its owner's browser asks for them.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createDelivering } from '../../webhooks/deliver.ts';
import { refused, testEdge } from '../testing/edge.ts';
import { type SignedIn, signedIn } from '../testing/session.ts';

const edge = await testEdge();
const url = 'https://receiver.example/hook';

/** A webhook of the browser's account, and so many events on their way to it. */
async function told(browser: SignedIn, events: number): Promise<string> {
  const { body } = await browser.post('/v1/webhooks', { url });
  for (let n = 0; n < events; n += 1) {
    await edge.sql(
      `insert into outbox (topic, account_id, payload, created_at)
        values ('swap.agreed', $1, $2, now())`,
      browser.accountId,
      { swapId: randomUUID(), threadId: randomUUID() },
    );
  }
  return body.webhook.id;
}

const sending = (status: number) =>
  createDelivering(edge.deps, {
    send: async () => ({ status, error: null, answer: `it is ${status}` }),
  });
const logOf = (browser: SignedIn, id: string, query = '') =>
  browser.get(`/account/webhooks/${id}/deliveries${query}`);
const again = (browser: SignedIn, id: string, deliveryId: string) =>
  browser.post(`/account/webhooks/${id}/deliveries/${deliveryId}/again`);

test('the log has each delivery with its bytes and answers, newest first, page by page', async () => {
  const browser = await signedIn(edge);
  const id = await told(browser, 3);
  await sending(500).pass();
  const { body } = await logOf(browser, id, '?limit=2');
  const [first] = body.deliveries;
  assert.deepEqual(
    [body.deliveries.length, first.event, first.state],
    [2, 'swap.agreed', 'waiting'],
  );
  assert.equal(JSON.parse(first.body).deliveryId, first.id);
  assert.deepEqual([first.attempts.length, first.attempts[0].status], [1, 500]);
  assert.ok(Date.parse(first.nextAt) > Date.parse(first.attempts[0].at));
  const rest = (await logOf(browser, id, `?limit=2&cursor=${body.nextCursor}`)).body;
  assert.deepEqual([rest.deliveries.length, rest.nextCursor], [1, null]);
  const ids = [...body.deliveries, ...rest.deliveries].map((each: { id: string }) => each.id);
  assert.equal(new Set(ids).size, 3);
});

test('another account’s webhook has no log and sends nothing again', async () => {
  const owner = await signedIn(edge);
  const other = await signedIn(edge);
  const id = await told(owner, 1);
  await sending(200).pass();
  const [{ id: deliveryId }] = (await logOf(owner, id)).body.deliveries;
  const own = await told(other, 0);
  for (const none of [id, randomUUID(), 'nothing']) {
    refused(await logOf(other, none), '404 no_such_webhook');
    refused(await again(other, none, deliveryId), '404 no_such_webhook');
  }
  refused(await again(other, own, deliveryId), '404 unknown_delivery');
});
