// Which lane an escrow takes: a real PostgreSQL, the real TRON adapter without its node, and a
// chain that shows what a test says of a lane.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { isOfPayee, type LaneState, type Lanes } from '@parley/chains/interface/lanes.ts';
import { type TronAdapter, tronAdapter } from '@parley/chains/tron/adapter.ts';
import { tronAddressOf } from '@parley/chains/tron/address.ts';
import { tronDevPolicy } from '@parley/chains/tron/policy.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import { fundBy } from '@parley/core/gates.ts';
import { clocksAt } from '@parley/core/testing.ts';
import type { LegName } from '@parley/core/trade.ts';
import { type TestDatabase, testDatabase } from '@parley/verify/test/support/database.ts';
import type { TestDeps } from '@parley/verify/test/support/deps.ts';
import { escrowsOfSwap, keepLaneSignature, updateEscrow } from '../db/escrows.ts';
import { storeHeads } from '../db/heads.ts';
import { type Swap, swapById } from '../db/swaps.ts';
import { compareSwap } from '../doctor/compare.ts';
import { storeAddress } from './addresses.ts';
import { currentEscrow } from './escrows.ts';
import { laneTag } from './lanes.ts';
import type { TradeTerms } from './preview.ts';
import { mustHaveReadyLane } from './ready-lane.ts';
import { insertAccount } from './testing/account.ts';
import {
  insertAsset,
  nodelessAdapters,
  nodelessDeps,
  someWallets,
  swapBetween,
} from './testing/rows.ts';

const chain = 'tron-dev';
const contract = tronAddressOf(new Uint8Array(20).fill(9));
const newTron = () => tronAddressOf(randomBytes(20));
const signal = () => AbortSignal.timeout(60_000);

let database: TestDatabase;
let deps: TestDeps;
/** The adapter of the same chain once its contract is a former one. */
let elsewhere: TronAdapter;
let trade: TradeTerms;
/** The state that the chain shows, by lane; other lanes were never used. */
const shown = new Map<string, LaneState>();

before(async () => {
  database = await testDatabase();
  const deployment = { chainId: 7, contract, creation: '00'.repeat(32) };
  const served = { chain, sources: [{ url: 'http://127.0.0.1:9' }], policy: tronDevPolicy };
  const nodeless = tronAdapter({ ...served, deployment });
  const moved = { ...deployment, contract: newTron(), formerContracts: [deployment] };
  elsewhere = tronAdapter({ ...served, deployment: moved });
  const read = async (_: object, numbers: readonly string[]) =>
    numbers.map((number) => shown.get(number) ?? { counter: 0, isOpen: false });
  const lanes = { ...(nodeless.lanes as Lanes), read };
  deps = nodelessDeps(database.db, [...nodelessAdapters(), { ...nodeless, lanes }]);
  const base = await insertAsset(deps, 'bitcoin', null, null);
  const quote = await insertAsset(deps, chain, null, null);
  const amounts = { baseAmount: 1_000_000n, quoteAmount: 650_000_000n };
  trade = { direction: 'sell_base', base, quote, ...amounts };
});
after(() => database?.drop());

function clockAt(clock: number): Promise<void> {
  const heads = { height: 1, hash: 'aa', clock, doneTo: null };
  return storeHeads(deps.db, chain, heads, new Date(), null);
}

type Trader = { readonly id: string; readonly tron: string };

async function trader(): Promise<Trader> {
  const tron = newTron();
  const wallet = { family: 'tron', address: tron, pubkey: null } as const;
  const { accountId: id } = await insertAccount(deps, [wallet, someWallets().bitcoin]);
  return { id, tron };
}

/** A swap in which the maker gives TRX. */
const agreed = async ({ id: makerId }: Trader, taker?: Trader): Promise<Swap> =>
  swapBetween(deps, trade, { makerId, takerId: (taker ?? (await trader())).id });

/** Another destination for the TRX leg. */
async function correct(
  swap: Swap,
  party: 'maker' | 'taker',
  address: string,
  ownLane = false,
): Promise<Swap> {
  const accountId = party === 'maker' ? swap.makerId : swap.takerId;
  const request = { accountId, swapId: swap.id, chain, address, keySignature: null };
  const destination = { address, pubkey: null };
  return deps.db.transaction((tx) =>
    storeAddress(tx, deps, request, { leg: 'a', party, destination, ownLane, lifted: null }),
  );
}

const tagOf = ({ id: accountId }: Trader, as: 'funder' | 'payee' = 'funder') =>
  laneTag({ as, accountId });
const laneOf = (
  trader: Trader,
  index: number,
  counter = 1,
  at = contract,
  as: 'funder' | 'payee' = 'funder',
) => {
  const number = `${tagOf(trader, as)}${index.toString(16).padStart(8, '0')}`;
  return { contract: at, number, counter };
};
const numberOf = (trader: Trader, index: number) => laneOf(trader, index).number;
/** Which of its lanes the trader's next swap takes. */
const next = async (of: Trader) => {
  const { number = '', counter } = (await agreed(of)).lanes.a ?? {};
  assert.ok(number.startsWith(tagOf(of)));
  return [Number.parseInt(number.slice(-8), 16), counter];
};

