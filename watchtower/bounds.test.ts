// Relays of a day have bounds, and what is refused is refused before anything is signed.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { ParleyError } from '../core/errors.ts';
import { refusedRelays } from '../server/edge/budgets.ts';
import { evm, evm2, must } from '../server/settle/testing/world.ts';
import { found, rowsOfAll } from '../test/support/secrets.ts';
import { keySums, relaySums } from './db/sums.ts';
import type { Gas } from './port.ts';
import { dayOf } from './spending.ts';
import {
  agree,
  anotherDesk,
  attemptsOn,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  ether,
  fundBoth,
  jobsOf,
  keep,
  keepAll,
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
let given: Gas;
/** Two of one account and one of another; what one test leaves of them the next goes on with. */
let [first, second, stranger] = [] as unknown as [Deal, Deal, Deal];
before(async () => {
  desk = await startDesk();
  gas = desk.deps.gas.get(evm2) as Loose;
  given = { ...gas };
  first = await agree(desk);
  second = await agree(desk, { taker: first.taker });
  stranger = await agree(desk);
  for (const deal of [first, second, stranger]) await fundBoth(desk, deal);
}, limits);
beforeEach(() => {
  Object.assign(gas, given);
});
after(() => desk?.close());

async function refusedFor(deal: Deal, says: RegExp): Promise<void> {
  const answer = await relay(deal);
  assert.deepEqual([answer.status, answer.code], [409, 'relay_unavailable'], answer.body.error);
  assert.match(answer.body.error, says);
  assert.deepEqual(await jobsOf(desk, deal), [], 'nothing is left of it');
  const hidden = new Map([['secret of a swap', deal.secret]]);
  assert.deepEqual(found(await rowsOfAll(desk.deps.db), hidden), []);
  assert.equal((await swapOf(deal)).secret, null);
}

const accountOf = async (deal: Deal) => {
  const [row] = await desk.deps.db.rows<{ id: string }>({
    name: 'test_taker',
    text: 'select taker_id as id from swaps where id = $1',
    values: [deal.id],
  });
  return row?.id ?? '';
};

const sumsOf = async (deal: Deal) =>
  relaySums(desk.deps.db, {
    chain: evm2,
    since: dayOf(desk.deps.now()),
    accountId: await accountOf(deal),
    except: null,
  });

/** As if it had been taken on so many days ago. */
async function relayedBefore(deal: Deal, days: number): Promise<void> {
  await desk.deps.db.rows({
    name: 'test_relayed_before',
    text: `update keeper_jobs set relayed_at = created_at - $2 * interval '1 day'
      where swap_id = $1`,
    values: [deal.id, days],
  });
}

test('an account has its number of relays a day, and the next day more', limits, async () => {
  must(await relay(first));
  gas.relays = { ...given.relays, perAccount: 1 };
  const tillMidnight = /has had 1 relays on "evm-dev-2" today and 1 is the most, until the UTC day/;
  await refusedFor(second, tillMidnight);
  gas.relays = { ...given.relays, perAccount: 1, cap: 1n };
  await relayedBefore(first, 1);
  // What it may still take of the key is no longer there for those of the new day.
  const [job] = await jobsOf(desk, first);
  const reserve = BigInt(job?.reserve ?? 0);
  const { own, ownTaken, taken, made } = await sumsOf(first);
  assert.deepEqual([own, ownTaken, taken, made], [0, reserve, reserve, 0]);
  assert.deepEqual((await sumsOf(stranger)).ownTaken, 0n);
  await refusedFor(
    second,
    new RegExp(
      ` may take 0 today, ${reserve} of it is taken, and landing this may take \\d+: send`,
    ),
  );
  await relayedBefore(first, 0);
});

test(
  'what relays may take is counted by reserve, then by what they have cost',
  limits,
  async () => {
    const open = await sumsOf(first);
    const [job] = await jobsOf(desk, first);
    assert.deepEqual([open.own, open.ownTaken], [1, BigInt(job?.reserve ?? 0)]);
    gas.relays = { ...given.relays, cap: 6n * open.ownTaken };
    await refusedFor(second, /of this account .* may take \d+ today, \d+ of it is taken/);
    await keep(desk);
    await deepen(desk);
    await keepAll(desk);
    assert.equal((await swapOf(first)).legs.a.claimedBy, 'keeper');
    const cost = await sumsOf(first);
    assert.equal(cost.own, 1);
    assert.ok(cost.ownTaken > 0n && cost.ownTaken < open.ownTaken / 2n, 'what it did cost');
    // Of the others' nothing is seen, but that all together take too much.
    await desk.deps.db.rows({
      name: 'test_dear',
      text: 'update keeper_jobs set reserve = $2 where swap_id = $1',
      values: [first.id, (4n * ether).toString()],
    });
    gas.relays = { ...given.relays, cap: 4n * ether };
    await refusedFor(stranger, /all relays on "evm-dev-2" may take \d+ today/);
    await desk.deps.db.rows({
      name: 'test_cheap',
      text: 'update keeper_jobs set reserve = 0 where swap_id = $1',
      values: [first.id],
    });
  },
);

test('dust is not relayed: a leg has to be worth more than its gas', limits, async () => {
  const { amount } = (await swapOf(second)).legs.a;
  const quote = async () => ({ mostCost: BigInt(amount), makesAccount: false });
  gas.account = { ...given.account, quote };
  await refusedFor(second, new RegExp(`a leg of ${amount} is not worth the ${amount}`));
  // What is found only when it is signed is refused then.
  const leave: unknown[] = [];
  const sign: Gas['account']['sign'] = async (work, slot, signal) => {
    leave.push(slot.withoutAccount);
    return { ...(await given.account.sign(work, slot, signal)), mostCost: BigInt(amount) };
  };
  gas.account = { ...given.account, sign };
  await refusedFor(second, /is not worth/);
  // As on Solana, where the receiver has no account of the token.
  const making = async () => ({ mostCost: 1n, makesAccount: true });
  gas.account = { ...given.account, sign, quote: making };
  await refusedFor(second, /no account of the token .* have made 0 of the 0/);
  gas.relays = { ...given.relays, tokenAccounts: 1 };
  await refusedFor(second, /is not worth/);
  assert.deepEqual(leave, [true, false], 'one is made only where that was counted');
});

test('what is refused without signing takes no lease', limits, async () => {
  const { db } = desk.deps;
  const endIt = await holdKey(db, evm2);
  try {
    gas.account = { ...given.account, balance: async () => 1n };
    await refusedFor(stranger, /to spare and landing this may take/);
    gas.account = { ...given.account, reserve: async () => 100n * ether };
    await refusedFor(stranger, /may take/);
    const fails = new ParleyError('payout_would_fail', 'its trial failed', {});
    gas.account = { ...given.account, quote: () => Promise.reject(fails) };
    assert.equal((await relay(stranger)).code, 'payout_would_fail');
  } finally {
    await endIt();
  }
});

test('refused relays of one account are looked at so often and no more', limits, async () => {
  const { budgets } = desk.app.edge;
  const accountId = await accountOf(second);
  desk.deps.advance(61_000);
  for (let time = 1; time < refusedRelays; time += 1) await budgets.spend('relays', accountId);
  gas.relays = { ...given.relays, perAccount: 0 };
  await refusedFor(second, /0 is the most: send the claim yourself/);
  gas.relays = given.relays;
  const again = { 'idempotency-key': 'of a test' };
  const limited = await relay(second, again);
  assert.deepEqual([limited.status, limited.code], [429, 'relay_rate_limited']);
  assert.match(limited.body.error, new RegExp(`^${refusedRelays} relays that this account asked`));
  assert.ok(Number(limited.headers['retry-after']) > 0);
  must(await relay(stranger));
  await passes(desk);
  desk.deps.advance(61_000);
  for (let time = 1; time < refusedRelays; time += 1) await budgets.spend('relays', accountId);
  // It is given back once what was promised is stored, and no transaction waits for that.
  const stored: number[] = [];
  const { giveBack } = budgets;
  Object.assign(budgets, {
    giveBack: async (...given: Parameters<typeof giveBack>) => {
      stored.push((await jobsOf(desk, second)).length);
      await giveBack(...given);
      throw new Error('it is not known whether it was given back');
    },
  });
  must(await relay(second, again));
  assert.deepEqual(stored, [1]);
  Object.assign(budgets, { giveBack });
  must(await relay(second));
  // What is relayed already is answered whoever was refused how often.
  await budgets.spend('relays', accountId);
  assert.equal((await budgets.spend('relays', accountId)).allowed, false);
  must(await relay(second));
});

/** What claims and refunds have under way and have spent is told apart. */
async function countsAsRefund(deal: Deal): Promise<void> {
  const { db } = desk.deps;
  const since = dayOf(desk.deps.now());
  const sums = () => keySums(db, { chain: evm, since, accountId: null, except: null });
  const become = async (purpose: string) => {
    const text = `with own as (
        update keeper_jobs set purpose = $3 where swap_id = $1 and chain = $2 returning id)
      update keeper_attempts set purpose = $3 where job_id in (select id from own)`;
    await db.rows({ name: 'test_become', text, values: [deal.id, evm, purpose] });
  };
  const claims = await sums();
  await become('refund');
  const refunds = await sums();
  await become('secret');
  assert.deepEqual([claims.spentOnRefunds, claims.refundsUnderWay], [0n, 0]);
  assert.equal(refunds.refundsUnderWay, 1);
  assert.ok(refunds.spentOnRefunds > 0n && refunds.spent === claims.spent);
}

test('a server without the key of a chain leaves its claims to others', limits, async () => {
  const narrow = await anotherDesk(desk, { key: desk.key, on: [evm2] });
  try {
    // What else is due would ride with it.
    await passes(desk, 3);
    const deal = await agree(desk);
    await fundBoth(desk, deal);
    await claimOwn(desk, deal);
    await desk.rpc(evm2)('anvil_dropAllTransactions');
    // A transaction of the party's own is waited for that long.
    desk.deps.advance(1_300_000);
    await narrow.keeper.pass(evm2);
    const signed = async () => (await attemptsOn(desk, deal)).map(({ chain }) => chain);
    assert.deepEqual(await signed(), [evm2], 'in its first pass');
    assert.deepEqual((await jobsOf(desk, deal)).length, 1, 'it has no key of the other chain');
    await keep(desk);
    assert.deepEqual((await signed()).toSorted(), [evm, evm2].toSorted());
    await countsAsRefund(deal);
    await deepen(desk);
    const { legs } = await swapOf(deal);
    assert.deepEqual([legs.a.claimedBy, legs.b.claimedBy], ['keeper', 'keeper']);
  } finally {
    await narrow.close();
  }
});
