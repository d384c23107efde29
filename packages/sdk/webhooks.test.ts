// Deliveries by what docs/vectors/webhooks.json leaves open: headers and bodies of any kind.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { webhookEvents } from '@parley/market/edge/schemas/webhook.ts';
import { signatureOf } from '@parley/market/webhooks/sign.ts';
import { running } from './testing/placed.ts';
import type { WebhookEvent } from './types.ts';
import { verifyWebhook, WebhookError, type WebhookRequest } from './webhooks.ts';

const secret = 'whsec_4n2Jk1';
const now = 1_900_000_000;
const delivery = { type: 'ping', deliveryId: 'd', createdAt: 'c', message: 'Grüße' };

test('a webhook can be registered for every event of the market, and for no other', () => {
  const named: Readonly<Record<WebhookEvent, null>> = {
    'quote.created': null,
    'secret.revealed': null,
    'swap.agreed': null,
    'swap.funded': null,
    'swap.settled': null,
    'swap.refunded': null,
    'swap.half_settled': null,
    'swap.reorged': null,
    'swap.release': null,
    'swap.cosign': null,
    'thread.accepted': null,
    'thread.proposed': null,
    'thread.closed': null,
  };
  const known = Object.keys(webhookEvents).filter((each) => each !== 'ping');
  assert.deepEqual(Object.keys(named).sort(), known.sort());
});

function request(over: Partial<WebhookRequest> = {}, at = now): WebhookRequest {
  const body = over.body ?? JSON.stringify(delivery);
  const text = typeof body === 'string' ? body : JSON.stringify(delivery);
  const headers = {
    'X-Parley-Timestamp': String(at),
    'x-parley-signature': signatureOf(secret, String(at), text),
  };
  return { secret, headers, body, now, ...over };
}

function refused(over: Partial<WebhookRequest>, code: string, at = now): void {
  assert.throws(
    () => verifyWebhook(request(over, at)),
    (error) => error instanceof WebhookError && error.code === code,
    code,
  );
}

test('a delivery that the market signs is taken: text or bytes, headers of any kind', () => {
  assert.deepEqual(verifyWebhook(request()), delivery);
  const bytes = new TextEncoder().encode(JSON.stringify(delivery));
  assert.deepEqual(verifyWebhook(request({ body: bytes })), delivery);
  const { headers } = request();
  const pairs = Object.entries(headers as Record<string, string>);
  const foreign = runInNewContext('new Uint8Array(bytes)', { bytes: [...bytes] }) as Uint8Array;
  for (const body of [bytes.buffer, new DataView(bytes.buffer), Buffer.from(bytes), foreign]) {
    assert.deepEqual(verifyWebhook(request({ body, headers })), delivery);
  }
  const padded = Buffer.concat([Buffer.from('['), bytes, Buffer.from(']')]);
  const inside = new DataView(padded.buffer, padded.byteOffset + 1, bytes.length);
  assert.deepEqual(verifyWebhook(request({ body: inside, headers })), delivery);
  for (const each of [
    new Headers(pairs),
    { get: (name: string) => new Headers(pairs).get(name) },
    new Map(pairs),
    pairs,
    Object.fromEntries(pairs.map(([name, value]) => [name.toUpperCase(), [value]])),
  ]) {
    assert.deepEqual(verifyWebhook(request({ headers: each })), delivery);
  }
  assert.deepEqual(verifyWebhook(request({ secret: ` ${secret}\r\n` })), delivery);
  assert.deepEqual(verifyWebhook(request({ toleranceSeconds: 0 }, 5)), delivery, 'of any age');
});

test('a delivery without a header, or a signed text that is no delivery, says so', () => {
  refused({ headers: {} }, 'bad_header');
  const { headers } = request();
  refused({ headers: { ...headers, 'x-parley-signature': 'sha256=ab' } as never }, 'bad_header');
  refused({ headers: { ...headers, 'x-parley-signature': ['a', 'b'] } as never }, 'bad_header');
  refused({ shortName: 'acme' }, 'bad_header');
  const twice = { ...headers, 'X-PARLEY-SIGNATURE': `sha256=${'0'.repeat(64)}` };
  refused({ headers: twice }, 'bad_header');
  for (const none of [undefined, null, 'x']) refused({ headers: none as never }, 'bad_header');
  refused({ headers: { ...headers, 'x-parley-signature': [] } as never }, 'bad_header');
  for (const none of [undefined, null, {}, [1], 1, Promise.resolve('')]) {
    assert.throws(
      () => verifyWebhook({ ...request(), body: none as never }),
      (error) => error instanceof WebhookError && error.code === 'bad_body',
    );
  }
  refused({ body: 'no JSON' }, 'bad_body');
  refused({ body: '{"type":"ping"}' }, 'bad_body');
  refused({ body: 'null' }, 'bad_body');
});

test('a secret that cannot be one, or a time that is none, is refused before anything is compared', () => {
  for (const none of ['', 'whsec_', ' whsec_\n', 'undefined', undefined, Buffer.from(secret)]) {
    const { headers } = request({ secret });
    refused({ secret: none as never, headers }, 'bad_secret');
  }
  for (const over of [
    { toleranceSeconds: Number.NaN },
    { toleranceSeconds: -1 },
    { now: Number.NaN },
    { now: Number.POSITIVE_INFINITY },
  ]) {
    assert.throws(() => verifyWebhook(request(over, 5)), RangeError);
  }
});

test('the receiver of the README takes a delivery once and refuses a forged one', {
  timeout: 60_000,
}, async (t) => {
  const said = await running(t, 'packages/sdk/README.md', '@parley/sdk/webhooks', {
    SECRET: secret,
    PORT: '0',
  });
  const [, url = ''] = /(http:\S+)/.exec(await said()) ?? [];
  const post = async (body: string, signed = body) => {
    const at = Math.floor(Date.now() / 1_000);
    const { headers } = request({ body: signed }, at);
    return (await fetch(url, { method: 'POST', headers: headers as never, body })).status;
  };
  const event = { type: 'swap.funded', deliveryId: 'd', createdAt: 'c', swapId: 's' };
  const body = JSON.stringify(event);
  assert.deepEqual([await post(body), await post(body)], [204, 204]);
  assert.equal(await said(), 'swap.funded s');
  assert.equal(await post(body, body.replace('swap.funded', 'ping')), 400);
  assert.match(await said(), /^bad_signature /, 'the repeat was not worked on');
  assert.equal(await post('x'.repeat(100_000)), 413);
  const { port, hostname } = new URL(url);
  const cut = connect(Number(port), hostname);
  cut.write(`POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\nhalf`);
  await sleep(100);
  cut.destroy();
  await sleep(100);
  const next = JSON.stringify({ ...event, deliveryId: 'e' });
  assert.equal(await post(next), 204, 'a request that was cut off ends nobody else');
});
