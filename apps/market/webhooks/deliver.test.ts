// From an event in the outbox to its receiver: the bodies, their order, the retries, and the effect
// of a crash or a dead receiver.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { holdSubscribers, insertDeliveries } from '../db/deliveries.ts';
import { createDelivering, retryAfterSeconds } from './deliver.ts';
import { handOut, mostWaiting } from './hand-out.ts';
import { start, typeOf, webhookMarket } from './testing/market.ts';
import { startReceiver } from './testing/receiver.ts';

const { at, rows, account, webhook, owner, swapId, happens, agreed, delivering } = webhookMarket();

async function deliveries(): Promise<string[]> {
  const text = 'select state, attempts from deliveries order by position, id';
  const all = await rows<{ state: string; attempts: number }>(text);
  return all.map(({ state, attempts }) => `${state} ${attempts}`);
}

async function waitingOf(): Promise<number[]> {
  const all = await rows<{ waiting: number }>('select waiting from webhooks order by waiting');
  return all.map(({ waiting }) => waiting);
}

test('an event reaches a real receiver with its headers, and the signature is over its very bytes', async () => {
  const receiver = await startReceiver();
  try {
    const { accountId, secret } = await owner(receiver.url);
    const payload = { swapId: swapId(1), status: 'initiator_funded' };
    await happens(accountId, 'swap.funded', payload);
    await createDelivering(at.deps).pass();
    const [one, ...more] = receiver.received;
    assert.ok(one !== undefined && more.length === 0);
    const { headers, body } = one;
    const said = JSON.parse(body) as Record<string, unknown>;
    const { deliveryId } = said;
    const createdAt = new Date(start).toISOString();
    assert.deepEqual(said, { type: 'swap.funded', deliveryId, createdAt, ...payload });
    const timestamp = String(start / 1_000);
    const mac = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    const expected = {
      'content-type': 'application/json',
      'user-agent': 'Parley-Webhooks/1',
      'x-parley-event': 'swap.funded',
      'x-parley-delivery': deliveryId,
      'x-parley-timestamp': timestamp,
      'x-parley-signature': `sha256=${mac}`,
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(headers[name], value);
    assert.match(secret, /^whsec_\S{43}$/);
    const [last] = await rows('select last_status as status, last_delivery_at as at from webhooks');
    assert.deepEqual(last, { status: 200, at: new Date(start) });
  } finally {
    await receiver.close();
  }
});

test('each of the six attempts comes to the second, after the end of the one before, and then none', async () => {
  await agreed((await owner()).accountId);
  // Each attempt takes three seconds.
  const { sent, pass } = delivering(() => {
    at.deps.advance(3_000);
    return 500;
  });
  await pass();
  assert.deepEqual(retryAfterSeconds, [15, 30, 60, 120, 240]);
  for (const [index, seconds] of retryAfterSeconds.entries()) {
    const ended = at.deps.now();
    at.deps.advance(seconds * 1_000 - 1);
    await pass();
    assert.equal(sent.length, index + 1, `not a millisecond before ${seconds} s`);
    at.deps.advance(1);
    await pass();
    assert.equal(sent.length, index + 2);
    assert.equal((sent.at(-1)?.at ?? 0) - ended, seconds * 1_000);
  }
  assert.deepEqual(await deliveries(), ['dropped 6']);
  at.deps.advance(86_400_000);
  await pass();
  assert.equal(sent.length, 6);
  assert.equal(new Set(sent.map(({ body }) => body)).size, 1, 'the same bytes each time');
  for (const { headers, at: sentAt } of sent) {
    assert.equal(Number(headers['x-parley-timestamp']), Math.floor(sentAt / 1_000));
  }
});

test('both parties hear, others do not; a webhook hears only what it subscribed to', async () => {
  const one = await owner('https://one.example/');
  const two = await owner('https://two.example/', ['swap.agreed']);
  await owner('https://three.example/');
  for (const { accountId } of [one, two]) {
    await happens(accountId, 'swap.agreed', { swapId: swapId(1) });
    await happens(accountId, 'swap.funded', { swapId: swapId(1) });
  }
  const { sent, pass } = delivering();
  await pass();
  assert.deepEqual(sent.map((each) => `${new URL(each.url).hostname} ${typeOf(each)}`).sort(), [
    'one.example swap.agreed',
    'one.example swap.funded',
    'two.example swap.agreed',
  ]);
});

test('a later event of one swap waits for the first attempt of an earlier one, not for its success', async () => {
  const { accountId } = await owner();
  const swap = swapId(1);
  const other = swapId(2);
  const names = ['swap.agreed', 'swap.funded', 'secret.revealed', 'swap.settled'];
  for (const name of names) await happens(accountId, name, { swapId: swap });
  await happens(accountId, 'swap.agreed', { swapId: other });
  const underway = new Map<string, number>();
  const { sent, pass } = delivering(async ({ body }) => {
    const { swapId: id } = JSON.parse(body) as { swapId: string };
    underway.set(id, (underway.get(id) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(underway.get(id), 1, 'none of a swap while another is under way');
    underway.delete(id);
    return 200;
  });
  await pass();
  assert.deepEqual(await deliveries(), Array(5).fill('delivered 1'));
  assert.deepEqual(sent.filter(({ body }) => body.includes(swap)).map(typeOf), names);
  // A receiver that fails: a failed delivery comes later, the rest is not held up.
  for (const name of names) await happens(accountId, name, { swapId: swap });
  const failing = delivering((each) => (typeOf(each) === 'swap.funded' ? 500 : 200));
  await failing.pass();
  at.deps.advance(15_000);
  await failing.pass();
  assert.deepEqual(failing.sent.map(typeOf), [...names, 'swap.funded']);
});

test('a webhook whose last attempt took two seconds has two deliveries under way, a quicker one eight', async () => {
  for (const [milliseconds, most] of [
    [1_999, 8],
    [2_000, 2],
  ] as const) {
    const { accountId } = await owner();
    await agreed(accountId);
    const timed = delivering(() => {
      at.deps.advance(milliseconds);
      return 200;
    });
    await timed.pass();
    await agreed(accountId, 20);
    const held = Promise.withResolvers<number>();
    const { sent, pass } = delivering(() => held.promise);
    const passing = pass();
    await waitUntil(() => sent.length >= most);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(sent.length, most);
    held.resolve(200);
    await passing;
    assert.equal(sent.length, 20);
  }
});

test('a delivery handed out while the one before it is stored is not left behind it', async () => {
  const { accountId, id: webhookId } = await owner();
  const subject = swapId(1);
  await happens(accountId, 'swap.agreed', { swapId: subject });
  const held = Promise.withResolvers<number>();
  const first = delivering(() => held.promise);
  const passing = first.pass();
  await waitUntil(() => first.sent.length > 0);
  await at.deps.db.transaction(async (tx) => {
    await holdSubscribers(tx, [accountId]);
    const next = { id: swapId(2), webhookId, event: 'swap.funded', subject, position: 1e9 };
    await insertDeliveries(tx, [{ ...next, rest: '"createdAt":""}' }], new Date(start));
    held.resolve(200);
    await new Promise((resolve) => setTimeout(resolve, 200));
  });
  await passing;
  const { sent, pass } = delivering();
  await pass();
  assert.deepEqual([...first.sent, ...sent].map(typeOf), ['swap.agreed', 'swap.funded']);
});

/** A delivery in two hands: one is thought dead, and still runs. */
async function inTwoHands() {
  await rows('delete from webhooks');
  await agreed((await owner()).accountId);
  const held = Promise.withResolvers<number>();
  const late = delivering(() => held.promise);
  const thought = late.pass();
  await waitUntil(() => late.sent.length > 0);
  const answerLate = async (status: number) => {
    held.resolve(status);
    await thought;
  };
  return { late, answerLate };
}

test('a delivery stays with its process for twice as long as an attempt takes, and is then sent by another with the same id', async () => {
  const { late, answerLate } = await inTwoHands();
  const { sent, pass } = delivering();
  at.deps.advance(19_999);
  await pass();
  assert.equal(sent.length, 0);
  at.deps.advance(1);
  await pass();
  await pass();
  assert.deepEqual(
    sent.map(({ body }) => body),
    late.sent.map(({ body }) => body),
  );
  // The first fails late: its owner reads the outcome of the delivery.
  at.deps.advance(1_000);
  await answerLate(500);
  const [last] = await rows('select last_status as status, last_delivery_at as at from webhooks');
  assert.deepEqual(last, { status: 200, at: new Date(at.deps.now() - 1_000) });
});

test('a process thought dead that fails late takes nothing back from its successor, and a late success spares the next attempt', async () => {
  for (const [status, late, after] of [
    [200, 500, 'delivered 1'],
    [500, 500, 'waiting 2'],
    [500, 200, 'delivered 1'],
  ] as const) {
    const { answerLate } = await inTwoHands();
    at.deps.advance(20_001);
    const { sent, pass } = delivering(() => status);
    await pass();
    if (late === 200) await answerLate(late);
    at.deps.advance(15_000);
    await pass();
    if (late === 500) await answerLate(late);
    assert.deepEqual(await deliveries(), [after]);
    if (late === 200) assert.deepEqual([sent.length, await waitingOf()], [1, [0]]);
  }
});

test('for a webhook that never answered 2xx 200 deliveries wait, and more once it has', async () => {
  const accountId = await account();
  const { id } = await webhook(accountId, 'https://never.example/');
  const most = mostWaiting.never;
  await rows('update webhooks set waiting = $2 where id = $1', id, most - 2);
  await agreed(accountId, 3);
  await handOut(at.deps);
  const waiting = async () =>
    (await rows<{ waiting: number }>('select waiting from webhooks'))[0]?.waiting;
  assert.deepEqual([await waiting(), most], [200, 200]);
  const { sent, pass } = delivering((each) => (typeOf(each) === 'swap.agreed' ? 204 : 500));
  await pass();
  assert.equal(sent.length, 2);
  await rows('update webhooks set waiting = $2 where id = $1', id, most);
  await agreed(accountId, 3);
  await handOut(at.deps);
  assert.equal(await waiting(), most + 3);
});
