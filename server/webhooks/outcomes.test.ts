// What is stored and counted of deliveries, who may hand them out, and which topics are theirs.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import { lockHandingOut, sendAgain, webhookTopics } from '../db/deliveries.ts';
import { listWebhooks } from '../db/webhooks.ts';
import { webhookEvents } from '../edge/schemas/webhook.ts';
import { prune } from '../market/prune.ts';
import { uuidv7 } from '../ports/ids.ts';
import { createDelivering, retryAfterSeconds } from './deliver.ts';
import { handOut, mostWaiting } from './hand-out.ts';
import { hostLimits } from './hosts.ts';
import { createPinging, PingsLimited, storePing } from './ping.ts';
import { happens, newAccount, newWebhook, reached, recording } from './testing/market.ts';
import { startReceiver } from './testing/receiver.ts';

let database: TestDatabase;
let deps: TestDeps;

before(async () => {
  database = await testDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  for (const table of ['outbox', 'webhooks', 'webhook_hosts']) {
    await database.db.rows({ name: `clear ${table}`, text: `delete from ${table}`, values: [] });
  }
  const settings = { encryptionKey: '42'.repeat(32), webhookNetworks: ['127.0.0.1'] };
  deps = testDeps({ db: database.db, settings });
  deps.freeze(Date.UTC(2030, 0, 1));
});

const rows = <T extends object>(text: string) =>
  database.db.rows<T>({ name: '', text, values: [] });
const attempts = () =>
  rows<{ attempt: number; status: number }>(
    'select attempt, status from delivery_attempts order by attempt',
  );
const agreed = (accountId: string) =>
  happens(deps, accountId, 'swap.agreed', { swapId: uuidv7(deps.now(), deps.randomBytes) });

async function owner(): Promise<{ accountId: string; id: string }> {
  const accountId = await newAccount(deps);
  return { accountId, id: await newWebhook(deps, accountId, 'https://example.com/hook') };
}

