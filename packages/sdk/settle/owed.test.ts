// One wallet and several swaps: its debts for running and kept swaps are counted before it funds
// another. The chains are stand-ins with a price of one for each claim.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owed } from '@parley/chains/interface/gas.ts';
import { memoryStore } from '../stores/memory.ts';
import type { Store, SwapRecord } from '../stores/store.ts';
import { bitcoinView, evmView, keptRecord, now } from '../testing/honest.ts';
import { type Context, contextOf } from './context.ts';
import { keepOwed, owing } from './owed.ts';

const { trade, swap } = keptRecord('taker');
const funding = { txid: 'a funding', raw: '' };

/** A wallet, which is paid on EVM (leg a), and what its node has been asked. */
function newFunds(has: number) {
  const address = `0x${randomBytes(20).toString('hex')}`;
  return { address, has, asked: [] as string[], clock: now, wall: Infinity, slowMs: 0 };
}
type Funds = ReturnType<typeof newFunds>;

function recordOf(id: string, more: Partial<SwapRecord> = {}): SwapRecord {
  const own = { ...swap, id, hashlock: randomBytes(32).toString('hex') };
  return keptRecord('taker', { trade: { ...trade, threadId: id }, swap: own, ...more });
}

/** A side of a swap of its own, with this wallet on every chain. */
async function sideOf(funds: Funds, store: Store = memoryStore()): Promise<Context> {
  const id = crypto.randomUUID();
  const fundsShortage = async ({ claims, fundings }: Owed, address: string) => {
    await sleep(funds.slowMs);
    funds.asked.push(`${claims.length} claims, ${fundings.length} fundings`);
    const need = claims.length + fundings.length;
    const sentence = `has ${funds.has} and needs ${need}`;
    return need <= funds.has ? null : { code: 'fee_poor', verb: 'claim', address, sentence };
  };
  const adapter = { heads: async () => ({ clock: funds.clock }), fundsShortage };
  const wallet = { family: 'evm', address: funds.address };
  const chains = [bitcoinView, evmView].map((view) => [
    view.chain,
    { source: { view, adapter }, wallet },
  ]);
  await store.putSwap(recordOf(id));
  const context = contextOf({
    swapId: id,
    client: null,
    store,
    now: async () => funds.wall,
    chains: Object.fromEntries(chains),
  });
  await context.store.getSwap(id);
  return context;
}

const counts = (context: Context, isSent = false) => owing(context, { isSent }, async () => {});

test('with what one claim costs one of two swaps is funded, and the other when there is more', async () => {
  const funds = newFunds(1);
  const first = await sideOf(funds);
  const second = await sideOf(funds);
  await counts(first);
  const words = new RegExp(`^has 1 and needs 2; it owes the claims of swap ${first.swapId}$`);
  await assert.rejects(counts(second), { code: 'claim_unpayable', message: words });
  funds.has = 2;
  await counts(second);
  funds.has = 1;
  await keepOwed(second, { claim: false, funding: false });
  await counts(await sideOf(newFunds(1)));
  await counts(first);
});

test('two that are counted at once are counted one after the other', async () => {
  const funds = { ...newFunds(1), slowMs: 20 };
  const sides = [await sideOf(funds), await sideOf(funds)];
  const counted = await Promise.allSettled(sides.map((side) => counts(side)));
  assert.deepEqual(counted.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

test('a swap in the store counts until nobody owes its claim, or takes it', async () => {
  const funds = newFunds(1);
  const store = memoryStore();
  const side = await sideOf(funds, store);
  const { a } = swap.legs;
  assert.ok(a.escrow);
  const past = { ...a, escrow: { ...a.escrow, terms: { ...a.escrow.terms, timelock: now } } };
  const pays = funds.address;
  const cases: [string, Partial<SwapRecord>, boolean][] = [
    ['owed by this wallet', { owedBy: pays }, true],
    ['spelt otherwise', { owedBy: pays.toUpperCase().replace('X', 'x') }, true],
    ['of a record of an older version, funded', { funding }, true],
    ['not funded', {}, false],
    ['owed by nobody any more', { funding, owedBy: null }, false],
    ['owed by another wallet', { funding, owedBy: `0x${'00'.repeat(20)}` }, false],
    [
      'past its timelock',
      { owedBy: pays, swap: { ...swap, id: 'kept', legs: { ...swap.legs, a: past } } },
      false,
    ],
  ];
  for (const [what, more, isCounted] of cases) {
    await store.putSwap(recordOf('kept', more));
    funds.asked.length = 0;
    const counted = await counts(side).then(
      () => false,
      () => true,
    );
    assert.equal(counted, isCounted, what);
    assert.deepEqual(funds.asked, [`${isCounted ? 2 : 1} claims, 0 fundings`], what);
  }
});

test("a funding's fees are not there for a claim that is owed, until a block shows it", async () => {
  const funds = newFunds(2);
  const store = memoryStore();
  const { trade: maker, swap: theirs } = keptRecord('maker');
  // It is paid on the chain on which the others fund.
  const kept = recordOf('kept', { owedBy: funds.address });
  await store.putSwap({ ...kept, trade: maker, swap: { ...theirs, id: 'kept' } });
  const first = await sideOf(funds, store);
  const second = await sideOf(funds, store);
  await counts(first, true);
  assert.deepEqual(funds.asked, ['1 claims, 0 fundings', '1 claims, 1 fundings']);
  await assert.rejects(counts(second, true), { code: 'claim_unpayable' });
  assert.equal(funds.asked.at(-1), '1 claims, 2 fundings');
  await keepOwed(first, { claim: true, funding: false });
  await counts(second, true);
});

test('a funding that came to nothing owes nothing; one that was kept is owed', async () => {
  for (const isKept of [false, true]) {
    const funds = newFunds(1);
    const side = await sideOf(funds);
    const failing = owing(side, { isSent: true }, async () => {
      if (isKept) await side.keep({ funding });
      throw new Error('no node');
    });
    await assert.rejects(failing, /no node/);
    const other = counts(await sideOf(funds));
    await (isKept ? assert.rejects(other, { code: 'claim_unpayable' }) : other);
  }
});

test('the debt of a settlement is not counted past the timelock', async () => {
  const funds = newFunds(1);
  await counts(await sideOf(funds));
  const { timelock } = swap.legs.a;
  funds.clock = timelock - 1;
  await assert.rejects(counts(await sideOf(funds)), { code: 'claim_unpayable' });
  funds.clock = timelock;
  // A node that invents the time ends nothing that is owed.
  funds.wall = timelock - 1;
  await assert.rejects(counts(await sideOf(funds)), { code: 'claim_unpayable' });
  funds.wall = timelock;
  await counts(await sideOf(funds));
});

test('the payer of the claim is kept, until nobody has to', async () => {
  const funds = newFunds(1);
  const side = await sideOf(funds);
  await keepOwed(side, { claim: false, funding: false });
  assert.ok(!('owedBy' in side.record), 'nothing is written where nothing is owed');
  await side.keep({ funding });
  await keepOwed(side, { claim: true, funding: true });
  assert.equal(side.record.owedBy, funds.address);
  await keepOwed(side, { claim: false, funding: false });
  assert.equal(side.record.owedBy, null);
});
