// Jobs that wait for what a gas key has in flight: their order, the questions to nodes meanwhile,
// and how room comes.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { must } from '@parley/market/settle/testing/world.ts';
import { wantedSeconds } from './bounds.ts';
import type { Gas } from './port.ts';
import type { Loose } from './testing/desk.ts';
import { type Deal, onMarket, short } from './testing/market.ts';
import { ether, gwei } from './testing/memory.ts';

const m = onMarket();
let gas: Loose;
let account: Gas['account'];
beforeEach(() => {
  gas = m.key();
  ({ account } = gas);
});

/** Blocks take more than what is in flight offers, at so many polls. */
async function passOver(times: number): Promise<void> {
  m.baseFee(13n * gwei);
  for (let pass = 0; pass < times; pass += 1) {
    m.mine();
    m.deps.advance(21_000);
    await m.keepAll();
  }
}

async function refusedForNow(deal: Deal): Promise<void> {
  const busy = await m.relay(deal);
  assert.deepEqual([busy.status, busy.code], [503, 'overloaded'], busy.body.error);
  assert.match(busy.body.error, /has a transaction in flight, the most there may be/);
  assert.deepEqual(await m.job(deal), undefined);
}

const verbs = async (deal: Deal) => (await m.attempts(deal)).map(({ verb }) => verb);

async function land(...deals: Deal[]): Promise<void> {
  m.baseFee(gwei);
  await m.passes(deals.length + 2);
  for (const deal of deals) assert.equal((await m.swap(deal)).legs.a.claimedBy, 'keeper');
}

test('while one is in flight nothing else is signed, and a request hurries it', async () => {
  const sleeping = await m.public();
  const deal = await m.funded();
  await m.keepAll();
  await refusedForNow(deal);
  // Nor where its node has forgotten it.
  m.short.drop();
  await refusedForNow(deal);
  // How long ago that is, the database's clock says.
  m.deps.advance(2 * wantedSeconds * 1_000);
  await passOver(1);
  const raised = await m.attempts(sleeping);
  assert.deepEqual(
    raised.map(({ verb, nonce }) => [verb, nonce]),
    Array(2).fill(['claim', raised[0]?.nonce]),
    'it pays more at once, with its nonce',
  );
  await m.deepen();
  must(await m.relay(deal));
  await m.keep();
  m.deps.advance(900_000);
  m.baseFee(100n * gwei);
  m.mine();
  await m.keepAll();
  assert.equal((await m.attempts(deal)).length, 2, 'and so does what was promised');
  await land(sleeping, deal);
});

/** So many with a job, each to be claimed by a transaction of its own. */
async function sleepers(count: number): Promise<Deal[]> {
  const deals: Deal[] = [];
  for (let at = 0; at < count; at += 1) deals.push(await m.public());
  await m.run('update keeper_jobs set failures = 0');
  return deals;
}

test('a relay that a block has, and is not final, hurries nothing and voids nothing', async () => {
  const sleeping = await m.public();
  const deal = await m.funded();
  must(await m.relay(deal));
  await m.keep();
  m.mine();
  await m.keepAll();
  // A transaction that may pay no more would give its nonce up for any that waits.
  gas.dailyCap = 0n;
  await m.run('update keeper_turns set wanted_at = null');
  await passOver(2);
  assert.deepEqual(await verbs(sleeping), ['claim']);
});

test('jobs that wait are asked about once a pass, and go before a new request', async () => {
  const asked: string[] = [];
  const waiting = await sleepers(3);
  const deal = await m.funded();
  const outcome: typeof account.outcome = (sent, signal) => {
    asked.push(sent.txid);
    return account.outcome(sent, signal);
  };
  gas.account = { ...account, outcome };
  const signed = async () => (await Promise.all(waiting.map(verbs))).flat().length;
  await m.keepAll();
  await m.keepAll();
  asked.length = 0;
  await m.keepAll();
  // By its own job, and for all that wait.
  assert.ok(asked.length <= 2, `${asked.length} questions`);
  const failed = await m.run(
    `select 1 from keeper_jobs where failures > 0 and last_failure = 'busy'`,
  );
  assert.deepEqual(failed, [], 'to wait is no failure');
  assert.equal(await signed(), 1);
  await m.deepen();
  await refusedForNow(deal);
  await m.keepAll();
  assert.equal(await signed(), 2, 'they were there before');
});

test('a job that only waits for a block keeps back nobody while something is in flight', async () => {
  const sleeping = await m.public();
  const deal = await m.funded();
  await m.claim(deal);
  m.mine();
  await m.look();
  await m.keepAll();
  await m.keepAll();
  assert.equal((await m.attempts(sleeping))[0]?.outcome, 'pending');
  const job = await m.job(deal);
  assert.deepEqual([job?.state, job?.last_failure], ['open', null]);
});

test('a job short of its cap is not busy, and no request waits behind it', async () => {
  const sleeping = await m.public();
  const poor = await m.public();
  const deal = await m.funded();
  await m.hurry();
  await m.run(`update keeper_jobs set due_at = 'infinity' where swap_id = $1`, [poor.id]);
  await m.keep();
  await m.run('update keeper_jobs set due_at = $2 where swap_id = $1 and chain = $3', [
    poor.id,
    new Date(m.deps.now()),
    short,
  ]);
  gas.dailyCap = 1n;
  await m.keep();
  assert.deepEqual([await verbs(sleeping), await verbs(poor)], [['claim'], []]);
  assert.equal((await m.job(poor))?.last_failure, 'cap');
  await m.run(`update keeper_jobs set due_at = 'epoch' where swap_id = $1`, [poor.id]);
  m.mine();
  gas.dailyCap = ether;
  must(await m.relay(deal));
});

test('without nonces a relay waits for no job', async () => {
  const sleeping = await m.public();
  const deal = await m.funded();
  const { pendingNonce: _, ...without } = account;
  gas.account = without;
  await m.run(`update keeper_jobs set last_failure = 'busy' where swap_id = $1`, [sleeping.id]);
  must(await m.relay(deal));
});

test('a job that cannot pay more gives its nonce up for a request', async () => {
  const sleeping = await m.public();
  const deal = await m.funded();
  await m.keepAll();
  await refusedForNow(deal);
  gas.dailyCap = 0n;
  await passOver(2);
  assert.deepEqual(await verbs(sleeping), ['claim', 'void']);
  await m.deepen();
  gas.dailyCap = ether;
  must(await m.relay(deal));
  await land(sleeping, deal);
});

test('a waiting job goes first, and the soonest timelock among those', async () => {
  const all: Deal[] = [];
  for (let at = 0; at < 3; at += 1) {
    all.push(await m.public());
    m.deps.advance(-60_000);
  }
  m.deps.advance(240_000);
  const [other, late, soon] = all as [Deal, Deal, Deal];
  const order = [
    [other, null],
    [late, 'busy'],
    [soon, 'busy'],
  ] as const;
  for (const [at, [each, failure]] of order.entries()) {
    await m.run(
      `update keeper_jobs set last_failure = $3,
        due_at = 'epoch'::timestamptz + $2 * interval '1 second'
        where swap_id = $1 and chain = $4`,
      [each.id, at, failure, short],
    );
  }
  const signed = async () => (await Promise.all(all.map(verbs))).map(({ length }) => length);
  await m.keep();
  assert.deepEqual(await signed(), [0, 0, 1]);
  m.mine(5);
  await m.keepAll();
  assert.deepEqual(await signed(), [0, 1, 1]);
});
