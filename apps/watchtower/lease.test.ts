// A gas key is leased to one process at a time: a change that came during the wait is seen under
// the lease, and no lease lasts as long as a slow node likes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { must } from '@parley/market/settle/testing/world.ts';
import { leaseMs, mostWaiting, mostWaitingOf, signMs } from './bounds.ts';
import { endKey, takeKey } from './db/keys.ts';
import { inPlace, leased } from './sign.ts';
import { realTime } from './step.ts';
import { holdKey } from './testing/hold.ts';
import { onMarket, type Server, short } from './testing/market.ts';

const m = onMarket({ signingTime: realTime });
const idOf = (end: number) => `00000000-0000-4000-8000-00000000000${end}`;

test('a lease is had by one, ends by its time, and nothing is kept after that', async () => {
  const { db } = m.deps;
  let nowMs = 1_000_000;
  const of = (end: number) => {
    return { holder: idOf(end), milliseconds: leaseMs, clock: new Date(nowMs) };
  };
  const take = (end: number) => takeKey(db, 'nowhere', of(end));
  const end = (which: number) => endKey(db, 'nowhere', of(which));
  assert.equal(await take(1), true);
  assert.equal(await take(2), false, 'nobody is interrupted');
  assert.equal(await take(1), true, 'its answer may have been lost');
  assert.equal(await end(2), false);
  assert.equal(await end(1), true);
  assert.equal(await end(1), false);
  assert.equal(await take(2), true);
  nowMs += leaseMs;
  assert.equal(await take(3), false, 'to its last moment');
  nowMs += 1;
  assert.equal(await end(2), false, 'what it signed is not kept');
  assert.equal(await take(3), true);
  nowMs -= 1_000_000;
  assert.equal(await take(4), true, 'one of before the clock was set back counts for nothing');
});

/** Another server with the same key, and when it waits for the lease. */
async function watched(): Promise<{ server: Server; waits: Promise<void> }> {
  const { promise: waits, resolve } = Promise.withResolvers<void>();
  const pause: typeof realTime.pause = (ms, signal) => {
    if (ms < 1_000) resolve();
    return realTime.pause(ms, signal);
  };
  return { server: await m.open({ signingTime: { ...realTime, pause } }), waits };
}

for (const [what, hasEnded, verbs] of [
  ['one of two servers that wait with one job signs', false, ['claim']],
  ['neither of two servers that wait with a job that ends signs', true, []],
] as const) {
  test(what, async () => {
    const one = await watched();
    const other = await watched();
    const deal = await m.public();
    const endIt = await holdKey(m.deps.db, short);
    try {
      await m.hurry();
      const passing = [one.server.keeper.pass(short)];
      await one.waits;
      // As when the first is slower than a job is in its hand.
      await m.hurry();
      passing.push(other.server.keeper.pass(short));
      await other.waits;
      if (hasEnded) await m.run(`update keeper_jobs set state = 'done'`);
      await endIt();
      await Promise.all(passing);
    } finally {
      await endIt();
    }
    assert.deepEqual(
      (await m.attempts(deal)).map(({ verb }) => verb),
      verbs,
    );
  });
}

test('a node that does not answer holds no lease for longer than its limit', async () => {
  const limit = (ms: number) => AbortSignal.timeout(ms === signMs ? 100 : 2_000);
  const slow = await m.open({ signingTime: { ...realTime, limit } });
  const deal = await m.public();
  const own = slow.gas.get(short) ?? assert.fail();
  own.account = { ...own.account, balance: () => new Promise<bigint>(() => {}) };
  await m.hurry();
  await slow.keeper.pass(short).catch(() => {});
  assert.equal((await m.job(deal))?.last_failure, 'chain_timeout');
  const lease = { holder: idOf(1), milliseconds: 1, clock: null };
  assert.equal(await takeKey(m.deps.db, short, lease), true);
});

test('many requests for one claim sign once', async () => {
  const deal = await m.funded();
  const answers = await Promise.all([1, 2, 3].map(() => m.relay(deal)));
  const [first, ...others] = answers.map(must);
  assert.deepEqual(others, [first, first]);
  assert.equal((await m.attempts(deal)).length, 1);
});

test('so many requests wait, of one account fewer, and the next is refused at once', async () => {
  const parts = m.parts();
  const endIt = await holdKey(m.deps.db, short);
  const stopping = new AbortController();
  const how = { patienceMs: 60_000, signal: stopping.signal };
  const ask = (accountId?: string) => {
    const wait = () => leased(parts, m.key(), how, async () => {});
    return accountId === undefined ? wait() : inPlace(parts, { chain: short, accountId }, wait);
  };
  const waiting: Promise<unknown>[] = [];
  const isOverloaded = (says: RegExp) => (error: Error & { code?: string }) =>
    error.code === 'overloaded' && says.test(error.message);
  try {
    for (let at = 0; at < mostWaiting; at += 1) {
      const account = `account ${Math.floor(at / mostWaitingOf)}`;
      if (at === mostWaitingOf)
        await assert.rejects(ask('account 0'), isOverloaded(/requests of this account wait/));
      waiting.push(ask(account));
    }
    await assert.rejects(ask('another'), isOverloaded(/24 requests wait .* and no more may/));
    waiting.push(ask());
  } finally {
    stopping.abort();
    await Promise.allSettled(waiting);
    await endIt();
  }
  await ask('another');
});
