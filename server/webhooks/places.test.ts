// Who hangs takes places from itself: by account, and in the quick lane for two seconds only.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import { claimDue } from '../db/deliveries.ts';
import { uuidv7 } from '../ports/ids.ts';
import { createDelivering } from './deliver.ts';
import { handOut } from './hand-out.ts';
import { createPlaces, heldBackMs, placesEach, slowMs } from './places.ts';
import { happens, newAccount, newWebhook, reached, recording } from './testing/market.ts';

let database: TestDatabase;
let deps: TestDeps;

before(async () => {
  database = await testDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  for (const table of ['outbox', 'webhooks']) {
    await database.db.rows({ name: `clear ${table}`, text: `delete from ${table}`, values: [] });
  }
  deps = testDeps({ db: database.db, settings: { encryptionKey: '42'.repeat(32) } });
  deps.freeze(Date.UTC(2030, 0, 1));
});

async function agreed(accountId: string, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    const swapId = uuidv7(deps.now() + n, deps.randomBytes);
    await happens(deps, accountId, 'swap.agreed', { swapId });
  }
}

/** Accounts with that many webhooks each, each at a host of its own below this name. */
async function owners(count: number, each: number, host: string): Promise<string[]> {
  const accounts: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const accountId = await newAccount(deps);
    for (let n = 0; n < each; n += 1) {
      await newWebhook(deps, accountId, `https://w${n}.a${at}.${host}.example/`);
    }
    accounts.push(accountId);
  }
  return accounts;
}

/** `dead` hosts hang from when they are told to; the others answer. */
function hangingWhen(isHanging: () => boolean) {
  const held = Promise.withResolvers<number>();
  let hanging = 0;
  const { sent, send } = recording(({ url }) => {
    if (!url.includes('dead') || !isHanging()) return 200;
    hanging += 1;
    return held.promise;
  });
  const heard = () => sent.filter(({ url }) => url.includes('alive')).length;
  return { send, heard, hanging: () => hanging, release: () => held.resolve(500) };
}

test('three accounts of new receivers that hang leave most places of the new to others', async () => {
  const dead = await owners(3, 20, 'dead');
  for (const each of dead) await agreed(each, 3);
  const { send, heard, hanging, release } = hangingWhen(() => true);
  const delivering = createDelivering(deps, { send });
  delivering.start();
  try {
    assert.ok(await reached(() => hanging() >= 36));
    const [alive = ''] = await owners(1, 1, 'alive');
    await agreed(alive, 30);
    assert.ok(await reached(() => heard() === 30), `${heard()} of 30 were heard`);
    assert.equal(hanging(), 36);
  } finally {
    release();
    await delivering.stop();
  }
});

test('who answered at once and then hangs holds 25 quick places, for two seconds, and then none', async () => {
  let isHanging = false;
  const accounts = [...(await owners(2, 13, 'dead')), ...(await owners(1, 1, 'alive'))];
  const { send, heard, hanging, release } = hangingWhen(() => isHanging);
  const delivering = createDelivering(deps, { send });
  const [one = '', two = '', alive = ''] = accounts;
  for (const each of accounts) await agreed(each, 1);
  await delivering.pass();
  assert.equal(heard(), 1);
  isHanging = true;
  for (const each of [one, two]) await agreed(each, 16);
  delivering.start();
  try {
    assert.ok(await reached(() => hanging() >= 50));
    await agreed(alive, 30);
    assert.ok(await reached(() => heard() === 31), `${heard()} of 31 were heard`);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    assert.equal(hanging(), 50, 'their account has what it may have in hand');
    await agreed(alive, 1);
    assert.ok(await reached(() => heard() === 32));
  } finally {
    // The rest is answered, at the end of which nothing is in hand.
    isHanging = false;
    release();
    await delivering.stop();
  }
});

