// Which lane an escrow takes: a real PostgreSQL, the real TRON adapter without its node, and a
// chain that shows what a test says of a lane.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import type { LaneState, Lanes } from '../../chains/interface/lanes.ts';
import { type TronAdapter, tronAdapter } from '../../chains/tron/adapter.ts';
import { tronAddressOf } from '../../chains/tron/address.ts';
import { tronDevPolicy } from '../../chains/tron/policy.ts';
import { ParleyError } from '../../core/errors.ts';
import { type EscrowFacts, nothingSeen } from '../../core/facts.ts';
import { fundBy } from '../../core/gates.ts';
import { clocksAt } from '../../core/testing.ts';
import type { LegName } from '../../core/trade.ts';
import { type TestDatabase, testDatabase } from '../../test/support/database.ts';
import { type TestDeps, testDeps } from '../../test/support/deps.ts';
import type { Asset } from '../db/assets.ts';
import { escrowsOfSwap, updateEscrow } from '../db/escrows.ts';
import { storeHeads } from '../db/heads.ts';
import { type Swap, swapById } from '../db/swaps.ts';
import { compareSwap } from '../doctor/compare.ts';
import { storeAddress } from './addresses.ts';
import { currentEscrow } from './escrows.ts';
import { laneTag } from './lanes.ts';
import { mustHaveReadyLane } from './ready-lane.ts';
import { insertAccount } from './testing/account.ts';
import { insertAgreed, insertAsset, nodelessAdapters, someWallets } from './testing/rows.ts';

const chain = 'tron-dev';
const contract = tronAddressOf(new Uint8Array(20).fill(9));
const newTron = () => tronAddressOf(randomBytes(20));
const signal = () => AbortSignal.timeout(10_000);

let database: TestDatabase;
let deps: TestDeps;
/** Of the same chain once its contract is a former one. */
let elsewhere: TronAdapter;
let assets: { btc: Asset; trx: Asset };
/** What the chain shows, by lane; of others that they were never used. */
const shown = new Map<string, LaneState>();
const unused: LaneState = { counter: 0, isOpen: false };

before(async () => {
  database = await testDatabase();
  const deployment = { chainId: 7, contract, creation: '00'.repeat(32) };
  const sources = [{ url: 'http://127.0.0.1:9' }];
  const nodeless = tronAdapter({ chain, deployment, sources, policy: tronDevPolicy });
  const read = async (_: object, numbers: readonly string[]) =>
    numbers.map((number) => shown.get(number) ?? unused);
  const lanes = nodeless.lanes as Lanes;
  elsewhere = tronAdapter({
    ...{ chain, sources, policy: tronDevPolicy },
    deployment: { ...deployment, contract: newTron(), formerContracts: [deployment] },
  });
  const tron: ChainAdapter = { ...nodeless, lanes: { ...lanes, read } };
  const adapters = new Map([...nodelessAdapters(), tron].map((each) => [each.chain, each]));
  deps = testDeps({ db: database.db, adapters });
  assets = {
    btc: await insertAsset(deps, 'bitcoin', null, null),
    trx: await insertAsset(deps, chain, null, null),
  };
});
after(() => database?.drop());

type Trader = { readonly id: string; readonly tron: string };

async function trader(): Promise<Trader> {
  const tron = newTron();
  const { bitcoin } = someWallets();
  const wallet = { family: 'tron', address: tron, pubkey: null } as const;
  return { id: (await insertAccount(deps, [wallet, bitcoin])).accountId, tron };
}

/** A swap in which the maker gives TRX. */
async function agreed(maker: Trader): Promise<Swap> {
  const taker = await trader();
  const trade = { direction: 'sell_base', base: assets.btc, quote: assets.trx } as const;
  const amounts = { baseAmount: 1_000_000n, quoteAmount: 650_000_000n };
  const parties = { makerId: maker.id, takerId: taker.id };
  const id = await deps.db.transaction((tx) =>
    insertAgreed(tx, deps, { ...trade, ...amounts }, parties),
  );
  return (await swapById(deps.db, id)) as Swap;
}

/** Another destination for the TRX leg. */
async function correct(swap: Swap, party: 'maker' | 'taker', address: string): Promise<Swap> {
  const accountId = party === 'maker' ? swap.makerId : swap.takerId;
  const request = { accountId, swapId: swap.id, chain, address, keySignature: null };
  const destination = { address, pubkey: null };
  return deps.db.transaction((tx) =>
    storeAddress(tx, deps, request, { leg: 'a', party, destination, lifted: null }),
  );
}

