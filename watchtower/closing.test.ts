// What a claim on Solana leaves of its escrow's account: from the timelock on the keeper gives it
// to the funder, on the dev simulator. The swap that it belongs to is over, and was of other
// chains.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parseGasKey } from '../chains/gas/keys.ts';
import type { WatchedEscrow } from '../chains/interface/reading.ts';
import { createSolanaGasAccount } from '../chains/solana/gas-account.ts';
import { solanaGasPolicies } from '../chains/solana/gas-policy.ts';
import { accountsAt } from '../chains/solana/node.ts';
import {
  claim,
  escrowIn,
  finalize,
  fund,
  HOUR,
  moveTo,
  newWorld,
  refund,
  seedOf,
  soon,
  type World,
  walletOf,
} from '../chains/solana/testing/world.ts';
import { storedFacts } from '../server/db/escrows.ts';
import { storeHeads } from '../server/db/heads.ts';
import { watchtowerOf } from '../server/start/watchtower.ts';
import { attemptsOn, jobsOf, type Loose } from './testing/desk.ts';
import { onMarket } from './testing/market.ts';

const chain = 'solana-dev';
const m = onMarket();

/** The escrow as the market has it when its swap is over. */
async function ended({ address, terms }: WatchedEscrow, facts: object) {
  const deal = await m.agree();
  const stored = { ...terms, amount: terms.amount.toString() };
  await m.run(
    `insert into escrows (chain, address, swap_id, leg, terms, facts, created_at, done)
      values ($1, $2, $3, 'a', $4, $5, now(), true)`,
    [chain, address, deal.id, JSON.stringify(stored), JSON.stringify(facts)],
  );
  await m.run('update swaps set done = true where id = $1', [deal.id]);
  return deal;
}

type Deal = Awaited<ReturnType<typeof ended>>;

/** Three claimed escrows of one timelock, and a keeper that has a key on their chain alone. */
async function start(context: TestContext) {
  const world = await newWorld(context);
  const { adapter, time } = world;
  const timelock = time.now + 4 * HOUR;
  const key = parseGasKey('solana', Buffer.from(seedOf('stranger')).toString('hex'));
  const policy = solanaGasPolicies[chain] ?? assert.fail();
  const gas: Loose = {
    account: createSolanaGasAccount({ key, adapter, policy }),
    dailyCap: 1_000_000n,
    lowBalance: 0n,
    graces: { claimSeconds: 0, refundSeconds: 600 },
    relays: { cap: 0n, perAccount: 0, tokenAccounts: 0 },
    fundings: { cap: 0n, perAccount: 0 },
  };
  const adapters = new Map([...m.deps.adapters, [chain, adapter]] as const);
  const keeper = watchtowerOf({ ...m.deps, adapters }, { gas: new Map([[chain, gas]]) });
  const amounts = [100_000_000n, 100_000_001n, 100_000_002n] as const;
  const escrows = amounts.map((amount) => escrowIn(world, { timelock, amount }));
  for (const escrow of escrows) {
    await fund(world, escrow);
    await claim(world, escrow);
  }
  await finalize(world);
  const { facts } = await adapter.look(escrows, soon());
  const deals: Deal[] = [];
  for (const [at, escrow] of escrows.entries()) {
    deals.push(await ended(escrow, storedFacts(facts[at] ?? assert.fail())));
  }
  const [left, taken, behind] = deals as [Deal, Deal, Deal];
  return { world, gas, keeper, escrows, timelock, left, taken, behind };
}

const clockAt = (clock: number) =>
  storeHeads(m.deps.db, chain, { height: 1, hash: 'h', clock }, new Date(m.deps.now()));

async function jobOf(deal: Deal) {
  const [job] = await jobsOf(m, deal);
  const attempts = await attemptsOn(m, deal);
  return [
    job?.purpose,
    job?.state,
    job?.last_failure,
    attempts.map(({ outcome }) => outcome).join(),
  ];
}

async function lamportsOf({ adapter }: World): Promise<bigint> {
  const { accounts } = await accountsAt(adapter.node, [walletOf('funder')], 'confirmed', soon());
  return BigInt(accounts[0]?.lamports ?? 0);
}

test('what claims left goes to their funders, behind everything else', async (context) => {
  const { world, gas, keeper, escrows, timelock, left, taken, behind } = await start(context);
  const pass = async () => {
    await m.hurry();
    return keeper.pass(chain);
  };
  await clockAt(timelock - 1);
  assert.equal(await pass(), 0);
  assert.deepEqual(await jobsOf(m, left), [], 'not before the timelock');

  await moveTo(world, timelock);
  await clockAt(timelock);
  await refund(world, escrows[1] ?? assert.fail());
  await pass();
  assert.deepEqual(await jobOf(left), ['close', 'open', null, ''], 'the funder has its grace');

  await m.run(`update keeper_jobs set purpose = 'refund' where swap_id = $1`, [behind.id]);
  m.deps.advance(601_000);
  assert.equal(await pass(), 1);
  assert.deepEqual(await jobOf(behind), ['refund', 'done', null, '']);
  assert.deepEqual(await jobOf(left), ['close', 'open', null, ''], 'it waits behind all others');

  gas.dailyCap = 0n;
  await pass();
  for (const deal of [left, taken]) {
    assert.deepEqual(await jobOf(deal), ['close', 'open', 'cap', ''], 'the day’s cap pays for it');
  }
  gas.dailyCap = 1_000_000n;

  const had = await lamportsOf(world);
  await pass();
  assert.deepEqual(await jobOf(taken), ['close', 'done', 'cap', ''], 'its funder took it');
  await world.chain.mine(2);
  assert.equal((await lamportsOf(world)) - had, 897_840n);
  await finalize(world);
  await pass();
  assert.deepEqual(await jobOf(left), ['close', 'done', null, 'deep']);
  assert.equal(await pass(), 0, 'each is taken up once');
});
