// A gas key is leased to one at a time, whichever process: what changed while somebody waited is
// seen under the lease, and no lease lasts as long as a slow node likes.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { evm2, must } from '../server/settle/testing/world.ts';
import { partsOf } from '../server/start/watchtower.ts';
import { leaseMs, mostWaiting, mostWaitingOf, signMs } from './bounds.ts';
import { endKey, takeKey } from './db/keys.ts';
import type { Gas } from './port.ts';
import { inPlace, leased } from './sign.ts';
import { realTime } from './step.ts';
import {
  anotherDesk,
  attemptsOn,
  type Desk,
  deepen,
  forgottenDeal,
  fundedDeal,
  hurry,
  jobsOf,
  type Loose,
  passes,
  relay,
  startDesk,
  swapOf,
} from './testing/desk.ts';
import { holdKey } from './testing/hold.ts';

const limits = { timeout: 120_000 };
let desk: Desk;
let gas: Loose;
let account: Gas['account'];
before(async () => {
  desk = await startDesk();
  gas = desk.deps.gas.get(evm2) as Loose;
  ({ account } = gas);
}, limits);
beforeEach(async () => {
  gas.account = account;
  await passes(desk);
});
after(() => desk?.close());

const idOf = (end: number) => `00000000-0000-4000-8000-00000000000${end}`;

test('a lease is had by one, ends by its time, and nothing is kept after that', async () => {
  const { db } = desk.deps;
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
async function watched(): Promise<{ server: Desk; waits: Promise<void> }> {
  const { promise: waits, resolve } = Promise.withResolvers<void>();
  const pause: typeof realTime.pause = (ms, signal) => {
    if (ms < 1_000) resolve();
    return realTime.pause(ms, signal);
  };
  return {
    server: await anotherDesk(desk, { key: desk.key, signingTime: { ...realTime, pause } }),
    waits,
  };
}

test(
  'of two servers that wait with one job one signs; where it ended neither does',
  limits,
  async () => {
    for (const hasEnded of [false, true]) {
      const [one, other] = [await watched(), await watched()];
      const deal = await forgottenDeal(desk);
      const endIt = await holdKey(desk.deps.db, evm2);
      try {
        const passing = [one.server.keeper.pass(evm2)];
        await one.waits;
        // As when the first is slower than a job is in its hand.
        await hurry(desk);
        passing.push(other.server.keeper.pass(evm2));
        await other.waits;
        const text = `update keeper_jobs set state = 'done' where swap_id = $1`;
        if (hasEnded) await desk.deps.db.rows({ name: 'test_end', text, values: [deal.id] });
        await endIt();
        await Promise.all(passing);
        const own = (await attemptsOn(desk, deal, evm2)).map(({ verb }) => verb);
        assert.deepEqual(own, hasEnded ? [] : ['claim']);
        await deepen(desk);
        await passes(desk);
      } finally {
        await endIt();
        for (const { server } of [one, other]) await server.close();
      }
    }
  },
);

test('a node that does not answer holds no lease for longer than its limit', limits, async () => {
  const limit = (ms: number) => AbortSignal.timeout(ms === signMs ? 100 : 5_000);
  const slow = await anotherDesk(desk, { key: desk.key, signingTime: { ...realTime, limit } });
  try {
    const deal = await forgottenDeal(desk);
    const own = slow.deps.gas.get(evm2) as Loose;
    own.account = { ...own.account, balance: () => new Promise<bigint>(() => {}) };
    await slow.keeper.pass(evm2).catch(() => {});
    const job = (await jobsOf(desk, deal)).find(({ chain }) => chain === evm2);
    assert.equal(job?.last_failure, 'chain_timeout');
    assert.equal(
      await takeKey(desk.deps.db, evm2, { holder: idOf(1), milliseconds: 1, clock: null }),
      true,
    );
  } finally {
    await slow.close();
  }
});

test('many requests for one claim sign once', limits, async () => {
  const deal = await fundedDeal(desk);
  const answers = await Promise.all([1, 2, 3].map(() => relay(deal)));
  const [first, ...others] = answers.map(must);
  assert.deepEqual(others, [first, first]);
  assert.equal((await attemptsOn(desk, deal, evm2)).length, 1);
  await passes(desk);
  assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
});

test(
  'so many requests wait, of one account fewer, and the next is refused at once',
  limits,
  async () => {
    const parts = partsOf(desk.deps, desk.deps);
    const endIt = await holdKey(desk.deps.db, evm2);
    const stopping = new AbortController();
    const how = { patienceMs: 60_000, signal: stopping.signal };
    const ask = (accountId?: string) => {
      const wait = () => leased(parts, gas, how, async () => {});
      return accountId === undefined ? wait() : inPlace(parts, { chain: evm2, accountId }, wait);
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
  },
);
