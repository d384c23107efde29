// Claims and refunds that are due together, settled by one transaction on a real EVM chain; and
// each by itself where that would fail.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Hex } from 'viem';
import { callsIn, evmDeployment } from '../chains/evm/plan.ts';
import { ParleyError } from '../core/errors.ts';
import { evm, must } from '../server/settle/testing/world.ts';
import { spentOnEach } from './db/rides.ts';
import { keySums } from './db/sums.ts';
import type { Gas } from './port.ts';
import { dayOf } from './spending.ts';
import {
  agree,
  attemptsOn,
  baseFee,
  both,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  ether,
  fundBoth,
  fundedDeal,
  gwei,
  hurry,
  jobsOf,
  keep,
  keepAll,
  type Loose,
  legOf,
  passes,
  sendOwn,
  startDesk,
  swapOf,
} from './testing/desk.ts';

const limits = { timeout: 120_000 };
let desk: Desk;
let gas: Loose;
let given: Gas;
before(async () => {
  desk = await startDesk();
  gas = desk.deps.gas.get(evm) as Loose;
  given = { ...gas };
}, limits);
beforeEach(() => {
  Object.assign(gas, given);
});
after(() => desk?.close());

/** Their secrets are public, by claims of the short legs: the long ones are left to the keeper. */
async function shown(count: number): Promise<Deal[]> {
  const deals: Deal[] = [];
  for (let at = 0; at < count; at += 1) deals.push(await fundedDeal(desk));
  gas.dailyCap = 0n;
  for (const deal of deals) await claimOwn(desk, deal);
  await deepen(desk);
  await keep(desk);
  gas.dailyCap = ether;
  return deals;
}
const ownOn = (deal: Deal) => attemptsOn(desk, deal, evm);
const accountsOf = (deals: readonly Deal[]) => deals.map(({ maker }) => maker.accountId);
const longOf = async (deal: Deal) => (await swapOf(deal)).legs.b;
const goAlone = async (deals: readonly Deal[]) => {
  const [found] = await desk.deps.db.rows<{ alone: boolean }>({
    name: 'test_alone',
    text: 'select bool_and(alone) as alone from keeper_jobs where chain = $1 and swap_id = any($2)',
    values: [evm, deals.map(({ id }) => id)],
  });
  return found?.alone;
};
const sent = async (txid: string) => {
  const { input } = await desk.client(evm).getTransaction({ hash: txid as Hex });
  return callsIn(input, evmDeployment(31_337));
};

test(
  'claims that are due together are one transaction, whose cost is divided',
  limits,
  async () => {
    const deals = await shown(3);
    const since = dayOf(desk.deps.now());
    const all = { chain: evm, since, accountId: null, except: null };
    const before = (await keySums(desk.deps.db, all)).spent;
    const refused: string[] = [];
    const sign: Gas['account']['sign'] = async ({ verb }) => {
      refused.push(verb);
      throw new ParleyError('fee_above_limit', 'fees are too high now', {});
    };
    gas.account = { ...given.account, sign };
    await keepAll(desk);
    gas.account = given.account;
    const [together, alone] = ['batch', 'claim'].map((verb) =>
      refused.filter((each) => each === verb),
    );
    assert.ok(together?.length, 'in lanes of their own all may lead');
    assert.equal(alone?.length, together.length, 'each leader is tried alone, once');
    await passes(desk, 3);
    const claims = await Promise.all(deals.map(longOf));
    assert.deepEqual(
      claims.map(({ status, claimedBy }) => [status, claimedBy]),
      deals.map(() => ['claimed', 'keeper']),
    );
    assert.equal(new Set(claims.map(({ claimTx }) => claimTx)).size, 1);
    assert.equal((await sent(claims[0].claimTx)).length, 3);
    const made = (await Promise.all(deals.map(ownOn))).flat();
    assert.deepEqual(
      made.map(({ verb, fate }) => [verb, fate]),
      [['claim', 'deep']],
    );
    for (const deal of deals) {
      const [job] = (await jobsOf(desk, deal)).filter(({ chain }) => chain === evm);
      assert.deepEqual([job?.state, job?.reserve], ['done', '0']);
    }
    const { spent } = await keySums(desk.deps.db, all);
    const accountIds = accountsOf(deals);
    const parts = await spentOnEach(desk.deps.db, { chain: evm, since, accountIds });
    const cost = spent - before;
    assert.ok(cost > 0n);
    for (const accountId of accountIds) {
      const { spentOn } = await keySums(desk.deps.db, { ...all, accountId });
      assert.equal(parts.get(accountId), spentOn);
      assert.ok(3n * spentOn >= cost && 3n * (spentOn - 1n) < cost, `${spentOn} of ${cost}`);
    }
  },
);

