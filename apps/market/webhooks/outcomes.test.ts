// The stored and counted parts of deliveries, the processes that may hand them out, and their
// topics.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhookTopics } from '@parley/core/events.ts';
import { sendAgain } from '../db/deliveries.ts';
import { listWebhooks } from '../db/webhooks.ts';
import { webhookEvents } from '../edge/schemas/webhook.ts';
import { prune } from '../market/prune.ts';
import { retryAfterSeconds } from './deliver.ts';
import { mostWaiting } from './hand-out.ts';
import { hostLimits } from './hosts.ts';
import { createPinging, PingsLimited, storePing } from './ping.ts';
import { recording, typeOf, webhookMarket } from './testing/market.ts';

const { at, rows, account, webhook, owner, swapId, happens, agreed, delivering } = webhookMarket();

/** Makes all attempts of what waits. */
async function toTheEnd(pass: () => Promise<unknown>) {
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await pass();
    at.deps.advance(240_000);
  }
}

test('the webhook events are taken by name: any other topic of an account stays where it is', async () => {
  const { ping: _, ...events } = webhookEvents;
  assert.deepEqual([...webhookTopics].sort(), Object.keys(events).sort());
  const { accountId } = await owner();
  await happens(accountId, 'key.created', { prefix: 'p' });
  await happens(accountId, 'key.leaked', { secret: 's' });
  await agreed(accountId);
  const { sent, pass } = delivering();
  await pass();
  assert.deepEqual(sent.map(typeOf), ['swap.agreed']);
  const left = await rows('select topic from outbox order by topic');
  assert.deepEqual(left, [{ topic: 'key.created' }, { topic: 'key.leaked' }]);
});

test('an event that must be named goes to the webhook that names it, and to no other', async () => {
  const { accountId } = await owner('https://example.com/all');
  await webhook(accountId, 'https://example.com/others', ['swap.agreed']);
  await webhook(accountId, 'https://example.com/named', ['thread.closed']);
  const { sent, pass } = delivering();
  await happens(accountId, 'thread.closed', { threadId: swapId() });
  await pass();
  assert.deepEqual(
    sent.map(({ url }) => url),
    ['https://example.com/named'],
  );
});

test('an ended delivery can be sent again by its account, where there is room: same id and bytes, its log kept', async () => {
  const { accountId } = await owner();
  await agreed(accountId);
  let status = 500;
  const { sent, pass } = delivering(() => status);
  await toTheEnd(pass);
  const deliveryId = sent[0]?.headers['x-parley-delivery'] ?? '';
  const asked = { deliveryId, accountId, at: new Date(at.deps.now()), mostWaiting };
  const again = (over: object = {}) =>
    at.deps.db.transaction((tx) => sendAgain(tx, { ...asked, ...over }));
  assert.equal(await again({ accountId: await account() }), false, 'of another account');
  assert.equal(await again({ mostWaiting: { answered: 9, never: 0 } }), false, 'no room');
  assert.equal(await again(), true);
  assert.equal(await again(), false, 'it waits');
  await toTheEnd(pass);
  assert.equal(await again(), true);
  status = 200;
  await pass();
  assert.equal(sent.length, 13);
  assert.equal(new Set(sent.map(({ body }) => body)).size, 1);
  const log = await rows('select attempt, status from delivery_attempts order by attempt');
  const numbers = Array.from({ length: 13 }, (_, n) => n - 11);
  assert.deepEqual(
    log,
    numbers.map((attempt) => ({ attempt, status: attempt === 1 ? 200 : 500 })),
  );
});

/** Begins and ends all that is due so much later; how many were sent. */
function counting(answer: () => number) {
  const { sent, pass } = delivering(answer);
  return async (ms: number) => {
    at.deps.advance(ms);
    sent.length = 0;
    await pass();
    return sent.length;
  };
}

test('a host that never answered 2xx is begun 20 deliveries a minute, and tried again at its times', async () => {
  const accountId = await account();
  await webhook(accountId, 'https://victim.example:1000/');
  await webhook(await account(), 'https://victim.example:2000/');
  await agreed(accountId, 30);
  const after = counting(() => 404);
  assert.deepEqual([await after(0), await after(15_000), await after(30_000)], [20, 20, 20]);
  assert.deepEqual([await after(14_999), await after(1)], [0, 10]);
});

test('20 deliveries a minute of an account to a host that answered once are not delayed', async () => {
  const after = counting(() => 200);
  const flooded = 'https://shared.example/';
  const own = await owner(flooded);
  const others = await owner(flooded);
  await agreed(others.accountId);
  assert.equal(await after(0), 1);
  await rows(`update webhook_hosts set sent = 1200 where host = 'shared.example'`);
  await agreed(own.accountId, 30);
  assert.equal(await after(0), 20);
  assert.equal(await after(60_000), 10);
});

test('a ping to a host that gets no more says when it does', async () => {
  const { accountId, id: webhookId } = await owner();
  const ping = createPinging(at.deps, recording(() => 404).send);
  const asked = { accountId, webhookId, attempt: null };
  for (let count = 0; count < hostLimits.unknown; count += 1) await ping(asked);
  at.deps.advance(18_000);
  await assert.rejects(ping(asked), (error) => {
    assert.ok(error instanceof PingsLimited);
    assert.equal(error.seconds, 42);
    assert.match(error.message, /this host is sent as much as it may be; try again in 42 s/);
    return true;
  });
  at.deps.advance(42_000);
  assert.equal((await ping(asked)).ended.status, 404);
});

test('a webhook that fails for a day is switched off, and on again by a ping that is answered', async () => {
  const { accountId, id: webhookId } = await owner();
  let status = 500;
  const after = counting(() => status);
  const day = 86_400_000;
  const enabled = async () => {
    await prune(at.deps);
    const [shown] = await listWebhooks(at.deps.db, { accountId, before: null, limit: 1 });
    return shown?.enabled;
  };
  const fails = async () => {
    await agreed(accountId);
    for (const seconds of [0, ...retryAfterSeconds]) assert.equal(await after(seconds * 1_000), 1);
  };
  await fails();
  // A second short failure, a day after the first: its retries are made.
  at.deps.advance(day);
  await agreed(accountId);
  await after(0);
  assert.equal(await enabled(), true);
  status = 200;
  assert.equal(await after(15_000), 1);
  status = 500;
  await fails();
  at.deps.advance(day - 465_001);
  await fails();
  await agreed(accountId);
  assert.equal(await enabled(), false);
  assert.equal(await after(day), 0, 'what waits for it is given up');
  await agreed(accountId);
  assert.equal(await after(0), 0, 'nor does anything come to wait');
  const ping = createPinging(at.deps, recording(() => status).send);
  for (const [answer, isOk] of [
    [500, false],
    [204, true],
  ] as const) {
    status = answer;
    const came = await ping({ accountId, webhookId, attempt: null });
    assert.equal((await storePing(at.deps.db, at.deps, accountId, came)).ok, isOk);
    assert.equal(await enabled(), isOk);
  }
  await agreed(accountId);
  assert.equal(await after(0), 1);
});
