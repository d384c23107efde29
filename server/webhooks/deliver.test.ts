// From an event in the outbox to its receiver: what is sent, in which order, when again, and what a
// crash or a dead receiver changes. The clock is moved by hand.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import { holdSubscribers, insertDeliveries } from '../db/deliveries.ts';
import { insertOutbox } from '../db/outbox.ts';
import { uuidv7 } from '../ports/ids.ts';
import { insertAccount } from '../settle/testing/account.ts';
import type { Send } from './attempt.ts';
import { createDelivering, retryAfterSeconds } from './deliver.ts';
import { handOut, mostWaiting } from './hand-out.ts';
import { registerWebhook, resealSecrets } from './register.ts';
import type { Sending } from './send.ts';
import { type Receiver, startReceiver } from './testing/receiver.ts';

const known = ['quote.created', 'swap.agreed', 'swap.funded', 'ping'];
const start = Date.UTC(2030, 0, 1);
let database: TestDatabase;
let deps: TestDeps;
let home: string;

before(async () => {
  database = await testDatabase();
  home = await mkdtemp(join(tmpdir(), 'parley-webhooks-'));
});
after(async () => {
  await database.drop();
  await rm(home, { recursive: true, force: true });
});
beforeEach(async () => {
  for (const table of ['outbox', 'webhooks']) {
    await database.db.rows({ name: `clear ${table}`, text: `delete from ${table}`, values: [] });
  }
  const settings = { home, webhookNetworks: ['127.0.0.1'] };
  deps = testDeps({ db: database.db, settings });
  deps.freeze(start);
});

async function account(): Promise<string> {
  return (await insertAccount(deps, [])).accountId;
}

async function webhook(accountId: string, url = 'https://example.com/hook', events: string[] = []) {
  const wanted = { accountId, url, events, known };
  const made = await database.db.transaction((tx) => registerWebhook(tx, deps, wanted));
  return { id: made.webhook.id, secret: made.secret };
}

const swapId = (n: number) => uuidv7(start + n, deps.randomBytes);

async function happens(accountId: string, topic: string, payload: object): Promise<void> {
  const at = new Date(deps.now());
  const entry = { topic, accountId, payload: { ...payload }, at };
  await database.db.transaction((tx) => insertOutbox(tx, [entry]));
}

type Row = { state: string; attempts: number; event: string; next: Date };
function deliveries(): Promise<Row[]> {
  return database.db.rows<Row>({
    name: 'test_deliveries',
    text: 'select state, attempts, event, next_at as next from deliveries order by position, id',
    values: [],
  });
}

async function waitingOf(): Promise<number[]> {
  const text = 'select waiting from webhooks order by id';
  const rows = await database.db.rows<{ waiting: number }>({
    name: 'test_waiting',
    text,
    values: [],
  });
  return rows.map(({ waiting }) => waiting);
}

/** A receiver of which a test says what it answers. */
function recorder(
  answer: (sending: Sending, count: number) => number | Promise<number> = () => 200,
) {
  const sent: (Sending & { at: number })[] = [];
  const send: Send = async (sending) => {
    sent.push({ ...sending, at: deps.now() });
    return { status: await answer(sending, sent.length), error: null };
  };
  return { sent, send };
}

const typeOf = ({ body }: Sending) => (JSON.parse(body) as { type: string }).type;

test('an event reaches a real receiver with its headers, and the signature is over its very bytes', async () => {
  const receiver: Receiver = await startReceiver();
  try {
    const accountId = await account();
    const { id, secret } = await webhook(accountId, receiver.url);
    const payload = { swapId: swapId(1), status: 'initiator_funded' };
    await happens(accountId, 'swap.funded', payload);
    await createDelivering(deps).pass();
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
    const [row] = await database.db.rows({
      name: 'test_last',
      text: 'select last_status as status, last_delivery_at as at from webhooks where id = $1',
      values: [id],
    });
    assert.deepEqual(row, { status: 200, at: new Date(start) });
  } finally {
    await receiver.close();
  }
});

