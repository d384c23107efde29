// The rows stored for each event: one body for all webhooks of an account, one delivery for prices
// of a thread that wait, and little for a receiver that never answered.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendAgain } from '../db/deliveries.ts';
import { deliveriesOf } from '../db/delivery-log.ts';
import { prune } from '../market/prune.ts';
import { handOut, mostWaiting } from './hand-out.ts';
import type { Sending } from './send.ts';
import { reached, typeOf, webhookMarket } from './testing/market.ts';

const { at, rows, account, webhook, owner, swapId, happens, agreed, delivering } = webhookMarket();

const handsOut = async () => {
  while ((await handOut(at.deps)) !== 0);
};
const bodies = async () => (await rows('select id from delivery_bodies')).length;
const firstOf = (sent: readonly Sending[]) =>
  sent.map(({ body }) => (JSON.parse(body) as { quoteAmount?: string }).quoteAmount ?? 'closed');

test('an event is stored once for all webhooks of its account, and each is sent it whole', async () => {
  const { accountId, id } = await owner('https://one.example/');
  for (const host of ['two', 'three']) await webhook(accountId, `https://${host}.example/`);
  const alone = await owner('https://alone.example/');
  await agreed(accountId, 2);
  await agreed(alone.accountId);
  await handsOut();
  assert.equal(await bodies(), 2);
  const own = await rows('select id from deliveries where body is not null');
  assert.equal(own.length, 1, 'one that goes to a single webhook is stored with it');
  const { sent, pass } = delivering(() => 500);
  await pass();
  at.deps.advance(15_000);
  await pass();
  const ids = sent.map(({ body }) => (JSON.parse(body) as { deliveryId: string }).deliveryId);
  assert.equal(new Set(ids).size, 7);
  assert.equal(new Set(sent.map(({ body }) => body)).size, 7, 'each time the same bytes');
  for (const { headers, body } of sent) {
    const { deliveryId, ...said } = JSON.parse(body) as Record<string, unknown>;
    assert.equal(headers['x-parley-delivery'], deliveryId);
    assert.deepEqual(Object.keys(said), ['type', 'createdAt', 'swapId']);
  }
  const page = { webhookId: id, beforeAt: null, beforeId: null, limit: 9 };
  const shown = await deliveriesOf(at.deps.db, page);
  const sentBytes = new Set(sent.map(({ body }) => body));
  assert.ok(shown.length === 2 && shown.every(({ body }) => sentBytes.has(body)));
});

test('a shared body is kept as long as any of its deliveries, however those go', async () => {
  const { accountId, id } = await owner('https://one.example/');
  const second = await webhook(accountId, 'https://two.example/');
  await agreed(accountId, 3);
  await handsOut();
  await rows('delete from webhooks where id = $1', id);
  assert.equal(await bodies(), 3);
  await rows('delete from deliveries where position = (select min(position) from deliveries)');
  assert.equal(await bodies(), 2);
  const { pass, sent } = delivering();
  await pass();
  at.deps.advance(6 * 86_400_000);
  const [last] = sent.map(({ body }) => JSON.parse(body) as { deliveryId: string });
  const again = {
    deliveryId: last!.deliveryId,
    accountId,
    at: new Date(at.deps.now()),
    mostWaiting,
  };
  assert.ok(await at.deps.db.transaction((tx) => sendAgain(tx, again)));
  await pass();
  at.deps.advance(2 * 86_400_000);
  await prune(at.deps);
  assert.equal(await bodies(), 1, 'of the one that was sent again');
  await rows('insert into delivery_bodies (id, rest) values (0, $1)', 'left by a race');
  await rows('delete from webhooks where id = $1', second.id);
  assert.equal(await bodies(), 1);
  await prune(at.deps);
  assert.equal(await bodies(), 0);
});

test('prices of one thread that wait become one, the newest, in the place of the first', async () => {
  const one = swapId(1);
  const other = swapId(2);
  const { accountId } = await owner('https://one.example/', [
    'quote.created',
    'thread.closed',
    'swap.agreed',
  ]);
  await webhook(accountId, 'https://two.example/');
  const price = (threadId: string, quoteAmount: string) =>
    happens(accountId, 'quote.created', { threadId, quoteAmount });
  for (const amount of ['1', '2', '3']) await price(one, amount);
  await price(other, '10');
  await handsOut();
  await price(one, '4');
  await price(one, '5');
  await price(other, '11');
  await handsOut();
  assert.equal(await bodies(), 2, 'nothing is kept of those before');
  const { sent, pass } = delivering();
  await pass();
  assert.deepEqual(firstOf(sent).sort(), ['11', '11', '5', '5']);
  assert.deepEqual(await rows('select waiting from webhooks'), [{ waiting: 0 }, { waiting: 0 }]);
});

test('a price takes no place across another event of its thread, or of one that was tried or is in hand', async () => {
  const threadId = swapId(1);
  const { accountId } = await owner('https://one.example/', ['quote.created', 'thread.closed']);
  const price = (quoteAmount: string) =>
    happens(accountId, 'quote.created', { threadId, quoteAmount });
  const closed = () => happens(accountId, 'thread.closed', { threadId });
  for (const handedOutAfter of [[], [0], [0, 1, 2]]) {
    const all = [() => price('1'), closed, () => price('2'), () => price('3')];
    for (const [index, happened] of all.entries()) {
      await happened();
      if (handedOutAfter.includes(index)) await handsOut();
    }
    await handsOut();
    const { sent, pass } = delivering();
    await pass();
    assert.deepEqual(firstOf(sent), ['1', 'closed', '3']);
  }
  await price('4');
  const failing = delivering(() => 500);
  await failing.pass();
  const held = Promise.withResolvers<number>();
  const hanging = delivering(() => held.promise);
  await price('5');
  const passing = hanging.pass();
  assert.ok(await reached(() => hanging.sent.length === 1));
  for (const amount of ['6', '7']) {
    await price(amount);
    await handsOut();
  }
  held.resolve(200);
  await passing;
  at.deps.advance(15_000);
  const { sent, pass } = delivering();
  await pass();
  assert.deepEqual(firstOf(failing.sent), ['4']);
  assert.deepEqual(firstOf(hanging.sent), ['5', '7']);
  assert.deepEqual(firstOf(sent), ['4'], 'what was tried keeps its attempts');
});

test('for a webhook that never answered 2xx 200 deliveries wait, and more once it has', async () => {
  const accountId = await account();
  const { id } = await webhook(accountId, 'https://never.example/');
  const most = mostWaiting.never;
  await rows('update webhooks set waiting = $2 where id = $1', id, most - 2);
  await agreed(accountId, 3);
  await handsOut();
  const waiting = async () =>
    (await rows<{ waiting: number }>('select waiting from webhooks'))[0]?.waiting;
  assert.deepEqual([await waiting(), most], [200, 200]);
  const { sent, pass } = delivering((each) => (typeOf(each) === 'swap.agreed' ? 204 : 500));
  await pass();
  assert.equal(sent.length, 2);
  await rows('update webhooks set waiting = $2 where id = $1', id, most);
  await agreed(accountId, 3);
  await handsOut();
  assert.equal(await waiting(), most + 3);
});