async function show(swap: Swap, facts: Partial<EscrowFacts>): Promise<void> {
  const address = swap.state.legs.a.escrow as string;
  const row = { chain, address, fundingTold: false, done: false };
  const changed = { ...row, facts: { ...nothingSeen, ...facts }, follower: null };
  await updateEscrow(deps.db, { ...changed, at: new Date() });
}

test('the lanes of a funder and of a payee are told apart, whatever the account', () => {
  const accounts = Array.from({ length: 64 }, (_, at) => `account ${at}`);
  for (const as of ['funder', 'payee'] as const) {
    const tags = accounts.map((accountId) => laneTag({ as, accountId }));
    for (const number of tags) assert.equal(isOfPayee({ number }), as === 'payee', number);
    assert.equal(new Set(tags).size, tags.length);
  }
});

const reread = async ({ id }: Swap) => (await swapById(deps.db, id)) as Swap;
const deep = { txid: 'aa', confirmations: 30, deep: true };
const ended = { funded: deep, claimed: deep, empty: true };

test('each open escrow of an account has a lane of its own, by the account’s own tag', async () => {
  const maker = await trader();
  const other = await trader();
  assert.deepEqual(
    [await next(maker), await next(maker)],
    [
      [0, 1],
      [1, 1],
    ],
  );
  // A party that names the address of somebody else as its funder takes none of his lanes.
  const named = await correct(await agreed(other), 'maker', maker.tron);
  assert.deepEqual(named.lanes.a, laneOf(other, 0));
  assert.notEqual(tagOf(maker), tagOf(other));
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
  for (const [facts, ...lane] of [
    [{ ...ended, empty: false }, 1, 1],
    [{ ...ended, claimed: { ...deep, deep: false } }, 2, 1],
    [ended, 0, 2],
    [ended, 3, 1],
  ] as const) {
    await show(first, facts);
    assert.deepEqual(await next(maker), lane);
  }
});

test('the lane of what was never funded is free once the chain lets no funding in any more', async () => {
  const maker = await trader();
  const first = await agreed(maker);
  const last = fundBy(first.state, first.state.legs.a) + tronDevPolicy.normal.settleSeconds;
  await clockAt(last);
  assert.deepEqual(await next(maker), [1, 1]);
  await show(first, { funded: { ...deep, deep: false }, empty: false });
  await clockAt(last + 1);
  assert.notEqual((await next(maker))[0], 0);
  await show(first, {});
  assert.deepEqual(await next(maker), [0, 1]);
  await clockAt(0);
});