const numberOf = ({ id }: Trader, index: number) =>
  `${laneTag(id)}${index.toString(16).padStart(8, '0')}`;

async function show(swap: Swap, facts: Partial<EscrowFacts>): Promise<void> {
  const address = swap.state.legs.a.escrow as string;
  const row = { chain, address, fundingTold: false, done: false };
  await updateEscrow(deps.db, { ...row, facts: { ...nothingSeen, ...facts } });
}

const deep = { txid: 'aa', confirmations: 30, deep: true };
const ended = { funded: deep, claimed: deep, empty: true };

const is = (code: string) => (error: unknown) =>
  error instanceof ParleyError && error.code === code;

test('each open escrow of an account has a lane of its own, by the account’s own tag', async () => {
  const [maker, other] = [await trader(), await trader()];
  const [one, two] = [await agreed(maker), await agreed(maker)];
  assert.deepEqual(one.lanes.a, { contract, number: numberOf(maker, 0), counter: 1 });
  assert.deepEqual(two.lanes.a, { contract, number: numberOf(maker, 1), counter: 1 });
  // Who names the address of somebody else as its funder takes none of his lanes.
  const named = await correct(await agreed(other), 'maker', maker.tron);
  assert.deepEqual(named.lanes.a, { contract, number: numberOf(other, 0), counter: 1 });
  assert.notEqual(laneTag(maker.id), laneTag(other.id));
});

test('the terms are funded before the leg’s fund-by, and the escrow follows from all of it', async () => {
  const swap = await agreed(await trader());
  const terms = currentEscrow(swap, 'a')?.terms;
  assert.equal(terms?.fundBefore, fundBy(swap.state, swap.state.legs.a));
  assert.deepEqual(terms?.lane, swap.lanes.a);
  assert.deepEqual([swap.lanes.b, currentEscrow(swap, 'b')?.terms.fundBefore], [null, undefined]);
});

test('the lane of what is settled for good is taken again, with the next counter', async () => {
  const maker = await trader();
  const first = await agreed(maker);
  await show(first, { ...ended, empty: false });
  assert.equal((await agreed(maker)).lanes.a?.number, numberOf(maker, 1));
  await show(first, { ...ended, claimed: { ...deep, deep: false } });
  assert.equal((await agreed(maker)).lanes.a?.number, numberOf(maker, 2));
  await show(first, ended);
  assert.deepEqual((await agreed(maker)).lanes.a, {
    contract,
    number: numberOf(maker, 0),
    counter: 2,
  });
  assert.equal((await agreed(maker)).lanes.a?.number, numberOf(maker, 3));
});

test('the lane of what was never funded is free once the chain lets no funding in any more', async () => {
  const maker = await trader();
  const first = await agreed(maker);
  const last = fundBy(first.state, first.state.legs.a) + tronDevPolicy.normal.settleSeconds;
  const clock = (seconds: number) =>
    storeHeads(deps.db, chain, { height: 1, hash: 'aa', clock: seconds }, new Date());
  await clock(last);
  assert.equal((await agreed(maker)).lanes.a?.number, numberOf(maker, 1));
  await show(first, { funded: { ...deep, deep: false }, empty: false });
  await clock(last + 1);
  assert.notEqual((await agreed(maker)).lanes.a?.number, numberOf(maker, 0));
  await show(first, {});
  assert.deepEqual((await agreed(maker)).lanes.a, {
    contract,
    number: numberOf(maker, 0),
    counter: 1,
  });
  await clock(0);
});

test('agreements at the same moment take different lanes', async () => {
  const maker = await trader();
  await show(await agreed(maker), ended);
  const swaps = await Promise.all(Array.from({ length: 8 }, () => agreed(maker)));
  const numbers = swaps.map(({ lanes }) => lanes.a?.number).sort();
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => numberOf(maker, index)),
  );
});

const ready = (swap: Swap, name: LegName = 'a', agreeing = Promise.resolve()) => {
  const lanes = deps.adapters.get(swap.state.legs[name].chain)?.lanes;
  return mustHaveReadyLane(deps, swap, name, { lanes, agreeing }, signal());
};

