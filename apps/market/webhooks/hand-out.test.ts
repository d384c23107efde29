// The rows stored for each event: one body for all webhooks of an account, and one delivery for the
// prices of a thread that wait.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { deliveriesOf } from '../db/delivery-log.ts';
import { handOut, mostWaiting } from './hand-out.ts';
import type { Sending } from './send.ts';
import { webhookMarket } from './testing/market.ts';

const { at, rows, webhook, owner, swapId, happens, agreed, delivering } = webhookMarket();

const handsOut = async () => {
  while ((await handOut(at.deps)) !== 0);
};
const bodies = async () => (await rows('select id from delivery_bodies')).length;
const amountsOf = (sent: readonly Sending[]) =>
  sent.map(({ body }) => (JSON.parse(body) as { quoteAmount?: string }).quoteAmount ?? 'closed');

test('an event is stored once for all webhooks of its account, is sent to each whole, and goes with the last', async () => {
  const { accountId, id } = await owner('https://one.example/');
  const second = await webhook(accountId, 'https://two.example/');
  await agreed(accountId, 2);
  await handsOut();
  assert.equal(await bodies(), 2);
  const { sent, pass } = delivering(() => 500);
  await pass();
  at.deps.advance(15_000);
  await pass();
  const bytes = new Set(sent.map(({ body }) => body));
  assert.deepEqual([sent.length, bytes.size], [8, 4], 'the same bytes at each attempt');
  for (const { headers, body } of sent) {
    const said = JSON.parse(body) as Record<string, unknown>;
    assert.deepEqual(Object.keys(said), ['type', 'deliveryId', 'createdAt', 'swapId']);
    assert.equal(headers['x-parley-delivery'], said.deliveryId);
    assert.equal(headers['x-parley-event'], said.type);
  }
  const page = { webhookId: id, beforeAt: null, beforeId: null, limit: 9 };
  const shown = await deliveriesOf(at.deps.db, page);
  assert.ok(shown.length === 2 && shown.every(({ body }) => bytes.has(body)));
  await rows('delete from webhooks where id = $1', id);
  assert.equal(await bodies(), 2);
  await rows('delete from deliveries where position = (select min(position) from deliveries)');
  assert.equal(await bodies(), 1);
  await rows('delete from webhooks where id = $1', second.id);
  assert.equal(await bodies(), 0);
});

for (const [what, first, then] of [
  ['two deliveries of one event', 0, 0],
  ['deliveries of two events, each first by one of two,', 0, 1],
] as const) {
  test(`${what} that are deleted at once leave no body, and no deleter waits for ever`, async () => {
    const { accountId, id } = await owner('https://one.example/');
    const second = await webhook(accountId, 'https://two.example/');
    await agreed(accountId, 2);
    await handsOut();
    const events = await rows('select distinct position from deliveries order by position');
    const gone = (webhookId: string, index: number) => ({
      name: '',
      text: 'delete from deliveries where webhook_id = $1 and position = $2',
      values: [webhookId, (events[index] as { position: number }).position],
    });
    let other: Promise<unknown> | undefined;
    await at.deps.db.transaction(async (tx) => {
      await tx.rows(gone(id, first));
      other = at.deps.db.transaction(async (beside) => {
        await beside.rows(gone(second.id, then));
        await beside.rows(gone(second.id, 1 - then));
      });
      const waits = `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      await waitUntil(async () => (await rows(waits)).length === 1);
      await tx.rows(gone(id, 1 - first));
    });
    await other;
    assert.equal(await bodies(), 0);
  });
}

test('prices of one thread that wait become one, the newest, which needs no room', async () => {
  const threads = { 'quote.created': swapId(1), 'thread.proposed': swapId(2) };
  type Topic = keyof typeof threads;
  const { accountId } = await owner('https://one.example/', Object.keys(threads));
  await webhook(accountId, 'https://two.example/', Object.keys(threads));
  const price = (topic: Topic, quoteAmount: string) =>
    happens(accountId, topic, { threadId: threads[topic], quoteAmount });
  for (const amount of ['1', '2', '3']) await price('quote.created', amount);
  await price('thread.proposed', '10');
  await handsOut();
  await rows('update webhooks set waiting = $1', mostWaiting.never);
  await price('quote.created', '4');
  await price('quote.created', '5');
  await handsOut();
  // The place of a thread's price is its next one's, whatever else comes before it.
  const another = swapId(3);
  await happens(accountId, 'quote.created', { threadId: another, quoteAmount: '20' });
  await price('thread.proposed', '11');
  await handsOut();
  assert.deepEqual(
    [await bodies(), await rows('select distinct waiting from webhooks')],
    [2, [{ waiting: mostWaiting.never }]],
  );
  await rows('update webhooks set waiting = 2');
  const { sent, pass } = delivering();
  await pass();
  assert.deepEqual(amountsOf(sent).sort(), ['11', '11', '5', '5']);
  assert.deepEqual(await rows('select distinct waiting from webhooks'), [{ waiting: 0 }]);
});

test('a price takes no place across another event of its thread, nor of one that was tried or is in hand', async () => {
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
    assert.deepEqual(amountsOf(sent), ['1', 'closed', '3']);
  }
  await price('4');
  const failing = delivering(() => 500);
  await failing.pass();
  const held = Promise.withResolvers<number>();
  const hanging = delivering(() => held.promise);
  await price('5');
  const passing = hanging.pass();
  await waitUntil(() => hanging.sent.length === 1);
  for (const amount of ['6', '7']) {
    await price(amount);
    await handsOut();
  }
  held.resolve(200);
  await passing;
  at.deps.advance(15_000);
  const { sent, pass } = delivering();
  await pass();
  assert.deepEqual(amountsOf(failing.sent), ['4']);
  assert.deepEqual(amountsOf(hanging.sent), ['5', '7']);
  assert.deepEqual(amountsOf(sent), ['4'], 'a tried one keeps its attempts');
  assert.deepEqual(await rows('select state, count(*)::int from deliveries group by state'), [
    { state: 'delivered', count: 12 },
  ]);
});
