// Relays of a day have bounds: what is refused is refused before anything is signed, and what
// claims have cost stays with the bounds of relays, whatever their jobs become.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ParleyError } from '../core/errors.ts';
import { refusedRelays } from '../server/edge/budgets.ts';
import { must } from '../server/settle/testing/world.ts';
import { found, rowsOfAll } from '../test/support/secrets.ts';
import { missedEverySeconds, mostFailed } from './bounds.ts';
import { keySums, relaySums } from './db/sums.ts';
import type { Gas } from './port.ts';
import { dayOf } from './spending.ts';
import type { Loose } from './testing/desk.ts';
import { holdKey } from './testing/hold.ts';
import { type Deal, long, onMarket, type Party, short } from './testing/market.ts';
import { ether } from './testing/memory.ts';

const m = onMarket();
let gas: Loose;
let given: Gas;
let taker: Party;
/** Of one account, the first one relayed. */
let [first, second] = [] as unknown as [Deal, Deal];
let reserve: bigint;
beforeEach(async () => {
  gas = m.key();
  given = { ...gas };
  taker = await m.party();
  [first, second] = [await m.funded({ taker }), await m.funded({ taker })];
  must(await m.relay(first));
  reserve = BigInt((await m.job(first))?.reserve ?? 0);
});

async function refusedFor(deal: Deal, says: RegExp): Promise<void> {
  const answer = await m.relay(deal);
  assert.deepEqual([answer.status, answer.code], [409, 'relay_unavailable'], answer.body.error);
  assert.match(answer.body.error, says);
  assert.deepEqual(await m.jobs(deal), [], 'nothing is left of it');
  assert.equal((await m.swap(deal)).secret, null);
}
const sumsOf = (accountId: string) => {
  const of = { chain: short, since: dayOf(m.deps.now()), accountId, except: null };
  return relaySums(m.deps.db, of);
};

test('an account has its number of relays a day, and the next day more', async () => {
  gas.relays = { ...given.relays, perAccount: 1 };
  const tillMidnight = /has had 1 relays on "evm-dev-2" today and 1 is the most, until the UTC day/;
  await refusedFor(second, tillMidnight);
  const hidden = new Map([['secret of a swap', second.secret]]);
  assert.deepEqual(found(await rowsOfAll(m.deps.db), hidden), []);
  gas.relays = { ...given.relays, perAccount: 1, cap: 1n };
  await m.run(`update keeper_jobs set relayed_at = created_at - interval '1 day'`);
  // What it may still take of the key is no longer there for those of the new day.
  const { own, ownTaken, taken, made } = await sumsOf(taker.accountId);
  assert.deepEqual([own, ownTaken, taken, made], [0, reserve, reserve, 0]);
  assert.equal((await sumsOf(second.maker.accountId)).ownTaken, 0n);
  const says = ` may take 0 today, ${reserve} of it is taken, and landing this may take \\d+: send`;
  await refusedFor(second, new RegExp(says));
});

test('what relays may take is counted by reserve, then by what they have cost', async () => {
  const open = await sumsOf(taker.accountId);
  assert.deepEqual([open.own, open.ownTaken], [1, reserve]);
  gas.relays = { ...given.relays, cap: 8n * reserve - 4n };
  await refusedFor(second, /of this account .* may take \d+ today, \d+ of it is taken/);
  await m.passes(2);
  const cost = await sumsOf(taker.accountId);
  assert.equal(cost.own, 1);
  assert.ok(cost.ownTaken > 0n && cost.ownTaken < open.ownTaken / 2n, 'what it did cost');
  // Of the others' nothing is seen, but that all together take too much.
  await m.run('update keeper_jobs set reserve = $1', [`${4n * ether}`]);
  gas.relays = { ...given.relays, cap: 4n * ether };
  await refusedFor(await m.funded(), /all relays on "evm-dev-2" may take \d+ today/);
});

test('dust is not relayed: a leg has to be worth more than its gas', async () => {
  await m.passes();
  const { amount } = (await m.swap(second)).legs.a;
  const costs = (mostCost: bigint, makesAccount = false) => {
    return async () => ({ mostCost, makesAccount });
  };
  gas.account = { ...given.account, quote: costs(BigInt(amount)) };
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
  gas.account = { ...given.account, sign, quote: costs(1n, true) };
  await refusedFor(second, /no account of the token .* have made 0 of the 0/);
  gas.relays = { ...given.relays, tokenAccounts: 1 };
  await refusedFor(second, /is not worth/);
  assert.deepEqual(leave, [true, false], 'one is made only where that was counted');
});