test('where one payment would fail each goes alone, and so from then on', limits, async () => {
  const deals = await shown(3);
  const refusing = (await longOf(deals[1] as Deal)).payoutAddress;
  const rpc = desk.rpc(evm);
  await rpc('anvil_setCode', [refusing, '0xfd']);
  await passes(desk, 3);
  const [first, bad, third] = await Promise.all(deals.map(longOf));
  assert.deepEqual(
    [first, bad, third].map(({ status }) => status),
    ['claimed', 'funded', 'claimed'],
  );
  assert.notEqual(first.claimTx, third.claimTx);
  assert.equal(await goAlone(deals), true);
  await rpc('anvil_setCode', [refusing, '0x']);
  await passes(desk, 3);
  assert.equal((await longOf(deals[1] as Deal)).claimedBy, 'keeper');
});

test('what a chain says would leave some of it is broken up, too', limits, async () => {
  const deals = await shown(2);
  const quote: Gas['account']['quote'] = async (work, signal) => {
    if (work.verb !== 'batch') return given.account.quote(work, signal);
    throw new ParleyError('nothing_there', 'it would settle 1 of 2', {});
  };
  gas.account = { ...given.account, quote };
  await passes(desk);
  assert.equal(await goAlone(deals), true);
  gas.account = given.account;
  await passes(desk, 2);
});

test('one that fails on chain is made up for by each alone', limits, async () => {
  const deals = await shown(2);
  await keepAll(desk);
  const refusing = (await longOf(deals[1] as Deal)).payoutAddress;
  const rpc = desk.rpc(evm);
  // Tried well, and refused when it is mined.
  await rpc('anvil_setCode', [refusing, '0xfd']);
  await deepen(desk);
  const [attempt] = (await Promise.all(deals.map(ownOn))).flat();
  assert.ok(attempt);
  assert.equal((await sent(attempt.txid)).length, 2);
  await rpc('anvil_setCode', [refusing, '0x']);
  desk.deps.advance(60_000);
  await passes(desk, 3);
  const claims = await Promise.all(deals.map(longOf));
  assert.deepEqual(
    claims.map(({ claimedBy }) => claimedBy),
    ['keeper', 'keeper'],
  );
  assert.notEqual(claims[0].claimTx, claims[1].claimTx);
  const fates = (await Promise.all(deals.map(ownOn))).flat().map(({ fate }) => fate);
  assert.deepEqual(fates.sort(), ['deep', 'deep', 'failed']);
});

test('who rides waits for that transaction, and signs nothing of its own', limits, async () => {
  const deals = await shown(2);
  await keepAll(desk);
  for (let pass = 0; pass < 3; pass += 1) {
    desk.deps.advance(30_000);
    await keepAll(desk);
  }
  const made = (await Promise.all(deals.map(ownOn))).flat();
  assert.equal(new Set(made.map(({ nonce }) => nonce)).size, 1);
  // Made to pay more it takes them along.
  await baseFee(desk, evm, 8n * gwei);
  await desk.dev.mine(evm, 1);
  desk.deps.advance(700_000);
  await keepAll(desk);
  await baseFee(desk, evm, 8n * gwei);
  await deepen(desk);
  const claims = await Promise.all(deals.map(longOf));
  assert.deepEqual(
    claims.map(({ claimedBy }) => claimedBy),
    ['keeper', 'keeper'],
  );
  assert.equal((await sent(claims[0].claimTx)).length, 2);
  await baseFee(desk, evm, gwei);
  await passes(desk, 2);
});

