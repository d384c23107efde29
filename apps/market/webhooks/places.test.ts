// A receiver that hangs takes places from itself: by account, and in the quick lane for two seconds
// only.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimDue } from '../db/deliveries.ts';
import { handOut } from './hand-out.ts';
import { createPlaces, heldBackMs, placesEach, slowMs } from './places.ts';
import { reached, webhookMarket } from './testing/market.ts';

const { at, account, webhook, agreed, delivering } = webhookMarket();

/** Accounts with that many webhooks each, each at a host of its own below this name. */
async function owners(count: number, each: number, host: string): Promise<string[]> {
  const accounts: string[] = [];
  while (accounts.length < count) {
    const accountId = await account();
    for (let n = 0; n < each; n += 1) {
      await webhook(accountId, `https://w${n}.a${accounts.length}.${host}.example/`);
    }
    accounts.push(accountId);
  }
  return accounts;
}

/** `dead` hosts hang from when they are told to; the others answer. */
function hangingWhen(isHanging: () => boolean) {
  const held = Promise.withResolvers<number>();
  let hanging = 0;
  const { sent, ...rest } = delivering(({ url }) => {
    if (!url.includes('dead') || !isHanging()) return 200;
    hanging += 1;
    return held.promise;
  });
  const hears = async (count: number) => {
    const heard = () => sent.filter(({ url }) => url.includes('alive')).length;
    assert.ok(await reached(() => heard() === count), `${heard()} of ${count} were heard`);
  };
  return { ...rest, hears, hanging: () => hanging, release: () => held.resolve(500) };
}

test('three accounts of new receivers that hang leave most places of the new to others', async () => {
  for (const each of await owners(3, 20, 'dead')) await agreed(each, 3);
  const { start, stop, hears, hanging, release } = hangingWhen(() => true);
  start();
  try {
    assert.ok(await reached(() => hanging() >= 36));
    const [alive = ''] = await owners(1, 1, 'alive');
    await agreed(alive, 30);
    await hears(30);
    assert.equal(hanging(), 36);
  } finally {
    release();
    await stop();
  }
});

test('there are 200 quick places and 100 slow ones; what hangs leaves the quick and holds back its account', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const places = createPlaces(() => now);
  const free = (quick: number, slow: number) => assert.deepEqual(places.free(), { quick, slow });
  const take = (accountId: string, lane: 'quick' | 'slow') =>
    places.take({ webhookId: `of ${accountId}`, accountId, lane });
  free(200, 100);
  const leaveOne = take('one', 'quick');
  take('two', 'slow')();
  const leaveTwo = take('two', 'slow');
  const soon = take('three', 'quick');
  free(198, 99);
  soon();
  t.mock.timers.tick(1_999);
  free(199, 99);
  assert.deepEqual(places.heldBack(), []);
  t.mock.timers.tick(1);
  free(200, 99);
  assert.deepEqual(places.heldBack(), ['one']);
  assert.deepEqual(Object.fromEntries(places.inHand.accounts), { one: 1, two: 1 });
  leaveOne();
  leaveTwo();
  free(200, 100);
  assert.equal(places.inHand.webhooks.size, 0);
  now += heldBackMs - 1;
  assert.deepEqual(places.heldBack(), ['one']);
  now += 1;
  assert.deepEqual(places.heldBack(), []);
});

test('an account has 25 quick places, and of the slow an eighth of those that are free, taken half at a time', () => {
  const places = createPlaces(() => 0);
  const shares = new Map<number, number[]>();
  for (let taken = 0; taken <= 100; taken += 1) {
    const { room, ofAccount } = places.offer();
    assert.deepEqual([room.quick, ofAccount.quick], [200, 25]);
    shares.set(100 - taken, [room.slow, ofAccount.slow]);
    places.take({ webhookId: `${taken}`, accountId: `${taken}`, lane: 'slow' });
  }
  for (const [free, room, ofAccount] of [
    [100, 50, 12],
    [96, 48, 12],
    [95, 48, 11],
    [64, 32, 8],
    [16, 8, 2],
    [15, 8, 1],
    [1, 1, 1],
    [0, 0, 1],
  ] as const) {
    assert.deepEqual(shares.get(free), [room, ofAccount]);
  }
});

test('attempts that hang outside the quick lane have a bound too', (t) => {
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
  await agreed(accountId);
  await delivering().pass();
  await agreed(accountId);
  await handOut(at.deps);
  const now = new Date(at.deps.now());
  const { offer, inHand } = createPlaces(at.deps.now);
  const limits = { ...offer(), each: placesEach, inHand, slowMs };
  for (const [heldBack, lane] of [
    [[accountId], 'slow'],
    [[], 'quick'],
  ] as const) {
    const due = await claimDue(at.deps.db, { ...limits, now, until: now, heldBack });
    assert.deepEqual(
      due.map((each) => each.lane),
      [lane],
    );
  }
});
