// Who waits for what a gas key has in flight: who goes first, what nodes are asked meanwhile, and
// what makes room.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { evm2, must } from '../server/settle/testing/world.ts';
import { partsOf } from '../server/start/watchtower.ts';
import { mostWaitingOf, pauseMs, requestPatienceMs, wantedSeconds } from './bounds.ts';
import type { Gas } from './port.ts';
import {
  attemptsOn,
  baseFee,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  ether,
  forgottenDeal,
  fundedDeal,
  gwei,
  jobsOf,
  keep,
  keepAll,
  type Loose,
  look,
  passes,
  relay,
  startDesk,
  swapOf,
} from './testing/desk.ts';
import { createWatchtower } from './watchtower.ts';

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
  await baseFee(desk, evm2, gwei);
  // Nothing of one test is in flight in the next.
  await passes(desk);
  await keepAll(desk);
});
after(() => desk?.close());

const funded = () => fundedDeal(desk);
const run = (text: string, values: readonly unknown[] = []) =>
  desk.deps.db.rows<Record<string, unknown>>({ name: '', text, values });

/** Taken up, with nothing signed for it. */
async function forgotten(): Promise<Deal> {
  const deal = await forgottenDeal(desk);
  gas.dailyCap = 0n;
  await keep(desk);
  gas.dailyCap = ether;
  return deal;
}

const secretOf = async (deal: Deal) => (await swapOf(deal)).secret;

/** Blocks take more than what is in flight offers, so many looks long. */
async function passOver(times: number): Promise<void> {
  for (let pass = 0; pass < times; pass += 1) {
    await baseFee(desk, evm2, 13n * gwei);
    await desk.dev.mine(evm2, 1);
    desk.deps.advance(21_000);
    await keepAll(desk);
  }
}

async function refusedForNow(deal: Deal): Promise<void> {
  const busy = await relay(deal);
  assert.deepEqual([busy.status, busy.code], [503, 'overloaded'], busy.body.error);
  assert.match(busy.body.error, /has a transaction in flight, the most there may be/);
  assert.deepEqual(await jobsOf(desk, deal), []);
  assert.equal(await secretOf(deal), null);
}

test(
  'while one is in flight nothing else is signed, and a request hurries it',
  limits,
  async () => {
    const [sleeping, deal] = [await forgotten(), await funded()];
    await keepAll(desk);
    await refusedForNow(deal);
    // Nor where its node has forgotten it.
    await desk.rpc(evm2)('anvil_dropAllTransactions', []);
    await refusedForNow(deal);
    // How long ago that is, the database's clock says.
    desk.deps.advance(2 * wantedSeconds * 1_000);
    await passOver(1);
    const raised = await attemptsOn(desk, sleeping, evm2);
    assert.deepEqual(
      raised.map(({ verb, nonce }) => [verb, nonce]),
      Array(2).fill(['claim', raised[0]?.nonce]),
      'it pays more at once, with its nonce',
    );
    await baseFee(desk, evm2, 13n * gwei);
    await deepen(desk);
    await baseFee(desk, evm2, gwei);
    await deepen(desk);
    must(await relay(deal));
    await keep(desk);
    desk.deps.advance(900_000);
    await passOver(1);
    assert.ok((await attemptsOn(desk, deal, evm2)).length > 1, 'and so does what was promised');
    await baseFee(desk, evm2, 13n * gwei);
    await deepen(desk);
    for (const each of [sleeping, deal]) {
      assert.equal((await swapOf(each)).legs.a.claimedBy, 'keeper');
    }
  },
);

/** So many taken up, each to be claimed by a transaction of its own. */
async function sleepers(count: number): Promise<Deal[]> {
  const deals: Deal[] = [];
  for (let at = 0; at < count; at += 1) deals.push(await forgotten());
  await run('update keeper_jobs set alone = true, failures = 0');
  return deals;
}

test(
  'a relay that a block has, and is not final, hurries nothing and voids nothing',
  limits,
  async () => {
    const [sleeping, deal] = [await forgotten(), await funded()];
    must(await relay(deal));
    await keep(desk);
    await desk.dev.mine(evm2, 1);
    await keepAll(desk);
    // What may pay no more would give its nonce up for whatever waits.
    gas.dailyCap = 0n;
    await run('update keeper_turns set wanted_at = null');
    await passOver(2);
    gas.dailyCap = ether;
    assert.equal((await attemptsOn(desk, sleeping, evm2)).length, 1);
    await baseFee(desk, evm2, gwei);
    await deepen(desk);
  },
);

test(
  'jobs that wait are asked about once a pass, and go before a new request',
  limits,
  async () => {
    const asked: string[] = [];
    const waiting = await sleepers(3);
    const deal = await funded();
    const fate: typeof account.fate = (sent, signal) => {
      asked.push(sent.txid);
      return account.fate(sent, signal);
    };
    gas.account = { ...account, fate };
    const signed = async () => {
      return (await Promise.all(waiting.map((each) => attemptsOn(desk, each, evm2)))).flat().length;
    };
    await keepAll(desk);
    await keepAll(desk);
    asked.length = 0;
    await keepAll(desk);
    // By its own job, and for all that wait.
    assert.ok(asked.length <= 2, `${asked.length} questions`);
    const failed = await run('select 1 from keeper_jobs where failures > 0 and last_failure = $1', [
      'busy',
    ]);
    assert.deepEqual(failed, [], 'to wait is no failure');
    assert.equal(await signed(), 1);
    await deepen(desk);
    await refusedForNow(deal);
    await keepAll(desk);
    assert.equal(await signed(), 2, 'they were there before');
    await passes(desk, 3);
  },
);