test('who has used up its share holds up no claim of others', limits, async () => {
  const [first] = await shown(1);
  const { maker } = first as Deal;
  await passes(desk, 3);
  await desk.deps.db.rows({
    name: 'test_used_up',
    text: `update keeper_attempts set charged = $2, signed_at = $3
      where job_id in (select id from keeper_jobs where swap_id = $1)`,
    values: [first?.id, (ether / 4n).toString(), new Date(desk.deps.now())],
  });
  const poor = await agree(desk, { maker });
  await fundBoth(desk, poor);
  const other = await fundedDeal(desk);
  gas.dailyCap = 0n;
  for (const deal of [poor, other]) await claimOwn(desk, deal);
  await deepen(desk);
  await keep(desk);
  gas.dailyCap = ether;
  await passes(desk, 2);
  assert.equal((await longOf(other)).claimedBy, 'keeper');
  assert.equal((await longOf(poor)).status, 'funded', 'it waits for the next day');
  gas.dailyCap = 8n * ether;
  await passes(desk, 3);
  assert.equal((await longOf(poor)).claimedBy, 'keeper');
});

test(
  'what its leader needs no more is raised for its riders, and lands with them',
  limits,
  async () => {
    const deals = await shown(3);
    await keepAll(desk);
    const made = await Promise.all(deals.map(ownOn));
    const at = made.findIndex(({ length }) => length > 0);
    const [lead] = deals.splice(at, 1);
    assert.ok(lead);
    // Of a party that pays more for its own claim, which a block takes before the batch.
    await baseFee(desk, evm, 8n * gwei);
    await desk.dev.mine(evm, 1);
    await desk.dev.faucet({
      chain: evm,
      address: lead.maker.evmAccount.address,
      amount: ether,
    });
    await baseFee(desk, evm, 8n * gwei);
    const { secret } = lead;
    const own = must(await lead.maker.post(legOf(lead, 'b', 'claim'), { secret }));
    await sendOwn(desk, lead.maker, own);
    await baseFee(desk, evm, 8n * gwei);
    await deepen(desk);
    assert.equal((await longOf(lead)).claimedBy, 'party');
    desk.deps.advance(700_000);
    await keepAll(desk);
    await baseFee(desk, evm, 8n * gwei);
    await deepen(desk);
    const claims = await Promise.all(deals.map(longOf));
    assert.deepEqual(
      claims.map(({ claimedBy }) => claimedBy),
      ['keeper', 'keeper'],
    );
    assert.deepEqual(
      (await sent(claims[0].claimTx)).map(({ escrow }) => escrow).sort(),
      claims.map(({ escrow }) => escrow).sort(),
    );
    assert.deepEqual(
      (await ownOn(lead)).map(({ verb, nonce }) => [verb, nonce]),
      Array(2).fill(['claim', made[at]?.[0]?.nonce]),
    );
    await baseFee(desk, evm, gwei);
    await passes(desk, 2);
  },
);

