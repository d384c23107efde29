// What waits and is not to blame for it costs no more for that: neither where no block comes nor
// where nodes swallow or refuse it. Where fees do rise they are followed, and it lands.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Gas } from '../ports/gas.ts';
import { evm2, must } from '../settle/testing/world.ts';
import { mostVersions } from './bounds.ts';
import {
  attemptsOn,
  baseFee,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  fundedDeal,
  gwei,
  hurry,
  jobsOf,
  type Loose,
  relay,
  startDesk,
  swapOf,
} from './testing/desk.ts';

const limits = { timeout: 120_000 };
let desk: Desk;
let gas: Loose;
let account: Gas['account'];
let adapter: ChainAdapter;
before(async () => {
  desk = await startDesk();
  gas = desk.deps.gas.get(evm2) as Loose;
  ({ account } = gas);
  adapter = desk.deps.adapters.get(evm2) as ChainAdapter;
}, limits);
beforeEach(async () => {
  gas.account = account;
  send(adapter.broadcast);
  await blockAt(gwei);
});
after(() => desk?.close());

function send(broadcast: ChainAdapter['broadcast']): void {
  (desk.deps.adapters as Map<string, ChainAdapter>).set(evm2, { ...adapter, broadcast });
}

const rpc = (method: string, ...params: unknown[]) => desk.rpc(evm2)(method, params);

async function blockAt(wei: bigint): Promise<void> {
  await baseFee(desk, evm2, wei);
  await desk.dev.mine(evm2, 1);
}

/** Each after what a fee is offered for where something waits behind it. */
async function looks(count: number, between = async () => {}): Promise<void> {
  for (let look = 0; look < count; look += 1) {
    await between();
    desk.deps.advance(21_000);
    await hurry(desk);
    await desk.keeper.pass(evm2);
  }
}

async function relayed(): Promise<[Deal, Deal]> {
  const deals: [Deal, Deal] = [await fundedDeal(desk), await fundedDeal(desk)];
  for (const deal of deals) must(await relay(deal));
  return deals;
}

const versions = async (deal: Deal) => await attemptsOn(desk, deal, evm2);

async function reserves(deals: readonly Deal[]): Promise<bigint[]> {
  const jobs = await Promise.all(deals.map((deal) => jobsOf(desk, deal)));
  return jobs.map((all) => BigInt(all.find(({ chain }) => chain === evm2)?.reserve ?? 0));
}

async function land(deals: readonly Deal[]): Promise<void> {
  await deepen(desk);
  await looks(1);
  await deepen(desk);
  for (const deal of deals) assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
}

test('two relays that no block takes, because none comes, are signed once', limits, async () => {
  const deals = await relayed();
  const held = await reserves(deals);
  await looks(10);
  for (const deal of deals) assert.equal((await versions(deal)).length, 1);
  assert.deepEqual(await reserves(deals), held);
  await land(deals);
});

test(
  'what a node swallows pays more so many times, within what is kept for it',
  limits,
  async () => {
    const deals = await relayed();
    const held = await reserves(deals);
    const swallowed = async () => {
      await rpc('anvil_dropAllTransactions');
      await rpc('anvil_mine', '0x3');
    };
    await looks(mostVersions + 2, swallowed);
    const [first, second] = deals;
    const { length } = await versions(first);
    assert.ok(length > 3 && length <= mostVersions, `${length} versions`);
    assert.deepEqual(await reserves(deals), held);
    // No fee takes the other one past it, however long that waits.
    desk.deps.advance(900_000);
    await looks(1, swallowed);
    assert.equal((await versions(second)).length, 1);
    await land(deals);
  },
);

test('what nodes refuse for its fee, whatever it is, is not signed for ever', limits, async () => {
  const deal = await fundedDeal(desk);
  must(await relay(deal));
  const [held] = await reserves([deal]);
  let refused = 0;
  send(() => {
    refused += 1;
    return Promise.reject(new ParleyError('refused_by_node', 'transaction underpriced', {}));
  });
  await looks(mostVersions + 2);
  const { length } = await versions(deal);
  assert.ok(length > 3 && length <= mostVersions, `${length} versions`);
  assert.deepEqual(await reserves([deal]), [held]);
  assert.ok(refused > mostVersions + 2, 'it is sent at every look');
  send(adapter.broadcast);
  await looks(1);
  await land([deal]);
});

test(
  'fees that rise far beyond what was reserved are followed, and no further',
  limits,
  async () => {
    const deals = await relayed();
    const held = await reserves(deals);
    await looks(1);
    const allowed: bigint[] = [];
    const sign: typeof account.sign = (work, slot, signal) => {
      if (slot.above !== null) allowed.push(slot.mostCost);
      return account.sign(work, slot, signal);
    };
    gas.account = { ...account, sign };
    for (let fee = 4n * gwei; fee <= 256n * gwei; fee *= 4n) {
      await blockAt(fee);
      desk.deps.advance(900_000);
      await looks(1);
    }
    const signal = AbortSignal.timeout(10_000);
    const usual = await account.reserve({ verb: 'void' }, signal);
    const now = await reserves(deals);
    assert.ok(
      now.every((reserve, at) => reserve > (held[at] ?? 0n)),
      `${now} after ${held}`,
    );
    // A claim takes more gas than a payment of nothing, and less than ten times as much.
    assert.ok(allowed.length > 3 && allowed.every((each) => each < 10n * usual), `${allowed}`);
    for (const deal of deals) {
      const { length } = await versions(deal);
      assert.ok(length > 1 && length < 8, `${length} versions`);
    }
    await land(deals);
  },
);

test('a job does not end while a node owes the word of one that left', limits, async () => {
  const deal = await fundedDeal(desk);
  must(await relay(deal));
  await looks(1);
  await blockAt(40n * gwei);
  desk.deps.advance(900_000);
  await looks(1);
  const [older, ...newer] = await versions(deal);
  assert.equal(newer.length, 1);
  // Its receiver refuses what is mined, and claims for itself.
  const { address } = deal.taker.evmAccount;
  await rpc('anvil_setCode', address, '0xfe');
  await desk.dev.mine(evm2, 1);
  await rpc('anvil_setCode', address, '0x');
  await blockAt(gwei);
  await claimOwn(desk, deal);
  await deepen(desk);
  const fate: typeof account.fate = (sent, signal) => {
    if (sent.txid !== older?.txid) return account.fate(sent, signal);
    return Promise.reject(new ParleyError('chain_unavailable', 'of a test', {}));
  };
  gas.account = { ...account, fate };
  await looks(1);
  const state = async () => (await jobsOf(desk, deal)).find(({ chain }) => chain === evm2)?.state;
  assert.deepEqual(
    (await versions(deal)).map((each) => each.fate),
    ['unknown', 'failed'],
  );
  assert.equal(await state(), 'open');
  gas.account = account;
  await looks(1);
  assert.deepEqual(
    (await versions(deal)).map((each) => each.fate),
    ['gone', 'failed'],
  );
  assert.equal(await state(), 'done');
});
