// Nonces on their way, which of two kept transactions gives way to the other, and what the market's
// answer leaves of a claim to one. Real signatures, no chain.

import assert from 'node:assert/strict';
import test from 'node:test';
import { keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ParleyApiError } from '../../errors.ts';
import { memoryStore } from '../../stores/memory.ts';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import { evmView } from '../../testing/honest.ts';
import type { EvmWallet } from '../../wallets/wallet.ts';
import { contextOf, type SettleInput } from '../context.ts';
import { marketLimitMs } from '../market.ts';
import type { SetLeg } from '../record.ts';
import { send } from '../send.ts';
import { isGivenAway, onItsWayMs, type Slot, takenNonces } from './nonces.ts';

const owner = privateKeyToAccount(`0x${'01'.repeat(32)}`);
const stranger = privateKeyToAccount(`0x${'02'.repeat(32)}`);
const { chain } = evmView;
const leg = { chain, family: 'evm', leg: 'a' } as SetLeg;

type Signed = { nonce?: number; by?: typeof owner; chainId?: number };

async function signed(keptAtMs: number, how: Signed = {}): Promise<Kept> {
  const { nonce = 3, by = owner, chainId = evmView.chainId } = how;
  const fees = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, gas: 21_000n };
  const of = { type: 'eip1559', chainId, to: owner.address, nonce } as const;
  const raw = await by.signTransaction({ ...of, ...fees, value: BigInt(keptAtMs) });
  return { raw, txid: keccak256(raw), keptAtMs };
}

/** A record of the maker, who gives leg a and gets leg b. */
function record(id: string, slots: Partial<SwapRecord>): SwapRecord {
  const legs = { a: { chain }, b: { chain: slots.claim ? chain : 'bitcoin' } };
  const none = { funding: null, claim: null, refund: null, publicSecret: null };
  return { trade: { party: 'maker' }, swap: { id, legs }, ...none, ...slots } as never;
}

function side(more: Partial<SettleInput> = {}) {
  const sent: string[] = [];
  const adapter = {
    readSigned: async (raw: string) => raw,
    broadcast: async (raw: string) => void sent.push(raw),
  };
  const context = contextOf({
    swapId: 'mine',
    client: null,
    store: memoryStore(),
    chains: { [chain]: { source: { view: evmView, adapter } as never } },
    ...more,
  });
  const wallet = { family: 'evm', address: owner.address } as EvmWallet;
  return { context, on: { context, leg, wallet }, sent };
}

test('a nonce is on its way for longer than a market holds what it relays, and no longer', async () => {
  assert.ok(onItsWayMs > marketLimitMs);
  const { context, on } = side();
  const now = Date.now();
  for (const [id, funding] of [
    ['young', await signed(now - onItsWayMs + 5_000)],
    ['old', await signed(now - onItsWayMs - 1, { nonce: 4 })],
    ['elsewhere', await signed(now, { nonce: 5, chainId: evmView.chainId + 1 })],
  ] as const) {
    await context.store.putSwap(record(id, { funding }));
  }
  assert.deepEqual([...(await takenNonces(on))], [3]);
});

for (const isTaken of [true, false]) {
  const then = isTaken ? 'is not sent, where its nonce was given away meanwhile' : 'is sent alone';
  test(`a funding that the market kept for long and refuses ${then}`, async () => {
    const store = memoryStore();
    const broadcast = async () => {
      const refund = await signed(isTaken ? 11 : 9);
      await store.putSwap(record('other', { refund }));
      throw new ParleyApiError({ status: 0, code: 'no_answer', message: 'too long' });
    };
    const { context, sent } = side({ store, client: { broadcast } as never });
    const funding = await signed(10);
    if (isTaken) await assert.rejects(send(context, leg, funding), { code: 'refused_by_node' });
    else await send(context, leg, funding);
    assert.deepEqual(sent, isTaken ? [] : [funding.raw]);
  });
}

type Slots = Partial<Record<Slot, Kept>>;

async function givesWay(slot: Slot, kept: Kept, others: Slots, id = 'other'): Promise<boolean> {
  const { context } = side();
  await context.store.putSwap(record('mine', { [slot]: kept }));
  await context.store.putSwap(record(id, others));
  return isGivenAway(context, leg, { slot, kept });
}

test('a nonce is given away by what the same account keeps later, and by nothing else', async () => {
  const kept = await signed(10);
  const later = await signed(11);
  for (const slot of ['approval', 'funding', 'cancel', 'claim', 'refund'] as const) {
    assert.equal(await givesWay('approval', kept, { [slot]: later }), true, slot);
    assert.equal(await givesWay('approval', later, { [slot]: kept }), false, slot);
  }
  for (const how of [{ nonce: 6 }, { by: stranger }, { chainId: 2 }]) {
    assert.equal(await givesWay('funding', kept, { claim: await signed(11, how) }), false);
  }
  assert.equal(await givesWay('funding', kept, { cancel: later }, 'mine'), false, 'its own');
});

test('a claim gives way to a later claim or refund alone', async () => {
  const kept = await signed(10);
  const later = await signed(11);
  for (const verb of ['claim', 'refund'] as const) {
    assert.equal(await givesWay(verb, kept, { funding: later, approval: later }), false);
    assert.equal(await givesWay(verb, kept, { claim: later }), true);
    assert.equal(await givesWay(verb, kept, { refund: later }), true);
  }
});

test('exactly one of two that were kept in one instant gives way', async () => {
  const one = await signed(10);
  const other = { ...one, txid: keccak256(one.txid as `0x${string}`) };
  const both = await Promise.all([
    givesWay('claim', one, { claim: other }),
    givesWay('claim', other, { claim: one }),
  ]);
  assert.deepEqual(both.toSorted(), [false, true]);
});