async function counted(outcome: string): Promise<number> {
  const text = await deps.metrics.registry.metrics();
  const found = new RegExp(`webhook_attempts_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text);
  return Number(found?.[1] ?? 0);
}

test('the webhook events are taken by name: any other topic of an account stays where it is', async () => {
  const { ping: _, ...events } = webhookEvents;
  assert.deepEqual([...webhookTopics].sort(), Object.keys(events).sort());
  const { accountId } = await owner();
  await happens(deps, accountId, 'key.created', { prefix: 'p' });
  await happens(deps, accountId, 'key.leaked', { secret: 's' });
  await agreed(accountId);
  const { sent, send } = recording(() => 200);
  await createDelivering(deps, { send }).pass();
  assert.deepEqual(
    sent.map(({ headers }) => headers['x-parley-event']),
    ['swap.agreed'],
  );
  const left = await rows<{ topic: string }>('select topic from outbox order by topic');
  assert.deepEqual(
    left.map(({ topic }) => topic),
    ['key.created', 'key.leaked'],
  );
});

test('while one process hands out no other does', async () => {
  const { accountId } = await owner();
  await agreed(accountId);
  await database.db.transaction(async (tx) => {
    assert.equal(await lockHandingOut(tx), true);
    assert.equal(await handOut(deps), null);
  });
  assert.equal(await handOut(deps), 1);
});

test('each attempt is counted by what it came to: delivered, failed, dropped; pings too', async () => {
  const { accountId, id } = await owner();
  let status = 500;
  const { send } = recording(() => status);
  const delivering = createDelivering(deps, { send });
  await agreed(accountId);
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await delivering.pass();
    deps.advance(240_000);
  }
  const all = async () => [
    await counted('delivered'),
    await counted('failed'),
    await counted('dropped'),
  ];
  assert.deepEqual(await all(), [0, 5, 1]);
  status = 200;
  await agreed(accountId);
  await delivering.pass();
  assert.deepEqual(await all(), [1, 5, 1]);
  for (const delivered of [true, false]) {
    const at = new Date(deps.now());
    const ended = { startedAt: at, endedAt: at, status: 200, error: null, delivered };
    const message = { id: uuidv7(deps.now(), deps.randomBytes), event: 'ping', body: '{}' };
    await storePing(database.db, deps, accountId, { webhookId: id, message, ended });
  }
  assert.deepEqual(await all(), [2, 5, 2]);
});

test('what a process has in hand is left to it for twice as long as an attempt takes', async () => {
  const { accountId } = await owner();
  await agreed(accountId);
  const held = Promise.withResolvers<number>();
  const hung = recording(() => held.promise);
  const passing = createDelivering(deps, { send: hung.send }).pass();
  assert.ok(await reached(() => hung.sent.length === 1));
  const { sent, send } = recording(() => 200);
  const other = createDelivering(deps, { send });
  deps.advance(19_999);
  await other.pass();
  assert.equal(sent.length, 0);
  deps.advance(1);
  await other.pass();
  assert.equal(sent.length, 1);
  // The first fails late: what its owner reads is what came of the delivery.
  deps.advance(1_000);
  held.resolve(500);
  await passing;
  const [last] = await rows('select last_status as status, last_delivery_at as at from webhooks');
  assert.deepEqual(last, { status: 200, at: new Date(deps.now() - 1_000) });
});

test('an attempt that ended before the last and is stored after it is not shown as the last', async () => {
  const { accountId, id } = await owner();
  const single = async (status: number, endedAt: number) => {
    const at = new Date(endedAt);
    const ended = { startedAt: at, endedAt: at, status, error: null, delivered: true };
    const message = { id: uuidv7(deps.now(), deps.randomBytes), event: 'ping', body: '{}' };
    await storePing(database.db, deps, accountId, { webhookId: id, message, ended });
  };
  await single(200, deps.now());
  await single(204, deps.now() - 1_000);
  const [last] = await rows('select last_status as status, last_delivery_at as at from webhooks');
  assert.deepEqual(last, { status: 200, at: new Date(deps.now()) });
});

test('a ping that is answered at once makes no new receiver a quick one', async () => {
  const { accountId, id } = await owner();
  const at = new Date(deps.now());
  const ended = { startedAt: at, endedAt: at, status: 200, error: null, delivered: true };
  const message = { id: uuidv7(deps.now(), deps.randomBytes), event: 'ping', body: '{}' };
  await storePing(database.db, deps, accountId, { webhookId: id, message, ended });
  const [row] = await rows('select last_milliseconds as took from webhooks');
  assert.deepEqual(row, { took: null });
});

test('what ended can be sent again by its account, where there is room: same id and bytes, its log kept', async () => {
  const { accountId } = await owner();
  await agreed(accountId);
  let status = 500;
  const { sent, send } = recording(() => status);
  const delivering = createDelivering(deps, { send });
  const toTheEnd = async () => {
    for (let attempt = 0; attempt < 6; attempt += 1) {
      await delivering.pass();
      deps.advance(240_000);
    }
  };
  await toTheEnd();
  const deliveryId = sent[0]?.headers['x-parley-delivery'] ?? '';
  const at = new Date(deps.now());
  const again = (over: object = {}) =>
    database.db.transaction((tx) =>
      sendAgain(tx, { deliveryId, accountId, at, mostWaiting, ...over }),
    );
  assert.equal(await again({ accountId: await newAccount(deps) }), false, 'of another account');
  assert.equal(await again({ mostWaiting: 0 }), false, 'no room');
  assert.equal(await again(), true);
  assert.equal(await again(), false, 'it waits');
  await toTheEnd();
  assert.equal(await again(), true);
  status = 200;
  await delivering.pass();
  assert.equal(sent.length, 13);
  assert.equal(new Set(sent.map(({ body }) => body)).size, 1);
  const numbers = (await attempts()).map(({ attempt }) => attempt);
  assert.deepEqual(
    numbers,
    Array.from({ length: 13 }, (_, n) => n - 11),
  );
  assert.equal((await attempts()).at(-1)?.status, 200);
});

test('a name in any letters reaches the receiver, written in ASCII in the header', async () => {
  const receiver = await startReceiver();
  try {
    const settings = { ...deps.settings, productName: 'Рынок A' };
    const accountId = await newAccount(deps);
    await newWebhook(deps, accountId, receiver.url);
    await agreed(accountId);
    await createDelivering({ ...deps, settings }).pass();
    const name = `${encodeURIComponent('Рынок')} A-Webhooks/1`;
    assert.deepEqual(
      receiver.received.map(({ headers }) => headers['user-agent']),
      [name],
    );
  } finally {
    await receiver.close();
  }
});

test('the pings of many accounts that hang leave one for each other account', async () => {
  const receiver = await startReceiver();
  receiver.answer(({ path }, response) => {
    if (path !== '/hang') response.writeHead(200).end();
  });
  try {
    const ping = createPinging(deps);
    const asked = async (path: string) => {
      const accountId = await newAccount(deps);
      const webhookId = await newWebhook(deps, accountId, new URL(path, receiver.url).href);
      return { accountId, webhookId, attempt: null };
    };
    const hanging: Promise<unknown>[] = [];
    for (let at = 0; at < 25; at += 1) {
      const who = await asked('/hang');
      for (let n = 0; n < 4; n += 1) hanging.push(ping(who));
    }
    const busy = await asked('/hang');
    hanging.push(ping(busy));
    await assert.rejects(ping(busy), /1 of this account/);
    const { ended } = await ping(await asked('/alive'));
    assert.equal(ended.status, 200);
    await receiver.close();
    await Promise.all(hanging);
  } finally {
    await receiver.close();
  }
});

/** Begins and ends all that is due so much later; how many were sent. */
function counting(answer: (url: string) => number) {
  const { sent, send } = recording(({ url }) => answer(url));
  const delivering = createDelivering(deps, { send });
  return async (ms: number) => {
    deps.advance(ms);
    sent.length = 0;
    await delivering.pass();
    return sent.length;
  };
}

test('a host that never answered 2xx is begun 20 deliveries a minute and the first few of accounts, and tried again at its times', async () => {
  for (let n = 0; n < 5; n += 1) {
    const accountId = await newAccount(deps);
    for (let at = 0; at < 5; at += 1) {
      await newWebhook(deps, accountId, `https://victim.example:${1_000 + at}/${n}`);
    }
    await agreed(accountId);
    await agreed(accountId);
  }
  const after = counting(() => 404);
  // Two accounts have all of theirs among the 20, and each of the others has one more.
  assert.deepEqual([await after(0), await after(15_000), await after(30_000)], [23, 23, 23]);
  assert.deepEqual([await after(14_999), await after(1)], [0, 20]);
});