test('there are 200 quick places and 100 slow ones; what hangs leaves the quick and holds back its account', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const places = createPlaces(() => now);
  assert.deepEqual(places.free(), { quick: 200, slow: 100 });
  const take = (accountId: string, lane: 'quick' | 'slow') =>
    places.take({ webhookId: `of ${accountId}`, accountId, lane });
  const leaveOne = take('one', 'quick');
  take('two', 'slow')();
  const leaveTwo = take('two', 'slow');
  const soon = take('three', 'quick');
  assert.deepEqual(places.free(), { quick: 198, slow: 99 });
  soon();
  t.mock.timers.tick(1_999);
  assert.deepEqual([places.free(), places.heldBack()], [{ quick: 199, slow: 99 }, []]);
  t.mock.timers.tick(1);
  assert.deepEqual([places.free(), places.heldBack()], [{ quick: 200, slow: 99 }, ['one']]);
  assert.deepEqual(
    [...places.inHand.accounts],
    [
      ['one', 1],
      ['two', 1],
    ],
  );
  leaveOne();
  leaveTwo();
  assert.deepEqual([places.free(), places.inHand.webhooks.size], [{ quick: 200, slow: 100 }, 0]);
  now += heldBackMs - 1;
  assert.deepEqual(places.heldBack(), ['one']);
  now += 1;
  assert.deepEqual(places.heldBack(), []);
});

test('an account has 25 quick places, and of the slow an eighth of those that are free, taken half at a time', () => {
  const places = createPlaces(() => 0);
  const shares: number[][] = [];
  for (let taken = 0; taken <= 100; taken += 1) {
    const { room, ofAccount } = places.offer();
    assert.deepEqual([room.quick, ofAccount.quick], [200, 25]);
    if ([0, 4, 5, 36, 60, 84, 85, 99, 100].includes(taken)) {
      shares.push([100 - taken, room.slow, ofAccount.slow]);
    }
    places.take({ webhookId: `${taken}`, accountId: `${taken}`, lane: 'slow' });
  }
  assert.deepEqual(shares, [
    [100, 50, 12],
    [96, 48, 12],
    [95, 48, 11],
    [64, 32, 8],
    [40, 20, 5],
    [16, 8, 2],
    [15, 8, 1],
    [1, 1, 1],
    [0, 0, 1],
  ]);
});

test('a hundred such accounts fill the places of the slow, and not one of the quick', async () => {
  const [quick = ''] = await owners(1, 1, 'alive');
  const dead = await owners(110, 1, 'dead');
  const { send, heard, hanging, release } = hangingWhen(() => true);
  const delivering = createDelivering(deps, { send });
  await agreed(quick, 1);
  await delivering.pass();
  for (const each of dead) await agreed(each, 1);
  delivering.start();
  try {
    assert.ok(await reached(() => hanging() === 100), `${hanging()}`);
    await agreed(quick, 30);
    assert.ok(await reached(() => heard() === 31), `${heard()} of 31 were heard`);
    assert.equal(hanging(), 100);
  } finally {
    release();
    await delivering.stop();
  }
});

test('what hangs outside the quick lane has a bound too', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const places = createPlaces(() => 0);
  for (let round = 0; round < 2; round += 1) {
    for (let n = 0; n < 200; n += 1) {
      places.take({ webhookId: `${round} ${n}`, accountId: `${n}`, lane: 'quick' });
    }
    t.mock.timers.tick(2_000);
  }
  assert.deepEqual(places.free(), { quick: 0, slow: 100 });
});

test('webhooks of an account that is held back are among the slow, however quick they were', async () => {
  const [accountId = ''] = await owners(1, 1, 'alive');
  await agreed(accountId, 1);
  await createDelivering(deps, { send: recording(() => 200).send }).pass();
  await agreed(accountId, 1);
  await handOut(deps);
  const now = new Date(deps.now());
  const { offer, inHand } = createPlaces(deps.now);
  const limits = { ...offer(), each: placesEach, inHand, slowMs };
  for (const [heldBack, lane] of [
    [[accountId], 'slow'],
    [[], 'quick'],
  ] as const) {
    const due = await claimDue(database.db, { ...limits, now, until: now, heldBack });
    assert.deepEqual(
      due.map((each) => each.lane),
      [lane],
    );
  }
});