test(
  'those ride whose timelock is the soonest, however many were found before',
  limits,
  async () => {
    const { db } = desk.deps;
    const deals: Deal[] = [];
    for (let at = 0; at < 3; at += 1) {
      deals.push(await fundedDeal(desk));
      desk.deps.advance(60_000);
    }
    const [soon, lead, late] = deals as [Deal, Deal, Deal];
    gas.account = { ...given.account, mostInBatch: 2 };
    gas.dailyCap = 0n;
    const reveal = async (deal: Deal) => {
      await claimOwn(desk, deal);
      await deepen(desk);
      await keep(desk);
    };
    await reveal(late);
    // A page of them, of empty escrows, found between the two.
    await db.rows({
      name: 'test_empty',
      text: `insert into escrows
          (chain, address, swap_id, leg, terms, facts, created_at, done, kept)
        select chain, 'empty ' || n, swap_id, leg, terms,
          jsonb_set(facts, '{balance}', '"0"'), created_at, true, true
        from escrows, generate_series(1, 20) n where swap_id = $1 and chain = $2`,
      values: [late.id, evm],
    });
    await db.rows({
      name: 'test_fillers',
      text: `insert into keeper_jobs
          (chain, escrow, verb, purpose, swap_id, leg, account_id, state, due_at, created_at)
        select chain, 'empty ' || n, verb, purpose, swap_id, leg, account_id, 'open',
          'infinity', created_at
        from keeper_jobs, generate_series(1, 20) n where swap_id = $1 and chain = $2`,
      values: [late.id, evm],
    });
    await reveal(soon);
    await reveal(lead);
    gas.dailyCap = ether;
    await db.rows({
      name: 'test_due',
      text: `update keeper_jobs set due_at = case when swap_id = $1 then to_timestamp(0) else $2 end
      where chain = $3 and state = 'open'`,
      values: [lead.id, new Date(desk.deps.now() + 10_000), evm],
    });
    await desk.keeper.pass(evm);
    const [attempt] = await ownOn(lead);
    assert.deepEqual(
      (await sent(attempt?.txid ?? '')).map(({ escrow }) => escrow).sort(),
      [(await longOf(lead)).escrow, (await longOf(soon)).escrow].sort(),
    );
    for (const [from, column] of [
      ['keeper_jobs', 'escrow'],
      ['escrows', 'address'],
    ]) {
      await db.rows({
        name: '',
        text: `delete from ${from} where ${column} like 'empty %'`,
        values: [],
      });
    }
    await passes(desk, 3);
  },
);

test('neither dust nor a claim that is short of time rides on another', limits, async () => {
  const deals = await shown(3);
  const dust = await agree(desk, { longAmount: 2n * 10n ** 14n });
  await fundBoth(desk, dust);
  gas.dailyCap = 0n;
  await claimOwn(desk, dust);
  await deepen(desk);
  await keep(desk);
  gas.dailyCap = ether;
  const address = (await longOf(deals[1] as Deal)).escrow;
  // As far as the keeper knows: the chain has its own.
  const { timelock } = (await longOf(deals[1] as Deal)) as { timelock: number };
  const setTimelock = (to: number) =>
    desk.deps.db.rows({
      name: 'test_timelock',
      text: `update escrows set terms = jsonb_set(terms, '{timelock}', to_jsonb($2::int))
        where address = $1`,
      values: [address, to],
    });
  await setTimelock(Math.floor(desk.deps.now() / 1_000) + 500);
  await hurry(desk);
  // In hand elsewhere: it leads nothing itself.
  await desk.deps.db.rows({
    name: 'test_in_hand',
    text: 'update keeper_jobs set due_at = $2 where swap_id = $1',
    values: [dust.id, new Date(desk.deps.now() + 10_000)],
  });
  await baseFee(desk, evm, 8n * gwei);
  await desk.dev.mine(evm, 1);
  await keep(desk);
  const legs = (await Promise.all([...deals, dust].map(ownOn))).flat();
  assert.equal(legs.length, 1, 'the two others');
  assert.equal((await sent(legs[0]?.txid ?? '')).length, 2);
  await setTimelock(timelock);
  await baseFee(desk, evm, gwei);
  await passes(desk, 3);
  for (const deal of [deals[1] as Deal, dust]) {
    assert.equal((await longOf(deal)).claimedBy, 'keeper', 'later each lands');
  }
});

test('refunds that are due together are one transaction, too', limits, async () => {
  const deals = [await fundedDeal(desk), await fundedDeal(desk)];
  await desk.dev.time(7 * 86_400);
  for (const chain of both) await desk.dev.mine(chain, 1);
  await deepen(desk);
  await passes(desk, 4);
  const txids = new Set<string>();
  for (const deal of deals) {
    const { legs } = await swapOf(deal);
    assert.deepEqual([legs.b.status, legs.b.refundedBy], ['refunded', 'keeper']);
    txids.add(legs.b.refundTx);
  }
  assert.equal(txids.size, 1);
});
