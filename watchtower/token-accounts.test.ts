// Receivers' token accounts that the keeper's own claims and refunds would make, as on Solana: the
// chain here is another, and only says that signing makes one.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainAdapter } from '../chains/adapter.ts';
import { evm } from '../server/settle/testing/world.ts';
import { relaySums } from './db/sums.ts';
import { dayOf } from './spending.ts';
import {
  agree,
  attemptsOn,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  fundBoth,
  jobsOf,
  keepAll,
  type Loose,
  look,
  startDesk,
  swapOf,
} from './testing/desk.ts';

const limits = { timeout: 120_000 };
/** By which these tests move the clock, and a slow machine's time for them. */
const longestMs = 600_000;
let desk: Desk;
let gas: Loose;
/** What was signed with, and whether the account had to be there. */
const signed: [string, boolean | undefined][] = [];
before(async () => {
  desk = await startDesk();
  // What is counted by day is counted within one.
  const left = 86_400_000 - (desk.deps.now() % 86_400_000);
  if (left < longestMs) await desk.dev.time(Math.ceil(left / 1_000));
  gas = desk.deps.gas.get(evm) as Loose;
  const { account } = gas;
  gas.account = {
    ...account,
    // Where there are token accounts each escrow is settled by itself.
    mostInBatch: 1,
    quote: async () => ({ mostCost: 1n, makesAccount: true }),
    sign: (work, slot, signal) => {
      signed.push([work.verb, slot.withoutAccount]);
      return account.sign(work, slot, signal);
    },
  };
}, limits);
after(() => desk?.close());

/** Both legs funded, the long one in a token. */
async function funded(): Promise<Deal> {
  const { assets, dev } = desk;
  const amount = 1_000_000n;
  const deal = await agree(desk, { long: assets.usd, longAmount: amount });
  const { address } = deal.taker.evmAccount;
  const asset = assets.usd.address ?? '';
  await dev.faucet({ chain: evm, address, asset, amount });
  await fundBoth(desk, deal);
  return deal;
}

async function revealed(): Promise<Deal> {
  const deal = await funded();
  await claimOwn(desk, deal);
  await deepen(desk);
  return deal;
}

/** A pass of the keeper, for which the chain is one that has token accounts. */
async function pass(): Promise<void> {
  const adapters = desk.deps.adapters as Map<string, ChainAdapter>;
  const adapter = adapters.get(evm) as ChainAdapter;
  adapters.set(evm, { ...adapter, family: 'solana' });
  await keepAll(desk);
  adapters.set(evm, adapter);
}

async function tended(deal: Deal) {
  await pass();
  const job = (await jobsOf(desk, deal)).find(({ chain }) => chain === evm);
  const { length } = await attemptsOn(desk, deal, evm);
  return [job?.last_failure, length];
}

async function madeSince(deal: Deal, since: Date) {
  const text = 'select maker_id as id from swaps where id = $1';
  const [row] = await desk.deps.db.rows<{ id: string }>({ name: '', text, values: [deal.id] });
  const of = { chain: evm, since, accountId: row?.id ?? '', except: null };
  const { ownMade, made } = await relaySums(desk.deps.db, of);
  return [ownMade, made];
}

test('claims make as many of them in a day as one account’s relays may', limits, async () => {
  const [first, second] = [await revealed(), await revealed()];
  gas.relays = { ...gas.relays, tokenAccounts: 0 };
  assert.deepEqual(await tended(first), ['accounts', 0]);
  assert.deepEqual(await tended(second), ['accounts', 0]);
  assert.deepEqual(signed, []);
  gas.relays = { ...gas.relays, tokenAccounts: 1 };
  const signedBoth = async () => {
    const all = await Promise.all([first, second].map((deal) => attemptsOn(desk, deal, evm)));
    return all.flat().length === 2;
  };
  // One is in flight at a time; what others used up is not one's own.
  for (let time = 0; time < 4 && !(await signedBoth()); time += 1) {
    await pass();
    await deepen(desk);
  }
  assert.deepEqual(signed, [
    ['claim', false],
    ['claim', false],
  ]);
  const today = dayOf(desk.deps.now());
  for (const deal of [first, second]) {
    assert.deepEqual(await madeSince(deal, today), [1, 2], 'relays are told of both');
    assert.deepEqual(await madeSince(deal, new Date(today.getTime() + 86_400_000)), [0, 0]);
  }
  await deepen(desk);
  assert.equal((await swapOf(first)).legs.b.claimedBy, 'keeper');
});

test('a refund makes none', limits, async () => {
  const deal = await funded();
  signed.length = 0;
  const { deadlines } = await swapOf(deal);
  const ahead = deadlines.refundAt.b - Math.floor(desk.deps.now() / 1000) + 1;
  await desk.dev.time(ahead);
  await look(desk);
  await pass();
  assert.deepEqual(signed, [['refund', true]]);
});
