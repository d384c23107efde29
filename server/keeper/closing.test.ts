// What a claim on Solana leaves of its escrow's account: from the timelock on the keeper gives it
// to the funder, on the dev simulator. The swap that it belongs to is over, and was of other chains.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { WatchedEscrow } from '../../chains/adapter.ts';
import { parseGasKey } from '../../chains/gas-keys.ts';
import { createSolanaGasAccount } from '../../chains/solana/gas-account.ts';
import { solanaGasPolicies } from '../../chains/solana/gas-policy.ts';
import { accountsAt } from '../../chains/solana/node.ts';
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
  walletOf,
} from '../../chains/solana/testing/world.ts';
import { storedFacts } from '../db/escrows.ts';
import { storeHeads } from '../db/heads.ts';
import type { Gas } from './gas.ts';
import { createKeeper } from './passes.ts';
import { agree, attemptsOn, type Desk, hurry, jobsOf, startDesk } from './testing/desk.ts';

const limits = { timeout: 120_000 };
const chain = 'solana-dev';
let desk: Desk;
before(async () => {
  desk = await startDesk();
}, limits);
after(() => desk?.close());

const run = (text: string, values: readonly unknown[]) =>
  desk.deps.db.rows({ name: '', text, values: [...values] });

/** The escrow as the market has it when its swap is over. */
async function ended({ address, terms }: WatchedEscrow, facts: object) {
  const deal = await agree(desk);
  const stored = { ...terms, amount: terms.amount.toString() };
  await run(
    `insert into escrows (chain, address, swap_id, leg, terms, facts, created_at, done)
      values ($1, $2, $3, 'a', $4, $5, now(), true)`,
    [chain, address, deal.id, JSON.stringify(stored), JSON.stringify(facts)],
  );
  await run('update swaps set done = true where id = $1', [deal.id]);
  return deal;
}

test(
  'what claims left goes to their funders, once nothing else is due',
  limits,
  async (context) => {
    const world = await newWorld(context);
    const { adapter } = world;
    const timelock = world.time.now + 4 * HOUR;
    const key = parseGasKey('solana', Buffer.from(seedOf('stranger')).toString('hex'));
    const policy = solanaGasPolicies[chain] ?? assert.fail();
    const gas = {
      account: createSolanaGasAccount({ key, adapter, policy }),
      dailyCap: 1_000_000n,
      lowBalance: 0n,
      graces: { claimSeconds: 0, refundSeconds: 600 },
      relays: { cap: 0n, perAccount: 0, tokenAccounts: 0 },
      fundings: { cap: 0n, perAccount: 0 },
    } satisfies Gas;
    const adapters = new Map([...desk.deps.adapters, [chain, adapter]] as const);
    const keeper = createKeeper({ ...desk.deps, adapters, gas: new Map([[chain, gas]]) });
    const escrows = [0, 1, 2].map((at) =>
      escrowIn(world, { timelock, amount: 100_000_000n + BigInt(at) }),
    );
    for (const escrow of escrows) {
      await fund(world, escrow);
      await claim(world, escrow);
    }
    await finalize(world);
    const { facts } = await adapter.look(escrows, soon());
    const [left, taken, behind] = await Promise.all(
      escrows.map((each, at) => ended(each, storedFacts(facts[at] ?? assert.fail()))),
    );
    if (left === undefined || taken === undefined || behind === undefined) assert.fail();
    const pass = async () => {
      await hurry(desk);
      return keeper.pass(chain);
    };
    const clockAt = (clock: number) =>
      storeHeads(desk.deps.db, chain, { height: 1, hash: 'h', clock }, new Date(desk.deps.now()));
    const own = async (deal: typeof left) => {
      const [job] = await jobsOf(desk, deal);
      const attempts = await attemptsOn(desk, deal);
      return [job?.purpose, job?.state, job?.last_failure, attempts.map(({ fate }) => fate).join()];
    };
    const lamports = async () => {
      const { accounts } = await accountsAt(
        adapter.node,
        [walletOf('funder')],
        'confirmed',
        soon(),
      );
      return BigInt(accounts[0]?.lamports ?? 0);
    };

    await clockAt(timelock - 1);
    assert.equal(await pass(), 0);
    assert.deepEqual(await jobsOf(desk, left), [], 'not before the timelock');

    await moveTo(world, timelock);
    await clockAt(timelock);
    await refund(world, escrows[1] ?? assert.fail());
    await pass();
    assert.deepEqual(await own(left), ['close', 'open', null, ''], 'the funder has its grace');

    // One that holds money is due beside them.
    await run(`update keeper_jobs set purpose = 'refund' where swap_id = $1`, [behind.id]);
    desk.deps.advance(601_000);
    assert.equal(await pass(), 1);
    assert.deepEqual(await own(behind), ['refund', 'done', null, '']);
    assert.deepEqual(await own(left), ['close', 'open', null, ''], 'it waits behind all others');

    Object.assign(gas, { dailyCap: 0n });
    await pass();
    assert.deepEqual(
      await own(left),
      ['close', 'open', 'cap', ''],
      'it is paid from the day’s cap',
    );
    assert.deepEqual(await own(taken), ['close', 'open', 'cap', '']);
    Object.assign(gas, { dailyCap: 1_000_000n });

    const had = await lamports();
    await pass();
    assert.deepEqual(await own(taken), ['close', 'done', 'cap', ''], 'its funder took it');
    await world.chain.mine(2);
    assert.equal((await lamports()) - had, 897_840n);
    await finalize(world);
    await pass();
    assert.deepEqual(await own(left), ['close', 'done', null, 'deep']);
    const again = await pass();
    assert.equal(again, 0, 'each is taken up once');
  },
);