test(
  'what only waits for a block keeps back nobody while something is in flight',
  limits,
  async () => {
    const [sleeping, deal] = [await forgotten(), await funded()];
    await claimOwn(desk, deal);
    await desk.dev.mine(evm2, 1);
    await look(desk);
    await keepAll(desk);
    await keepAll(desk);
    assert.equal((await attemptsOn(desk, sleeping, evm2))[0]?.fate, 'pending');
    const job = (await jobsOf(desk, deal)).find(({ chain }) => chain === evm2);
    assert.deepEqual([job?.state, job?.last_failure], ['open', null]);
    await passes(desk, 2);
  },
);

test('without nonces a relay waits for no job', limits, async () => {
  const [sleeping, deal] = [await forgotten(), await funded()];
  const { pendingNonce: _, ...without } = account;
  gas.account = without;
  await run(`update keeper_jobs set last_failure = 'busy' where swap_id = $1`, [sleeping.id]);
  must(await relay(deal));
  gas.account = account;
  await passes(desk, 3);
});

test('what cannot pay more gives its nonce up for a request', limits, async () => {
  const [sleeping, deal] = [await forgotten(), await funded()];
  await keepAll(desk);
  await refusedForNow(deal);
  gas.dailyCap = 0n;
  await passOver(2);
  const [own, instead] = await attemptsOn(desk, sleeping, evm2);
  assert.deepEqual([own?.verb, instead?.verb], ['claim', 'void']);
  await baseFee(desk, evm2, 13n * gwei);
  await deepen(desk);
  must(await relay(deal));
  gas.dailyCap = ether;
  await baseFee(desk, evm2, gwei);
  await passes(desk, 3);
  for (const each of [sleeping, deal]) {
    assert.equal((await swapOf(each)).legs.a.claimedBy, 'keeper', 'and later it lands too');
  }
});

test(
  'while requests wait one of them asks nodes, once a second, and so many of an account wait',
  limits,
  async () => {
    const [, deal] = [await forgotten(), await funded()];
    await keepAll(desk);
    let asked = 0;
    const balance: typeof account.balance = (signal) => {
      asked += 1;
      return account.balance(signal);
    };
    gas.account = { ...account, balance };
    await refusedForNow(deal);
    const mostAsked = 1 + requestPatienceMs / pauseMs;
    assert.ok(asked >= 1 && asked <= mostAsked, `${asked} of ${mostAsked}`);
    asked = 0;
    const answers = await Promise.all(Array.from({ length: mostWaitingOf + 1 }, () => relay(deal)));
    const says = answers.map(({ code, body }) => `${code} ${body.error}`).toSorted();
    assert.match(says[0] ?? '', /^overloaded 4 requests of this account wait for the gas key/);
    for (const each of says.slice(1)) assert.match(each, /has a transaction in flight/);
    const others = mostWaitingOf - 1;
    assert.ok(asked <= others + mostAsked, `${asked} of ${others + mostAsked}`);
    await passes(desk, 2);
  },
);

test('what waits goes first, and of what waits the soonest timelock', limits, async () => {
  const [soon, late, other] = (await sleepers(3)) as [Deal, Deal, Deal];
  // Found last.
  await run('delete from keeper_jobs where swap_id = $1 and chain = $2', [soon.id, evm2]);
  await desk.keeper.begin();
  gas.dailyCap = 0n;
  await keep(desk);
  gas.dailyCap = ether;
  await run('update keeper_jobs set alone = true, failures = 0');
  const set = (deal: Deal, more: string) =>
    run(`update keeper_jobs set ${more} where swap_id = $1 and chain = $2`, [deal.id, evm2]);
  for (const [order, each] of [other, late, soon].entries()) {
    await set(each, `due_at = 'epoch'::timestamptz + interval '${order} seconds'`);
  }
  for (const each of [late, soon]) await set(each, `last_failure = 'busy'`);
  const signed = async () => {
    const all = await Promise.all([soon, late, other].map((deal) => attemptsOn(desk, deal, evm2)));
    return all.map(({ length }) => length);
  };
  await keep(desk);
  assert.deepEqual(await signed(), [1, 0, 0]);
  await deepen(desk);
  await keepAll(desk);
  assert.deepEqual(await signed(), [1, 1, 0]);
  await passes(desk, 3);
});

test('where new work is not found what is known is done', limits, async () => {
  const parts = partsOf(desk.deps, desk.deps);
  const takeUp = () => Promise.reject(new Error('of a test'));
  const own = createWatchtower({ ...parts, market: { ...parts.market, takeUp } });
  const deal = await funded();
  own.start();
  try {
    // Its first passes are over.
    await sleep(500);
    must(await relay(deal));
    const isSent = async () => (await secretOf(deal)) !== null;
    for (let time = 0; time < 100 && !(await isSent()); time += 1) await sleep(100);
    assert.equal(await isSent(), true);
  } finally {
    await own.stop();
  }
  await passes(desk);
});
