// Claims and refunds that are due together, settled by one transaction; and each by itself where
// that would fail.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ParleyError } from '../core/errors.ts';
import { spentOnEach } from './db/rides.ts';
import { keySums } from './db/sums.ts';
import type { Gas } from './port.ts';
import { dayOf } from './spending.ts';
import type { Loose } from './testing/desk.ts';
import { type Deal, long, onMarket } from './testing/market.ts';
import { ether, gwei } from './testing/memory.ts';

const m = onMarket({ on: [long] });
let gas: Loose;
let account: Gas['account'];
beforeEach(() => {
  gas = m.key(long);
  ({ account } = gas);
});

/** Their secrets are public: the long legs are left to the watchtower. */
async function shown(count: number): Promise<Deal[]> {
  const deals: Deal[] = [];
  for (let at = 0; at < count; at += 1) deals.push(await m.public());
  return deals;
}
const legOf = async (deal: Deal) => (await m.swap(deal)).legs.b;
const legsOf = (deals: readonly Deal[]) => Promise.all(deals.map(legOf));
const statuses = async (deals: readonly Deal[]) =>
  (await legsOf(deals)).map(({ status, claimedBy }) => `${status} ${claimedBy}`);
const settled = (deals: readonly Deal[]) => deals.map(() => 'claimed keeper');
const madeFor = async (deals: readonly Deal[]) =>
  (await Promise.all(deals.map((deal) => m.attempts(deal, long)))).flat();
const escrows = async (deals: readonly Deal[]) =>
  (await legsOf(deals)).map(({ escrow }) => escrow).sort();
const areAlone = async (deals: readonly Deal[]) => {
  const ids = deals.map(({ id }) => id);
  const text = 'select bool_and(alone) as alone from keeper_jobs where swap_id = any($1)';
  return (await m.run(text, [ids]))[0]?.alone;
};

test('claims that are due together are one transaction, whose cost is divided', async () => {
  const deals = await shown(3);
  const since = dayOf(m.deps.now());
  const all = { chain: long, since, accountId: null, except: null };
  const refused: string[] = [];
  const sign: Gas['account']['sign'] = async ({ verb }) => {
    refused.push(verb);
    throw new ParleyError('fee_above_limit', 'fees are too high now', {});
  };
  gas.account = { ...account, sign };
  await m.keepAll();
  gas.account = account;
  const count = (verb: string) => refused.filter((each) => each === verb).length;
  assert.ok(count('batch') > 0, 'in lanes of their own all may lead');
  assert.equal(count('claim'), count('batch'), 'each leader is tried alone, once');
  await m.passes(3);
  assert.deepEqual(await statuses(deals), settled(deals));
  const claims = await legsOf(deals);
  assert.equal(new Set(claims.map(({ claimTx }) => claimTx)).size, 1);
  assert.equal(m.long.settledBy(claims[0].claimTx).length, 3);
  const made = (await madeFor(deals)).map(({ verb, outcome }) => [verb, outcome]);
  assert.deepEqual(made, [['claim', 'deep']]);
  for (const deal of deals) {
    const job = await m.job(deal, long);
    assert.deepEqual([job?.state, job?.reserve], ['done', '0']);
  }
  const { spent: cost } = await keySums(m.deps.db, all);
  const accountIds = deals.map(({ maker }) => maker.accountId);
  const parts = await spentOnEach(m.deps.db, { chain: long, since, accountIds });
  assert.ok(cost > 0n);
  for (const accountId of accountIds) {
    const { spentOn } = await keySums(m.deps.db, { ...all, accountId });
    assert.equal(parts.get(accountId), spentOn);
    assert.ok(3n * spentOn >= cost && 3n * (spentOn - 1n) < cost, `${spentOn} of ${cost}`);
  }
});

test('where one payment would fail each goes alone, and so from then on', async () => {
  const deals = await shown(3);
  const [, bad] = deals as [Deal, Deal, Deal];
  m.long.state.refusing.add(bad.maker.address);
  await m.passes(4);
  assert.deepEqual(await statuses(deals), ['claimed keeper', 'funded null', 'claimed keeper']);
  const [first, , third] = await legsOf(deals);
  assert.notEqual(first.claimTx, third.claimTx);
  assert.equal(await areAlone(deals), true);
  m.long.state.refusing.clear();
  m.deps.advance(60_000);
  await m.passes(2);
  assert.deepEqual(await statuses(deals), settled(deals));
});

test('what a chain says would leave some of it is broken up, too', async () => {
  const deals = await shown(2);
  const quote: Gas['account']['quote'] = async (work, signal) => {
    if (work.verb !== 'batch') return account.quote(work, signal);
    throw new ParleyError('nothing_there', 'it would settle 1 of 2', {});
  };
  gas.account = { ...account, quote };
  await m.keepAll();
  assert.equal(await areAlone(deals), true);
});

test('one that fails on chain is made up for by each alone', async () => {
  const deals = await shown(2);
  await m.keepAll();
  // Tried well, and refused when it is mined.
  m.long.state.refusing.add(deals[1]?.maker.address ?? '');
  await m.deepen();
  m.long.state.refusing.clear();
  const [attempt] = await madeFor(deals);
  assert.equal(m.long.settledBy(attempt?.txid ?? '').length, 2);
  m.deps.advance(60_000);
  await m.passes(3);
  assert.deepEqual(await statuses(deals), settled(deals));
  const [one, other] = await legsOf(deals);
  assert.notEqual(one.claimTx, other.claimTx);
  const outcomes = (await madeFor(deals)).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes.sort(), ['deep', 'deep', 'failed']);
});

