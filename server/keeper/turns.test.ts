// What changed while somebody waited for a turn to sign is seen in it, and no turn lasts as long as
// a slow node likes.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeUpRevealed } from '../db/keeper-jobs.ts';
import type { Gas } from '../ports/gas.ts';
import { realTime } from '../ports/signing-time.ts';
import { evm, evm2, must } from '../settle/testing/world.ts';
import { signMs } from './bounds.ts';
import {
  anotherDesk,
  attemptsOn,
  type Desk,
  deepen,
  forgottenDeal,
  fundedDeal,
  hurry,
  jobsOf,
  keep,
  keepAll,
  type Loose,
  passes,
  relay,
  startDesk,
  swapOf,
} from './testing/desk.ts';
import { holdTurn } from './testing/hold.ts';

const limits = { timeout: 120_000 };
let desk: Desk;
let gas: Loose;
let account: Gas['account'];
before(async () => {
  desk = await startDesk();
  gas = desk.deps.gas.get(evm2) as Loose;
  ({ account } = gas);
}, limits);
beforeEach(() => {
  gas.account = account;
});
after(() => desk?.close());

const funded = () => fundedDeal(desk);

const forgotten = () => forgottenDeal(desk);
let endIt = async () => {};
const takeIt = async () => {
  endIt = await holdTurn(desk.deps.db, evm2, 'new');
};

/** Another server with the same key, and when one of its jobs waits for a turn. */
async function watched(): Promise<{ server: Desk; waits: Promise<void> }> {
  const { promise: waits, resolve } = Promise.withResolvers<void>();
  const { db } = desk.deps;
  const watching: typeof db = {
    ...db,
    rows: async <Row>(statement: Parameters<typeof db.rows>[0]) => {
      if (statement.name === 'keeper_await_turn' && statement.values[2] === 1) resolve();
      return db.rows<Row>(statement);
    },
  };
  const server = await anotherDesk({ ...desk, deps: { ...desk.deps, db: watching } }, desk);
  return { server, waits };
}

test('two servers that wait with one job sign one transaction for it', limits, async () => {
  const [one, other] = [await watched(), await watched()];
  try {
    const deal = await forgotten();
    await takeIt();
    const passing = [one.server.keeper.pass(evm2)];
    await one.waits;
    // As when the first is slower than a job is in its hand.
    await hurry(desk);
    passing.push(other.server.keeper.pass(evm2));
    await other.waits;
    await endIt();
    await Promise.all(passing);
    const own = await attemptsOn(desk, deal, evm2);
    assert.deepEqual(
      own.map(({ verb }) => verb),
      ['claim'],
    );
    await deepen(desk);
    await passes(desk);
    assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
  } finally {
    await endIt();
    for (const { server } of [one, other]) await server.close();
  }
});

test('nothing is signed for a job that ended while it waited', limits, async () => {
  const deal = await funded();
  must(await relay(deal));
  await keep(desk);
  await deepen(desk);
  const next = await forgotten();
  const { server, waits } = await watched();
  await takeIt();
  try {
    const passing = server.keeper.pass(evm2);
    await waits;
    await desk.deps.db.rows({
      name: 'test_end',
      text: `update keeper_jobs set state = 'done' where swap_id = $1`,
      values: [next.id],
    });
    await endIt();
    await passing;
    const own = await attemptsOn(desk, next, evm2);
    assert.deepEqual(own, []);
  } finally {
    await endIt();
    await server.close();
  }
});

test('a node that does not answer holds no turn for longer than its limit', limits, async () => {
  const signingTime = {
    ...realTime,
    limit: (ms: number) =>
      ms === signMs ? AbortSignal.timeout(100) : new AbortController().signal,
  };
  const slow = await anotherDesk({ ...desk, deps: { ...desk.deps, signingTime } }, desk);
  try {
    const deal = await forgotten();
    const own = slow.deps.gas.get(evm2) as Loose;
    const balance = () => new Promise<bigint>(() => {});
    own.account = { ...own.account, balance };
    await takeUpRevealed(desk.deps.db, [evm2], new Date(desk.deps.now()), 10);
    // What is not under a limit never ends.
    const passing = slow.keeper.pass(evm2).catch(() => {});
    for (let time = 0; time < 100; time += 1) {
      const [job] = (await jobsOf(desk, deal)).filter(({ chain }) => chain === evm2);
      if (job?.last_failure === 'chain_timeout') break;
      await sleep(100);
    }
    const [job] = (await jobsOf(desk, deal)).filter(({ chain }) => chain === evm2);
    assert.equal(job?.last_failure, 'chain_timeout');
    await takeIt();
    await endIt();
    void passing;
  } finally {
    await slow.settlement.stop();
    await slow.app.close();
  }
});

test('many requests for one claim sign once, and the others take no purse', limits, async () => {
  const deal = await funded();
  let balances = 0;
  gas.account = {
    ...account,
    balance: (signal) => {
      balances += 1;
      return account.balance(signal);
    },
  };
  await takeIt();
  const asking = Array.from({ length: 3 }, () => relay(deal));
  while (balances < 3) await sleep(20);
  await endIt();
  const answers = (await Promise.all(asking)).map((each) => must(each).txid);
  assert.equal(new Set(answers).size, 1);
  assert.equal(balances, 4, 'three before a turn, one in it');
  gas.account = account;
  await keep(desk);
  await deepen(desk);
  assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
});

test('a server without the key leaves no dropped relay behind', limits, async () => {
  const deal = await funded();
  const before = desk.deps.now();
  must(await relay(deal));
  const { revealBy } = (await swapOf(deal)).deadlines;
  desk.deps.freeze((revealBy + 1) * 1_000);
  await keep(desk);
  await keepAll(desk);
  const jobOf = async () => (await jobsOf(desk, deal)).find(({ chain }) => chain === evm2);
  assert.equal((await jobOf())?.state, 'dropped');
  // Its clock is set back: what was looked for later is looked for again.
  desk.deps.freeze(before);
  const text = 'update swaps set secret = $2 where id = $1';
  const { db } = desk.deps;
  await db.rows({ name: 'test_public', text, values: [deal.id, deal.secret] });
  await takeUpRevealed(db, [evm], new Date(before), 100);
  await keep(desk);
  const job = await jobOf();
  assert.deepEqual([job?.state, job?.purpose], ['open', 'secret']);
  await db.rows({
    name: 'test_dropped',
    text: `update keeper_jobs set state = 'dropped' where swap_id = $1`,
    values: [deal.id],
  });
  const { timelock } = (await swapOf(deal)).legs.a;
  desk.deps.freeze(timelock * 1_000);
  await keep(desk);
  assert.equal((await jobOf())?.state, 'dropped', 'what was given up for its timelock stays so');
});