test('nobody delays 20 deliveries a minute of an account to a host that answered once', async () => {
  const flooded = 'https://shared.example/';
  const after = counting(() => 200);
  const [own, others] = [await newAccount(deps), await newAccount(deps)];
  for (const each of [own, others]) await newWebhook(deps, each, flooded);
  await agreed(others);
  assert.equal(await after(0), 1);
  await rows(`update webhook_hosts set sent = 1200 where host = 'shared.example'`);
  for (let n = 0; n < 30; n += 1) await agreed(own);
  assert.equal(await after(0), 20);
  assert.equal(await after(60_000), 10);
});

test('a ping to a host that gets no more says when it does', async () => {
  const { accountId, id } = await owner();
  const ping = createPinging(deps, recording(() => 404).send);
  const asked = { accountId, webhookId: id, attempt: null };
  // One of an account passes beyond what the host gets.
  for (let at = 0; at <= hostLimits.unknown; at += 1) await ping(asked);
  deps.advance(18_000);
  await assert.rejects(ping(asked), (error) => {
    assert.ok(error instanceof PingsLimited);
    assert.equal(error.seconds, 42);
    assert.match(error.message, /this host is sent as much as it may be; try again in 42 s/);
    return true;
  });
  deps.advance(42_000);
  assert.equal((await ping(asked)).ended.status, 404);
});

test('a webhook that fails for a day is switched off, and on again by a ping that is answered', async () => {
  const { accountId, id } = await owner();
  let status = 500;
  const after = counting(() => status);
  const day = 86_400_000;
  const shown = async () => (await listWebhooks(deps.db, { accountId, before: null, limit: 1 }))[0];
  const enabled = async () => {
    await prune(deps);
    return (await shown())?.enabled;
  };
  const toTheEnd = async () => {
    for (const seconds of [0, ...retryAfterSeconds]) assert.equal(await after(seconds * 1_000), 1);
  };
  await agreed(accountId);
  await toTheEnd();
  // A second short failure, a day after the first: its retries are made.
  deps.advance(day);
  await agreed(accountId);
  await after(0);
  assert.equal(await enabled(), true);
  status = 200;
  assert.equal(await after(15_000), 1);
  status = 500;
  await agreed(accountId);
  await toTheEnd();
  deps.advance(day - 465_001);
  await agreed(accountId);
  await toTheEnd();
  await agreed(accountId);
  assert.equal(await enabled(), false);
  assert.equal(await after(day), 0, 'what waits for it is given up');
  await agreed(accountId);
  assert.equal(await after(0), 0, 'nor does anything come to wait');
  const ping = createPinging(deps, recording(() => status).send);
  const pinged = async () =>
    storePing(
      database.db,
      deps,
      accountId,
      await ping({ accountId, webhookId: id, attempt: null }),
    );
  assert.equal((await pinged()).ok, false);
  assert.equal(await enabled(), false);
  status = 204;
  assert.equal((await pinged()).ok, true);
  assert.equal(await enabled(), true);
  await agreed(accountId);
  assert.equal(await after(0), 1);
});

test('an attempt in hand that is answered 2xx puts on again what was switched off meanwhile', async () => {
  const { accountId } = await owner();
  await agreed(accountId);
  await handOut(deps);
  const answer = Promise.withResolvers<number>();
  const { sent, send } = recording(() => answer.promise);
  const passing = createDelivering(deps, { send }).pass();
  assert.ok(await reached(() => sent.length === 1));
  await rows('update webhooks set enabled = false, waiting = 0, failing_since = created_at');
  await rows(`update deliveries set state = 'dropped', done_at = created_at`);
  answer.resolve(200);
  await passing;
  const left = await rows(`select enabled, waiting, failing_since, state
    from webhooks join deliveries on webhook_id = webhooks.id`);
  assert.deepEqual(left, [{ enabled: true, waiting: 0, failing_since: null, state: 'delivered' }]);
});