/** What is in flight offers less than blocks take, for longer than it is left so. */
async function outbid(): Promise<void> {
  m.baseFee(8n * gwei);
  m.mine();
  m.deps.advance(700_000);
  await m.keepAll();
  await m.deepen();
}

test('who rides waits for that transaction, signs nothing, and is taken along when it pays more', async () => {
  const deals = await shown(2);
  await m.keepAll();
  for (let pass = 0; pass < 3; pass += 1) {
    m.deps.advance(30_000);
    await m.keepAll();
  }
  assert.equal((await madeFor(deals)).length, 1);
  await outbid();
  assert.deepEqual(await statuses(deals), settled(deals));
  const [{ claimTx }] = await legsOf(deals);
  assert.equal(m.long.settledBy(claimTx).length, 2);
});

test('who has used up its share holds up no claim of others', async () => {
  const [first] = (await shown(1)) as [Deal];
  await m.passes(2);
  await m.run('update keeper_attempts set charged = $1', [`${ether / 4n}`]);
  const poor = await m.public({ maker: first.maker });
  const other = await m.public();
  await m.passes(2);
  assert.deepEqual(await statuses([other, poor]), ['claimed keeper', 'funded null']);
  gas.dailyCap = 8n * ether;
  await m.passes(2);
  assert.deepEqual(await statuses([poor]), settled([poor]));
});

test('what its leader needs no more is raised for its riders, and lands with them', async () => {
  const deals = await shown(3);
  await m.keepAll();
  const made = await Promise.all(deals.map((deal) => m.attempts(deal, long)));
  const at = made.findIndex(({ length }) => length > 0);
  const [lead] = deals.splice(at, 1) as [Deal];
  // A party pays more for its own claim, which a block takes before the batch.
  m.baseFee(8n * gwei);
  await m.claim(lead, long);
  await m.deepen();
  assert.deepEqual(await statuses([lead]), ['claimed party']);
  await outbid();
  assert.deepEqual(await statuses(deals), settled(deals));
  const [{ claimTx }] = await legsOf(deals);
  assert.deepEqual(m.long.settledBy(claimTx).sort(), await escrows(deals));
  assert.deepEqual(
    (await m.attempts(lead, long)).map(({ verb, nonce }) => [verb, nonce]),
    Array(2).fill(['claim', made[at]?.[0]?.nonce]),
  );
});

test('those ride whose timelock is the soonest, however many were found before', async () => {
  const late = await m.public();
  // A page of them, of empty escrows, found between the two.
  await m.run(
    `insert into escrows (chain, address, swap_id, leg, terms, facts, created_at, done, kept)
      select chain, 'empty ' || n, swap_id, leg, terms, jsonb_set(facts, '{balance}', '"0"'),
        created_at, true, true
      from escrows, generate_series(1, 20) n where swap_id = $1 and chain = $2`,
    [late.id, long],
  );
  await m.run(
    `insert into keeper_jobs
        (chain, escrow, verb, purpose, swap_id, leg, account_id, state, due_at, created_at)
      select chain, 'empty ' || n, verb, purpose, swap_id, leg, account_id, 'open', 'infinity',
        created_at
      from keeper_jobs, generate_series(1, 20) n where swap_id = $1`,
    [late.id],
  );
  m.deps.advance(-120_000);
  const soon = await m.public();
  m.deps.advance(60_000);
  const lead = await m.public();
  m.deps.advance(120_000);
  gas.account = { ...account, mostInBatch: 2 };
  await m.run(
    `update keeper_jobs set due_at = case when swap_id = $1 then 'epoch' else $2::timestamptz end
      where due_at < 'infinity'`,
    [lead.id, new Date(m.deps.now() + 10_000)],
  );
  await m.keeper.pass(long);
  const [attempt] = await m.attempts(lead, long);
  m.mine();
  assert.deepEqual(m.long.settledBy(attempt?.txid ?? '').sort(), await escrows([lead, soon]));
  await m.run(`delete from keeper_rides`);
  await m.run(`delete from keeper_jobs where escrow like 'empty %'`);
  await m.run(`delete from escrows where address like 'empty %'`);
});

test('neither dust nor a claim that is short of time rides on another', async () => {
  const hurried = await m.public();
  m.deps.advance(3_600_000);
  const [deals, dust] = [await shown(2), await m.public({ amount: 2n * 10n ** 14n })];
  m.deps.freeze(((await legOf(hurried)).timelock - 500) * 1_000);
  await m.hurry();
  // In hand elsewhere: they lead nothing themselves.
  for (const deal of [hurried, dust]) {
    await m.run('update keeper_jobs set due_at = $2 where swap_id = $1', [
      ...[deal.id, new Date(m.deps.now() + 10_000)],
    ]);
  }
  m.baseFee(8n * gwei);
  await m.keep();
  const made = await madeFor([...deals, hurried, dust]);
  assert.equal(made.length, 1);
  m.mine();
  assert.deepEqual(m.long.settledBy(made[0]?.txid ?? '').sort(), await escrows(deals));
  m.baseFee(gwei);
  await m.passes(3);
  assert.deepEqual(await statuses([hurried, dust]), settled([hurried, dust]), 'later each lands');
});

test('refunds that are due together are one transaction, too', async () => {
  const deals = [await m.funded(), await m.funded()];
  const { timelock } = await legOf(deals[1] as Deal);
  for (const { state } of [m.long, m.short]) state.clock = timelock;
  m.deps.freeze(timelock * 1_000);
  await m.deepen();
  await m.passes(2);
  const legs = await legsOf(deals);
  for (const { status, refundedBy } of legs) {
    assert.deepEqual([status, refundedBy], ['refunded', 'keeper']);
  }
  assert.equal(new Set(legs.map(({ refundTx }) => refundTx)).size, 1);
});