test('agreements at the same moment take different lanes', async () => {
  const maker = await trader();
  await show(await agreed(maker), ended);
  const taken = await Promise.all(Array.from({ length: 8 }, () => next(maker)));
  assert.deepEqual(taken.map(([index]) => index).sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
});

const ready = (swap: Swap, name: LegName = 'a', agreeing = Promise.resolve()) => {
  const lanes = deps.adapters.get(swap.state.legs[name].chain)?.lanes;
  return mustHaveReadyLane(deps, swap, name, { lanes, agreeing }, signal());
};

test('a lane that the chain has ready is left as it is', async () => {
  const swap = await agreed(await trader());
  await ready(swap);
  await ready(swap, 'b');
  assert.equal((await reread(swap)).state.legs.a.escrow, swap.state.legs.a.escrow);
});

test('where the chain’s counter is ahead, the leg moves to it; the former escrow is kept', async () => {
  const maker = await trader();
  const swap = await agreed(maker);
  shown.set(numberOf(maker, 0), { counter: 4, isOpen: false });
  const differing = Promise.reject(new ParleyError('sources_disagree', 'two nodes differ', {}));
  await assert.rejects(ready(swap, 'a', differing), { code: 'sources_disagree' }, 'by one node');
  await assert.rejects(ready(swap), { code: 'escrow_moved' });
  const moved = await reread(swap);
  assert.deepEqual(moved.lanes.a, laneOf(maker, 0, 5));
  assert.deepEqual(
    moved.former.map(({ address }) => address),
    [swap.state.legs.a.escrow],
  );
  const terms = currentEscrow(moved, 'a')?.terms;
  assert.ok(terms);
  assert.equal(moved.state.legs.a.escrow, deps.adapters.get(chain)?.plan(terms).address);
  // The terms of both escrows are not mixed up: they differ in the lane alone.
  const rows = await escrowsOfSwap(deps.db, moved.id);
  const clocks = clocksAt(moved.agreedAt);
  const { adapters } = deps;
  const findings = compareSwap({ swap: moved, rows, read: new Map(), adapters, clocks });
  assert.ok(!findings.some(({ what }) => what === 'escrow_not_of_terms'));
  await ready(moved);
  // The next of the account finds what the chain showed.
  await show(moved, ended);
  assert.deepEqual(await next(maker), [0, 6]);
});

test('where the lane holds money of something else, the leg moves to another', async () => {
  const maker = await trader();
  const swap = await agreed(maker);
  const hold = (index: number) => shown.set(numberOf(maker, index), { counter: 1, isOpen: true });
  hold(0);
  hold(1);
  await assert.rejects(ready(swap), { code: 'escrow_moved' });
  const moved = await reread(swap);
  assert.deepEqual(moved.lanes.a, laneOf(maker, 2));
  for (let index = 2; index < 40; index += 1) hold(index);
  await assert.rejects(ready(moved), { code: 'too_many_open' });
});

test('a leg that is funded does not move', async () => {
  const maker = await trader();
  const swap = await agreed(maker);
  shown.set(numberOf(maker, 0), { counter: 1, isOpen: true });
  await show(swap, { funded: deep, balance: 1n, empty: false });
  await assert.rejects(ready(swap), { code: 'addresses_fixed' });
  assert.equal((await reread(swap)).state.legs.a.escrow, swap.state.legs.a.escrow);
});

test('a corrected payout keeps the lane; another funder has lanes of its own', async () => {
  const maker = await trader();
  await agreed(maker);
  const swap = await agreed(maker);
  const paid = await correct(swap, 'taker', newTron());
  assert.notEqual(paid.state.legs.a.escrow, swap.state.legs.a.escrow);
  assert.deepEqual(paid.lanes.a, swap.lanes.a);
  const tron = newTron();
  const funded = await correct(swap, 'maker', tron);
  assert.deepEqual(funded.lanes.a, laneOf(maker, 0));
  assert.equal(funded.state.legs.a.refundAddress, tron);
  // Nor does it stay in a contract that takes no new escrow.
  const known = deps;
  deps = { ...known, adapters: new Map(known.adapters).set(chain, elsewhere) };
  const left = await correct(funded, 'taker', newTron());
  deps = known;
  assert.deepEqual(left.lanes.a, laneOf(maker, 0, 1, elsewhere.deployment.contract));
  // The escrow of the former funder may still be funded.
  assert.equal((await next(maker))[0], 2);
});

const lentBy = (trader: Trader, index: number, counter = 1) =>
  laneOf(trader, index, counter, contract, 'payee');

test('a payee’s lane is taken where the funder’s next one is new, and used again all day', async () => {
  const payee = await trader();
  const funder = await trader();
  const swap = await correct(await agreed(funder, payee), 'taker', payee.tron, true);
  assert.deepEqual(swap.lanes.a, lentBy(payee, 0));
  // From its beginning on, since this wallet has lent before.
  const second = await agreed(await trader(), payee);
  assert.deepEqual(second.lanes.a, lentBy(payee, 1));
  await show(swap, ended);
  assert.deepEqual((await agreed(await trader(), payee)).lanes.a, lentBy(payee, 0, 2));
  const own = await agreed(funder);
  await show(own, ended);
  assert.deepEqual((await agreed(funder, payee)).lanes.a, { ...own.lanes.a, counter: 2 });
});

test('a lane whose signature is out is not given again before nothing can open it', async () => {
  const payee = await trader();
  const swap = await correct(await agreed(await trader(), payee), 'taker', payee.tron, true);
  const escrow = swap.state.legs.a.escrow as string;
  await keepLaneSignature(deps.db, { chain, address: escrow, signature: '0x11' });
  const { number } = lentBy(payee, 0);
  shown.set(number, { counter: 1, isOpen: true });
  await assert.rejects(ready(await reread(swap)), { code: 'escrow_moved' });
  const moved = await reread(swap);
  assert.deepEqual([moved.lanes.a, moved.laneSignatures.a], [lentBy(payee, 1), null]);
  shown.delete(number);
  const given = async () => (await agreed(await trader(), payee)).lanes.a;
  const last = fundBy(swap.state, swap.state.legs.a) + tronDevPolicy.normal.settleSeconds;
  await clockAt(last);
  assert.deepEqual(await given(), lentBy(payee, 2));
  await clockAt(last + 1);
  assert.deepEqual(await given(), lentBy(payee, 0));
  await clockAt(0);
});

test('where each lane of the payee holds money, the leg moves to one of its funder', async () => {
  const payee = await trader();
  const funder = await trader();
  const swap = await correct(await agreed(funder, payee), 'taker', payee.tron, true);
  const escrow = swap.state.legs.a.escrow as string;
  await keepLaneSignature(deps.db, { chain, address: escrow, signature: '0x11' });
  for (let index = 0; index < 40; index += 1) {
    shown.set(lentBy(payee, index).number, { counter: 1, isOpen: true });
  }
  await assert.rejects(ready(await reread(swap)), { code: 'escrow_moved' });
  assert.deepEqual((await reread(swap)).lanes.a, laneOf(funder, 1));
});

test('agreements at the same moment take different lanes of one payee', async () => {
  const payee = await trader();
  await correct(await agreed(await trader(), payee), 'taker', payee.tron, true);
  const funders = await Promise.all(Array.from({ length: 6 }, trader));
  const swaps = await Promise.all(funders.map((each) => agreed(each, payee)));
  const numbers = swaps.map(({ lanes }) => lanes.a?.number);
  assert.deepEqual(
    numbers.sort(),
    [1, 2, 3, 4, 5, 6].map((at) => lentBy(payee, at).number),
  );
});
