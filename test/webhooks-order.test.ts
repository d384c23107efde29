// Many events, two server processes on one database, real HTTPS receivers: the order of each swap
// is kept while a receiver is healthy, and receivers that hang delay nobody else.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { insertOutbox } from '../server/db/outbox.ts';
import { uuidv7 } from '../server/ports/ids.ts';
import { insertAccount } from '../server/settle/testing/account.ts';
import { createDelivering } from '../server/webhooks/deliver.ts';
import { registerWebhook } from '../server/webhooks/register.ts';
import {
  type DeliveringProcess,
  encryptionKey,
  startDelivering,
} from '../server/webhooks/testing/process.ts';
import { type Receiver, startReceiver } from '../server/webhooks/testing/receiver.ts';
import { type TestDatabase, testDatabase } from './support/database.ts';
import { type TestDeps, testDeps } from './support/deps.ts';

let database: TestDatabase;
let deps: TestDeps;
let receiver: Receiver;

before(async () => {
  database = await testDatabase();
  const settings = { encryptionKey, webhookNetworks: ['127.0.0.1'] };
  deps = testDeps({ db: database.db, settings });
  receiver = await startReceiver();
});
after(async () => {
  await receiver?.close();
  await database?.drop();
});

async function account(): Promise<string> {
  return (await insertAccount(deps, [])).accountId;
}

async function register(accountId: string, path: string): Promise<void> {
  const url = new URL(path, receiver.url).href;
  const wanted = { accountId, url, events: [], known: [] };
  await database.db.transaction((tx) => registerWebhook(tx, deps, wanted));
}

const newSwap = () => uuidv7(deps.now(), deps.randomBytes);

async function happen(accountId: string, swapId: string, n: number): Promise<void> {
  const payload = { swapId, status: 'initiator_funded', n };
  const entry = { topic: 'swap.funded', accountId, payload, at: new Date(deps.now()) };
  await database.db.transaction((tx) => insertOutbox(tx, [entry]));
}

/** The numbers that arrived at a path, by swap, in order of arrival. */
function numbersAt(path: string): Map<string, number[]> {
  const numbers = new Map<string, number[]>();
  for (const { body, path: at } of receiver.received) {
    if (at !== path) continue;
    const { swapId, n } = JSON.parse(body) as { swapId: string; n: number };
    numbers.set(swapId, [...(numbers.get(swapId) ?? []), n]);
  }
  return numbers;
}

const countAt = (path: string) => receiver.received.filter((each) => each.path === path).length;

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    if (await isSo()) return;
    await sleep(50);
  }
  throw new Error(`not reached: ${what}`);
}

async function count(text: string): Promise<number> {
  const [row] = await database.db.rows<{ count: number }>({ name: '', text, values: [] });
  return row?.count ?? 0;
}

test('two processes deliver hundreds of events of many swaps: each once, those of a swap in order', async () => {
  const [swaps, each] = [24, 25];
  const accountId = await account();
  await register(accountId, '/one');
  await register(accountId, '/two');
  // Now sooner, now later: an order that is kept by chance would not be.
  receiver.answer((_received, response) => {
    setTimeout(() => response.writeHead(200).end(), Math.random() * 15);
  });
  const both: DeliveringProcess[] = await Promise.all([
    startDelivering(database.url, receiver.ca),
    startDelivering(database.url, receiver.ca),
  ]);
  try {
    const ids = Array.from({ length: swaps }, newSwap);
    for (let n = 0; n < each; n += 1) {
      await Promise.all(ids.map((id) => happen(accountId, id, n)));
    }
    await until(
      'everything delivered',
      async () =>
        (await count(`select count(*)::int from deliveries where state = 'delivered'`)) ===
        2 * swaps * each,
    );
    const inOrder = Array.from({ length: each }, (_, n) => n);
    for (const path of ['/one', '/two']) {
      const numbers = numbersAt(path);
      assert.equal(numbers.size, swaps);
      for (const [id, found] of numbers) assert.deepEqual(found, inOrder, `${path} ${id}`);
    }
  } finally {
    await Promise.all(both.map((one) => one.stop()));
  }
});

test('sixty receivers that hang for their 10 s delay nobody, and are tried again 15 s after that', async () => {
  const hanging = 60;
  deps.freeze();
  const alive = await account();
  await register(alive, '/alive');
  receiver.answer(200);
  const delivering = createDelivering(deps);
  delivering.start();
  try {
    await happen(alive, newSwap(), 0);
    await until('known to be quick', () => countAt('/alive') === 1);
    receiver.answer(({ path }, response) => {
      if (path === '/alive') response.writeHead(200).end();
    });
    const owners = await Promise.all(Array.from({ length: hanging / 20 }, account));
    for (const [at, owner] of owners.entries()) {
      for (let n = 0; n < 20; n += 1) await register(owner, `/dead/${at}/${n}`);
      for (let n = 0; n < 3; n += 1) await happen(owner, newSwap(), n);
    }
    const dead = () => receiver.received.filter(({ path }) => path.startsWith('/dead')).length;
    // How many an account has depends on how many are free when it comes.
    let full = 0;
    await until('their places are full', async () => {
      full = dead();
      await sleep(500);
      return full >= hanging / 3 && full === dead();
    });
    assert.ok(full <= 36, `${full} at once`);
    // Few, so that a loaded machine has told them long before the 10 s are over.
    for (let n = 1; n <= 50; n += 1) await happen(alive, newSwap(), n);
    await until('all heard by the living', () => countAt('/alive') === 51);
    const ended = `select count(*)::int from delivery_attempts where status = 0`;
    assert.equal(await count(ended), 0, 'while the others still hang');
    await until('the hanging ended', async () => (await count(ended)) >= full);
    const words = `select count(*)::int from delivery_attempts
      where status = 0 and error <> 'no answer in 10 s'`;
    assert.equal(await count(words), 0);
    receiver.answer(200);
    // The clock stood: 15 s after the end are 15 s after now.
    const untried = `select count(*)::int from deliveries where attempts = 0`;
    await until('each had its first attempt', async () => (await count(untried)) === 0);
    deps.advance(15_000);
    await until(
      'all delivered',
      async () =>
        (await count(`select count(*)::int from deliveries where state = 'waiting'`)) === 0,
    );
    assert.equal(await count(`select count(*)::int from deliveries where state = 'dropped'`), 0);
  } finally {
    await delivering.stop();
  }
});