test('what is refused without signing takes no lease', async () => {
  const endIt = await holdKey(m.deps.db, short);
  try {
    gas.account = { ...given.account, balance: async () => reserve };
    await refusedFor(second, /to spare and landing this may take/);
    gas.account = { ...given.account, reserve: async () => 100n * ether };
    await refusedFor(second, /may take/);
    const fails = new ParleyError('payout_would_fail', 'its trial failed', {});
    gas.account = { ...given.account, quote: () => Promise.reject(fails) };
    assert.equal((await m.relay(second)).code, 'payout_would_fail');
  } finally {
    await endIt();
  }
});

test('refused relays of one account are looked at so often and no more', async () => {
  const { budgets } = m.app.edge;
  const { accountId } = taker;
  const spend = async (times: number) => {
    for (let time = 0; time < times; time += 1) await budgets.spend('relays', accountId);
  };
  await m.passes();
  m.deps.advance(61_000);
  await spend(refusedRelays - 1);
  gas.relays = { ...given.relays, perAccount: 0 };
  await refusedFor(second, /0 is the most: send the claim yourself/);
  gas.relays = given.relays;
  const again = { 'idempotency-key': 'of a test' };
  const limited = await m.relay(second, again);
  assert.deepEqual([limited.status, limited.code], [429, 'relay_rate_limited']);
  assert.match(limited.body.error, new RegExp(`^${refusedRelays} relays that this account asked`));
  assert.ok(Number(limited.headers['retry-after']) > 0);
  must(await m.relay(await m.funded()));
  await m.passes();
  m.deps.advance(61_000);
  await spend(refusedRelays - 1);
  // It is given back once what was promised is stored, and no transaction waits for that.
  const stored: number[] = [];
  const { giveBack } = budgets;
  Object.assign(budgets, {
    giveBack: async (...given: Parameters<typeof giveBack>) => {
      stored.push((await m.jobs(second)).length);
      await giveBack(...given);
      throw new Error('it is not known whether it was given back');
    },
  });
  must(await m.relay(second, again));
  assert.deepEqual(stored, [1]);
  Object.assign(budgets, { giveBack });
  // What is relayed already is answered whoever was refused how often.
  await spend(1);
  assert.equal((await budgets.spend('relays', accountId)).allowed, false);
  must(await m.relay(second));
});

test('what a relay has cost is never the cap’s, and what failed is not sent for ever', async () => {
  const failed = async () =>
    (await m.attempts(first)).filter(({ outcome }) => outcome === 'failed');
  const sums = async () => {
    const of = { chain: short, since: dayOf(m.deps.now()), accountId: null, except: null };
    return { cap: await keySums(m.deps.db, of), relays: await sumsOf(taker.accountId) };
  };
  // Its receiver takes what is tried and refuses what is mined.
  for (let time = 1; time <= mostFailed; time += 1) {
    await m.turn();
    m.short.state.refusing.add(taker.address);
    await m.deepen();
    m.short.state.refusing.clear();
    await m.turn();
    assert.equal((await failed()).length, time);
    m.deps.advance(10_000 * 2 ** time);
  }
  await m.turn();
  assert.equal((await m.job(first))?.state, 'dropped');
  const before = await sums();
  assert.ok(before.relays.ownTaken > 0n, 'what it has cost');
  assert.equal(before.cap.spent, 0n);
  // As after a restart: its secret is public, so that it is one of the keeper's own.
  await m.keeper.begin();
  await m.keeper.pass(short);
  assert.deepEqual(
    [(await m.job(first))?.purpose, (await failed()).length],
    ['secret', mostFailed],
  );
  assert.deepEqual(await sums(), before);
  const refused = await m.relay(first);
  assert.deepEqual([refused.status, refused.code], [409, 'relay_unavailable']);
  assert.match(refused.body.error, /took 5 claims of this leg and refused each/);
  // As if it had been given up before its last failure.
  await m.run(`update keeper_attempts set fate = 'gone' where id = (
    select max(id) from keeper_attempts where fate = 'failed')`);
  const { relays: past } = await sums();
  assert.equal(past.own, 1);
  must(await m.relay(first));
  const { relays: now } = await sums();
  reserve = BigInt((await m.job(first))?.reserve ?? 0);
  assert.ok(reserve > 0n);
  assert.deepEqual([now.own, now.ownTaken], [2, past.ownTaken + reserve]);
  // Given up once more, there is no room for it a third time, nor beside what it has cost.
  await m.run(
    `with own as (update keeper_jobs set state = 'dropped', reserve = 0
      where chain = $1 returning id)
    update keeper_attempts set fate = 'gone', charged = 0
      where fate in ('unknown', 'pending') and job_id in (select id from own)`,
    [short],
  );
  gas.relays = { ...given.relays, perAccount: 2 };
  assert.match((await m.relay(first)).body.error, /has had 2 relays .* and 2 is the most/);
  gas.relays = { ...given.relays, cap: 4n * (reserve + past.ownTaken - 1n) };
  const beside = /of this account .* and landing this may take/;
  assert.match((await m.relay(first)).body.error, beside);
});