test('each of the six attempts comes to the second, after the end of the one before, and then none', async () => {
  const accountId = await account();
  await webhook(accountId);
  await happens(accountId, 'swap.agreed', { swapId: swapId(1), threadId: swapId(2) });
  // Each attempt takes three seconds.
  const { sent, send } = recorder(() => {
    deps.advance(3_000);
    return 500;
  });
  const delivering = createDelivering(deps, { send });
  await delivering.pass();
  assert.deepEqual(retryAfterSeconds, [15, 30, 60, 120, 240]);
  for (const [index, seconds] of retryAfterSeconds.entries()) {
    const ended = deps.now();
    deps.advance(seconds * 1_000 - 1);
    await delivering.pass();
    assert.equal(sent.length, index + 1, `not a millisecond before ${seconds} s`);
    deps.advance(1);
    await delivering.pass();
    assert.equal(sent.length, index + 2);
    assert.equal((sent.at(-1)?.at ?? 0) - ended, seconds * 1_000);
  }
  assert.equal(sent.length, 6);
  assert.deepEqual(
    (await deliveries()).map(({ state, attempts }) => [state, attempts]),
    [['dropped', 6]],
  );
  deps.advance(86_400_000);
  await delivering.pass();
  assert.equal(sent.length, 6);
  assert.equal(new Set(sent.map(({ body }) => body)).size, 1, 'the same bytes each time');
  const at = sent.map(({ headers }) => Number(headers['x-parley-timestamp']));
  assert.deepEqual(
    at,
    sent.map((each) => Math.floor(each.at / 1_000)),
    'each with its own time',
  );
});

test('both parties hear, others do not; a webhook hears only what it subscribed to', async () => {
  const [one, two, three] = [await account(), await account(), await account()];
  await webhook(one, 'https://one.example/');
  await webhook(two, 'https://two.example/', ['swap.agreed']);
  await webhook(three, 'https://three.example/');
  const { sent, send } = recorder();
  for (const who of [one, two]) {
    await happens(who, 'swap.agreed', { swapId: swapId(1) });
    await happens(who, 'swap.funded', { swapId: swapId(1) });
  }
  await createDelivering(deps, { send }).pass();
  assert.deepEqual(sent.map((each) => `${new URL(each.url).hostname} ${typeOf(each)}`).sort(), [
    'one.example swap.agreed',
    'one.example swap.funded',
    'two.example swap.agreed',
  ]);
});