test('a lane that the chain has ready is left as it is', async () => {
  const maker = await trader();
  const swap = await agreed(maker);
  await ready(swap);
  await ready(swap, 'b');
  assert.equal((await swapById(deps.db, swap.id))?.state.legs.a.escrow, swap.state.legs.a.escrow);
});

test('where the chain’s counter is ahead, the leg moves to it; the former escrow is kept', async () => {
  const maker = await trader();
  const swap = await agreed(maker);
  shown.set(numberOf(maker, 0), { counter: 4, isOpen: false });
  const differing = Promise.reject(new ParleyError('sources_disagree', 'two nodes differ', {}));
  await assert.rejects(ready(swap, 'a', differing), is('sources_disagree'), 'by one node alone');
  await assert.rejects(ready(swap), is('escrow_moved'));
  const moved = (await swapById(deps.db, swap.id)) as Swap;
  assert.deepEqual(moved.lanes.a, { contract, number: numberOf(maker, 0), counter: 5 });
  assert.deepEqual(
    moved.former.map(({ address }) => address),
    [swap.state.legs.a.escrow],
  );
  const terms = currentEscrow(moved, 'a')?.terms;
  assert.ok(terms);
  assert.equal(moved.state.legs.a.escrow, deps.adapters.get(chain)?.plan(terms).address);
  // What both escrows are is not mixed up: they differ in the lane alone.
  const { db, adapters } = deps;
  const rows = await escrowsOfSwap(db, moved.id);
  const clocks = clocksAt(moved.agreedAt);
  const findings = compareSwap({ swap: moved, rows, read: new Map(), adapters, clocks });
  assert.ok(!findings.some(({ what }) => what === 'escrow_not_of_terms'));
  await ready(moved);
  // The next of the account finds what the chain showed.
  await show(moved, ended);
  assert.deepEqual((await agreed(maker)).lanes.a, {
    contract,
    number: numberOf(maker, 0),
    counter: 6,
  });
});

test('where the lane holds money of something else, the leg moves to another', async () => {
  const maker = await trader();
  const swap = await agreed(maker);
  shown.set(numberOf(maker, 0), { counter: 1, isOpen: true });
  shown.set(numberOf(maker, 1), { counter: 1, isOpen: true });
  await assert.rejects(ready(swap), is('escrow_moved'));
  const moved = (await swapById(deps.db, swap.id)) as Swap;
  assert.deepEqual(moved.lanes.a, { contract, number: numberOf(maker, 2), counter: 1 });
  for (let index = 2; index < 40; index += 1) {
    shown.set(numberOf(maker, index), { counter: 1, isOpen: true });
  }
  await assert.rejects(ready(moved), is('too_many_open'));
});

test('a leg that is funded does not move', async () => {
  const maker = await trader();
  const swap = await agreed(maker);
  shown.set(numberOf(maker, 0), { counter: 1, isOpen: true });
  await show(swap, { funded: deep, balance: 1n, empty: false });
  await assert.rejects(ready(swap), is('addresses_fixed'));
  assert.equal((await swapById(deps.db, swap.id))?.state.legs.a.escrow, swap.state.legs.a.escrow);
});

test('a corrected payout keeps the lane; another funder has lanes of its own', async () => {
  const maker = await trader();
  await agreed(maker);
  const swap = await agreed(maker);
  const lane = swap.lanes.a;
  const paid = await correct(swap, 'taker', newTron());
  assert.notEqual(paid.state.legs.a.escrow, swap.state.legs.a.escrow);
  assert.deepEqual(paid.lanes.a, lane);
  const tron = newTron();
  const funded = await correct(swap, 'maker', tron);
  assert.deepEqual(funded.lanes.a, { contract, number: numberOf(maker, 0), counter: 1 });
  assert.equal(funded.state.legs.a.refundAddress, tron);
  // Nor does it stay in a contract that takes no new escrow.
  const known = deps;
  const adapters = new Map(deps.adapters).set(chain, elsewhere);
  deps = { ...known, adapters };
  const left = await correct(funded, 'taker', newTron());
  deps = known;
  const { contract: now } = elsewhere.deployment;
  assert.deepEqual(left.lanes.a, { contract: now, number: numberOf(maker, 0), counter: 1 });
  // Of the former funder the escrow may still be funded.
  assert.equal((await agreed(maker)).lanes.a?.number, numberOf(maker, 2));
});
