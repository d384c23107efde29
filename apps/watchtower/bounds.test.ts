// A day has one cap: a request beyond it is refused before anything is signed, and the cost of a
// relay stays counted, whatever its job becomes.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { refusedRelays } from '@parley/market/edge/budgets.ts';
import { must } from '@parley/market/settle/testing/world.ts';
import { found, rowsOfAll } from '@parley/verify/test/support/secrets.ts';
import { missedEverySeconds, mostFailed } from './bounds.ts';
import { keySums } from './db/sums.ts';
import type { Gas } from './port.ts';
import { dayOf } from './spending.ts';
import type { Loose } from './testing/desk.ts';
import { type Deal, long, onMarket, type Party, short } from './testing/market.ts';

const m = onMarket();
let gas: Loose;
let given: Gas;
let taker: Party;
/** Two of one account, the first one relayed. */
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
const sumsOf = (except: number | null = null) =>
  keySums(m.deps.db, { chain: short, since: dayOf(m.deps.now()), except });

test('an open relay counts with its reserve, then with what it has cost', async () => {
  const hidden = new Map([['secret of a swap', second.secret]]);
  const { spent, promised, reserved } = await sumsOf();
  assert.deepEqual([reserved, spent + promised], [reserve, reserve]);
  gas.dailyCap = 4n * reserve - 2n;
  const says =
    /may spend \d+ today, .* is promised, and landing this may take \d+, until the UTC day ends/;
  await m.passes();
  await refusedFor(second, says);
  assert.deepEqual(found(await rowsOfAll(m.deps.db), hidden), []);
  // On the next day, too, as long as it is open.
  m.deps.advance(86_400_000);
  assert.equal((await sumsOf()).promised, reserve);
  m.deps.advance(-86_400_000);
  await m.passes();
  const cost = await sumsOf();
  assert.equal(cost.promised, 0n);
  assert.ok(cost.spent > 0n && cost.spent < reserve / 2n, 'what it did cost');
  assert.equal(cost.spentBeside, cost.spent);
  must(await m.relay(second));
});

test('dust is not relayed: a leg has to be worth more than its gas', async () => {
  await m.passes();
  const { amount } = (await m.swap(second)).legs.a;
  gas.account = { ...given.account, quote: async () => BigInt(amount) };
  await refusedFor(second, new RegExp(`a leg of ${amount} is not worth the ${amount}`));
  // A fault that signing finds is refused then.
  const sign: Gas['account']['sign'] = async (work, slot, signal) => {
    return { ...(await given.account.sign(work, slot, signal)), mostCost: BigInt(amount) };
  };
  gas.account = { ...given.account, sign };
  await refusedFor(second, /is not worth/);
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
  gas.dailyCap = 1n;
  await refusedFor(second, /may spend 1 today/);
  gas.dailyCap = given.dailyCap;
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
  // A claim that is relayed already is answered, however often others were refused.
  await spend(1);
  assert.equal((await budgets.spend('relays', accountId)).allowed, false);
  must(await m.relay(second));
});

test('the cost of a relay stays counted, and a failed one is not sent for ever', async () => {
  const failed = async () =>
    (await m.attempts(first)).filter(({ outcome }) => outcome === 'failed');
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
  const before = await sumsOf();
  assert.ok(before.spentBeside > 0n, 'what it has cost');
  // As after a restart: its secret is public, so that it is one of the keeper's own.
  await m.keeper.begin();
  await m.keeper.pass(short);
  assert.deepEqual(
    [(await m.job(first))?.purpose, (await failed()).length],
    ['secret', mostFailed],
  );
  assert.deepEqual(await sumsOf(), before);
  const refused = await m.relay(first);
  assert.deepEqual([refused.status, refused.code], [409, 'relay_unavailable']);
  assert.match(refused.body.error, /took 5 transactions for this leg and refused each/);
});

test('a server without the key of a chain leaves its claims to others', async () => {
  const narrow = await m.open({ on: [short] });
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
  await m.deepen();
  const { legs } = await m.swap(deal);
  assert.deepEqual([legs.a.claimedBy, legs.b.claimedBy], ['keeper', 'keeper']);
});