test('of one swap a later event waits for the first attempt of an earlier one, not for its success', async () => {
  const accountId = await account();
  await webhook(accountId);
  const [swap, other] = [swapId(1), swapId(2)];
  const names = ['swap.agreed', 'swap.funded', 'secret.revealed', 'swap.settled'];
  for (const name of names) await happens(accountId, name, { swapId: swap });
  await happens(accountId, 'swap.agreed', { swapId: other });
  const underway = new Map<string, number>();
  const { sent, send } = recorder(async ({ body }) => {
    const { swapId: id } = JSON.parse(body) as { swapId: string };
    underway.set(id, (underway.get(id) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(underway.get(id), 1, 'none of a swap while another is under way');
    underway.delete(id);
    return 200;
  });
  await createDelivering(deps, { send }).pass();
  assert.equal((await deliveries()).filter(({ state }) => state === 'delivered').length, 5);
  const ofSwap = sent.filter(({ body }) => body.includes(swap)).map(typeOf);
  assert.deepEqual(ofSwap, names);
  // A receiver that fails: what failed comes later, the rest is not held up.
  for (const name of names) await happens(accountId, name, { swapId: swap });
  const failing = recorder(({ body }) => (body.includes('swap.funded') ? 500 : 200));
  const delivering = createDelivering(deps, { send: failing.send });
  await delivering.pass();
  assert.deepEqual(failing.sent.map(typeOf), names);
  deps.advance(15_000);
  await delivering.pass();
  assert.deepEqual(failing.sent.slice(4).map(typeOf), ['swap.funded']);
});

test('a receiver that hangs keeps nobody else waiting, and takes few places', async () => {
  const [dead, alive] = [await account(), await account()];
  await webhook(dead, 'https://dead.example/');
  await webhook(alive, 'https://alive.example/');
  for (let n = 0; n < 60; n += 1) {
    await happens(dead, 'swap.agreed', { swapId: swapId(n) });
    await happens(alive, 'swap.agreed', { swapId: swapId(n) });
  }
  const hung = Promise.withResolvers<number>();
  let hanging = 0;
  const { sent, send } = recorder(({ url }) => {
    if (!url.includes('dead')) return 200;
    hanging += 1;
    return hung.promise;
  });
  const delivering = createDelivering(deps, { send });
  delivering.start();
  const reached = () => sent.filter(({ url }) => url.includes('alive')).length;
  for (let tries = 0; reached() < 60 && tries < 200; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(reached(), 60);
  // It is new, and so among the slow.
  assert.equal(hanging, 2);
  hung.resolve(500);
  await delivering.stop();
});

test('a webhook whose last attempt took two seconds has two deliveries under way, a quicker one eight', async () => {
  for (const [milliseconds, most] of [
    [1_999, 8],
    [2_000, 2],
  ] as const) {
    const accountId = await account();
    await webhook(accountId);
    await happens(accountId, 'swap.agreed', { swapId: swapId(0) });
    const timed = recorder(() => {
      deps.advance(milliseconds);
      return 200;
    });
    await createDelivering(deps, { send: timed.send }).pass();
    for (let n = 1; n <= 20; n += 1) {
      await happens(accountId, 'swap.agreed', { swapId: swapId(n) });
    }
    const held = Promise.withResolvers<number>();
    const { sent, send } = recorder(() => held.promise);
    const delivering = createDelivering(deps, { send });
    const passing = delivering.pass();
    while (sent.length < most) await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(sent.length, most);
    held.resolve(200);
    await passing;
    assert.equal(sent.length, 20);
  }
});

test('what a process had in hand when it died is sent by another, with the same id, and no other is', async () => {
  const accountId = await account();
  await webhook(accountId);
  await happens(accountId, 'swap.agreed', { swapId: swapId(1) });
  await handOut(deps);
  // Dies while it waits for the answer: nothing of it is stored.
  const dying = recorder(() => new Promise<number>(() => {}));
  void createDelivering(deps, { send: dying.send }).pass();
  for (let tries = 0; dying.sent.length === 0 && tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { sent, send } = recorder();
  const other = createDelivering(deps, { send });
  await other.pass();
  assert.equal(sent.length, 0, 'it is in hand');
  deps.advance(20_001);
  await other.pass();
  assert.deepEqual(
    sent.map(({ body }) => body),
    dying.sent.map(({ body }) => body),
  );
  await other.pass();
  assert.equal(sent.length, 1);
});

test('two processes hand out and send side by side: each event once, in order', async () => {
  const accountId = await account();
  await webhook(accountId);
  const swap = swapId(1);
  for (let n = 0; n < 30; n += 1) await happens(accountId, 'swap.funded', { swapId: swap, n });
  const { sent, send } = recorder(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return 200;
  });
  const both = [createDelivering(deps, { send }), createDelivering(deps, { send })];
  for (let round = 0; round < 40 && sent.length < 30; round += 1) {
    await Promise.all(both.map((each) => each.pass()));
  }
  const numbers = sent.map(({ body }) => (JSON.parse(body) as { n: number }).n);
  assert.deepEqual(
    numbers,
    Array.from({ length: 30 }, (_, n) => n),
  );
});

test('a webhook that is deleted gets nothing more', async () => {
  const accountId = await account();
  const { id } = await webhook(accountId, undefined, ['swap.agreed']);
  const { sent, send } = recorder();
  const delivering = createDelivering(deps, { send });
  await happens(accountId, 'swap.agreed', { swapId: swapId(1) });
  await handOut(deps);
  await database.db.rows({
    name: 'test_delete',
    text: 'delete from webhooks where id = $1',
    values: [id],
  });
  await delivering.pass();
  assert.deepEqual([sent.length, await deliveries()], [0, []]);
});

test('what waits behind a failing delivery comes one after the other, whoever frees it', async () => {
  const accountId = await account();
  await webhook(accountId);
  for (let n = 0; n < 5; n += 1) await happens(accountId, 'swap.funded', { swapId: swapId(1), n });
  const { sent, send } = recorder(() => 500);
  const delivering = createDelivering(deps, { send });
  await delivering.pass();
  // Handed out while the first five wait for their second attempt: behind nobody.
  await happens(accountId, 'swap.funded', { swapId: swapId(1), n: 5 });
  await delivering.pass();
  for (const seconds of retryAfterSeconds) {
    deps.advance(seconds * 1_000);
    await delivering.pass();
  }
  const numbers = sent.map(({ body }) => (JSON.parse(body) as { n: number }).n);
  const all = [0, 1, 2, 3, 4, 5];
  assert.deepEqual(numbers, [all, all, all, all, all, all].flat());
  assert.deepEqual(await waitingOf(), [0]);
});

test('what is handed out while the one before it is stored is not left behind it', async () => {
  const accountId = await account();
  const { id: webhookId } = await webhook(accountId);
  const subject = swapId(1);
  await happens(accountId, 'swap.agreed', { swapId: subject });
  const { sent, send } = recorder();
  const held = Promise.withResolvers<number>();
  const first = recorder(() => held.promise);
  const passing = createDelivering(deps, { send: first.send }).pass();
  while (first.sent.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await database.db.transaction(async (tx) => {
    await holdSubscribers(tx, [accountId]);
    const next = { id: swapId(2), webhookId, event: 'swap.funded', subject, position: 1e9 };
    await insertDeliveries(tx, [{ ...next, body: '{"type":"swap.funded"}' }], new Date(start));
    held.resolve(200);
    await new Promise((resolve) => setTimeout(resolve, 200));
  });
  await passing;
  await createDelivering(deps, { send }).pass();
  assert.deepEqual([...first.sent, ...sent].map(typeOf), ['swap.agreed', 'swap.funded']);
});

/** A delivery in two hands: one was thought dead, and still runs. */
async function inTwoHands() {
  const accountId = await account();
  await webhook(accountId);
  await happens(accountId, 'swap.agreed', { swapId: swapId(1) });
  const held = Promise.withResolvers<number>();
  const late = recorder(() => held.promise);
  const thought = createDelivering(deps, { send: late.send }).pass();
  while (late.sent.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  deps.advance(20_001);
  return {
    answerLate: async (status: number) => {
      held.resolve(status);
      await thought;
    },
  };
}

test('who was thought dead and fails late takes nothing back from who took over', async () => {
  for (const [status, after] of [
    [200, 'delivered 1'],
    [500, 'waiting 2'],
  ] as const) {
    const { answerLate } = await inTwoHands();
    const { send } = recorder(() => status);
    const other = createDelivering(deps, { send });
    await other.pass();
    deps.advance(15_000);
    await other.pass();
    await answerLate(500);
    assert.deepEqual(
      (await deliveries()).map(({ state, attempts }) => `${state} ${attempts}`),
      [after],
    );
    await database.db.rows({ name: 'clear webhooks', text: 'delete from webhooks', values: [] });
  }
});

test('who was thought dead and succeeds late spares the next attempt', async () => {
  const { answerLate } = await inTwoHands();
  const { sent, send } = recorder(() => 500);
  const other = createDelivering(deps, { send });
  await other.pass();
  await answerLate(200);
  deps.advance(15_000);
  await other.pass();
  assert.equal(sent.length, 1);
  assert.deepEqual(
    (await deliveries()).map(({ state }) => state),
    ['delivered'],
  );
  assert.deepEqual(await waitingOf(), [0]);
});

test('what waits for one webhook has a bound, and what comes beyond is counted as dropped', async () => {
  const [full, other] = [await account(), await account()];
  const { id } = await webhook(full);
  await webhook(other);
  await database.db.rows({
    name: 'test_fill',
    text: 'update webhooks set waiting = $2 where id = $1',
    values: [id, mostWaiting - 1],
  });
  for (const who of [full, other]) {
    for (let n = 0; n < 3; n += 1) await happens(who, 'swap.agreed', { swapId: swapId(n) });
  }
  await handOut(deps);
  assert.equal((await deliveries()).length, 1 + 3);
  assert.deepEqual((await waitingOf()).sort(), [mostWaiting, 3].sort());
  await createDelivering(deps, { send: recorder().send }).pass();
  assert.deepEqual((await waitingOf()).sort(), [mostWaiting - 1, 0].sort());
  const text = await deps.metrics.registry.metrics();
  assert.match(text, /webhook_attempts_total\{outcome="dropped"\} 2/);
});

test('secrets are encrypted, and stay readable when the server’s key is replaced', async () => {
  const accountId = await account();
  const keys = ['11', '22'].map((byte) => byte.repeat(32)) as [string, string];
  const under = (encryptionKey: string) =>
    testDeps({ db: database.db, settings: { home, encryptionKey } });
  deps = under(keys[0]);
  deps.freeze(start);
  const { id, secret } = await webhook(accountId);
  const [{ stored } = { stored: Buffer.alloc(0) }] = await database.db.rows<{ stored: Buffer }>({
    name: 'test_secret',
    text: 'select secret as stored from webhooks where id = $1',
    values: [id],
  });
  assert.ok(!stored.includes(secret.slice(6, 20)));
  let resealing: Promise<void> | undefined;
  await database.db.transaction(async (tx) => {
    await tx.rows({ name: 'test_hold', text: 'select id from webhooks for update', values: [] });
    // Waits until this one, which holds the row, lets go.
    resealing = resealSecrets(under(`${keys[1]},${keys[0]}`));
    await Promise.race([resealing, sleep(300)]);
  });
  await resealing;
  deps = under(keys[1]);
  deps.freeze(start);
  await happens(accountId, 'swap.agreed', { swapId: swapId(1) });
  const { sent, send } = recorder();
  await createDelivering(deps, { send }).pass();
  const [one] = sent;
  const text = `${one?.headers['x-parley-timestamp']}.${one?.body}`;
  const mac = createHmac('sha256', secret).update(text).digest('hex');
  assert.equal(one?.headers['x-parley-signature'], `sha256=${mac}`);
});