test('claims make as many token accounts in a day as one account’s relays may, refunds none', async () => {
  await m.passes(2);
  const token = await m.dollar();
  const deals = [await m.public({ quote: token }), await m.public({ quote: token })] as const;
  const back = await m.funded({ quote: token });
  const signed: unknown[] = [];
  const { sign } = given.account;
  gas.account = {
    ...given.account,
    // Where there are token accounts each escrow is settled by itself.
    mostInBatch: 1,
    quote: async () => ({ mostCost: 1n, makesAccount: true }),
    sign: (work, slot, signal) => {
      signed.push([work.verb, slot.withoutAccount]);
      return sign(work, slot, signal);
    },
  };
  m.show({ family: 'solana' });
  const tended = async (deal: Deal) => {
    await m.turn();
    return [(await m.job(deal))?.last_failure, (await m.attempts(deal)).length];
  };
  for (const deal of deals) assert.deepEqual(await tended(deal), ['accounts', 0]);
  assert.deepEqual(signed, []);
  gas.relays = { ...gas.relays, tokenAccounts: 1 };
  // One is in flight at a time; what others used up is not one's own.
  for (let time = 0; time < 3; time += 1) {
    await m.turn();
    m.mine(5);
  }
  assert.deepEqual(signed, Array(2).fill(['claim', false]));
  const today = dayOf(m.deps.now());
  const tomorrow = new Date(today.getTime() + 86_400_000);
  for (const {
    taker: { accountId },
  } of deals) {
    for (const [since, wanted] of [
      [today, [1, 2]],
      [tomorrow, [0, 0]],
    ] as const) {
      const of = { chain: short, since, accountId, except: null };
      const { ownMade, made } = await relaySums(m.deps.db, of);
      assert.deepEqual([ownMade, made], wanted, 'relays are told of both');
    }
  }
  const { timelock } = (await m.swap(back)).legs.a;
  await m.run('update escrows set kept = true where swap_id <> $1', [back.id]);
  m.short.state.clock = timelock;
  m.show({});
  await m.look();
  m.show({ family: 'solana' });
  signed.length = 0;
  await m.turn();
  assert.deepEqual(signed, [['refund', true]]);
});

/** What claims and refunds have under way and have spent is told apart. */
async function countsAsRefund(): Promise<void> {
  const since = dayOf(m.deps.now());
  const sums = () => keySums(m.deps.db, { chain: long, since, accountId: null, except: null });
  const become = (purpose: string) =>
    m.run(
      `with own as (update keeper_jobs set purpose = $1 where chain = $2 returning id)
        update keeper_attempts set purpose = $1 where job_id in (select id from own)`,
      [purpose, long],
    );
  const claims = await sums();
  await become('refund');
  const refunds = await sums();
  await become('secret');
  assert.deepEqual([claims.spentOnRefunds, claims.refundsUnderWay], [0n, 0]);
  assert.equal(refunds.refundsUnderWay, 1);
  assert.ok(refunds.spentOnRefunds > 0n && refunds.spent === claims.spent);
}

test('a server without the key of a chain leaves its claims to others', async () => {
  const narrow = await m.open({ on: [short] });
  // What else is due would ride with it.
  await m.passes(3);
  const deal = await m.funded();
  await m.reveal(deal);
  await narrow.keeper.pass(short);
  const signed = async () => (await m.attempts(deal, null)).map(({ chain }) => chain);
  assert.deepEqual(await signed(), [short], 'in its first pass');
  assert.equal((await m.jobs(deal)).length, 1, 'it has no key of the other chain');
  m.deps.advance(missedEverySeconds * 1_000);
  await m.keep();
  assert.deepEqual((await signed()).toSorted(), [long, short]);
  await countsAsRefund();
  await m.deepen();
  const { legs } = await m.swap(deal);
  assert.deepEqual([legs.a.claimedBy, legs.b.claimedBy], ['keeper', 'keeper']);
});
