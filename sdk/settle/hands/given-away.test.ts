// Which of two kept transactions with one nonce gives way to the other. Real signatures, no chain.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { memoryStore } from '../../stores/memory.ts';
import type { Kept, SwapRecord } from '../../stores/store.ts';
import type { Context } from '../context.ts';
import type { SetLeg } from '../record.ts';
import { isGivenAway, type Slot } from './nonces.ts';

const own = privateKeyToAccount(`0x${'01'.repeat(32)}`);
const stranger = privateKeyToAccount(`0x${'02'.repeat(32)}`);

type Signed = { nonce?: number; by?: typeof own; chainId?: number; keptAtMs: number };

async function signed({ nonce = 5, by = own, chainId = 1, keptAtMs }: Signed): Promise<Kept> {
  const fees = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, gas: 21_000n };
  const of = { type: 'eip1559', chainId, to: own.address, value: BigInt(keptAtMs), nonce } as const;
  const raw = await by.signTransaction({ ...of, ...fees });
  return { raw, txid: keccak256(raw), keptAtMs };
}

function record(id: string, slots: Partial<Record<Slot, Kept>>): SwapRecord {
  const legs = { a: { chain: 'evm' }, b: { chain: slots.claim ? 'evm' : 'bitcoin' } };
  const none = { funding: null, claim: null, refund: null, publicSecret: null };
  // The maker gives leg a and gets leg b.
  return { trade: { party: 'maker' }, swap: { id, legs }, ...none, ...slots } as never;
}

async function givesWay(slot: Slot, kept: Kept, others: Partial<Record<Slot, Kept>>, id = 'other') {
  const store = memoryStore();
  const mine = record('mine', { [slot]: kept });
  await store.putSwap(mine);
  await store.putSwap(record(id, others));
  const leg = { chain: 'evm' } as SetLeg;
  return isGivenAway({ store, swapId: 'mine' } as unknown as Context, leg, { slot, kept });
}

test('a nonce is given away by what the same account keeps later, and by nothing else', async () => {
  const kept = await signed({ keptAtMs: 10 });
  const later = await signed({ keptAtMs: 11 });
  for (const slot of ['approval', 'funding', 'cancel', 'claim', 'refund'] as const) {
    assert.equal(await givesWay('approval', kept, { [slot]: later }), true, slot);
    assert.equal(await givesWay('approval', later, { [slot]: kept }), false, slot);
  }
  const others = [
    await signed({ keptAtMs: 11, nonce: 6 }),
    await signed({ keptAtMs: 11, by: stranger }),
    await signed({ keptAtMs: 11, chainId: 2 }),
  ];
  for (const other of others)
    assert.equal(await givesWay('funding', kept, { claim: other }), false);
  assert.equal(await givesWay('funding', kept, { cancel: later }, 'mine'), false, 'its own');
});

test('a claim gives way to a later claim or refund alone', async () => {
  const kept = await signed({ keptAtMs: 10 });
  const later = await signed({ keptAtMs: 11 });
  for (const verb of ['claim', 'refund'] as const) {
    assert.equal(await givesWay(verb, kept, { funding: later, approval: later }), false);
    assert.equal(await givesWay(verb, kept, { claim: later }), true);
    assert.equal(await givesWay(verb, kept, { refund: later }), true);
  }
});

test('of two that were kept in one instant exactly one gives way', async () => {
  const [one, two] = [await signed({ keptAtMs: 10 }), await signed({ keptAtMs: 10 })];
  const other = { ...two, txid: keccak256(two.txid as `0x${string}`) };
  const both = await Promise.all([
    givesWay('claim', one, { claim: other }),
    givesWay('claim', other, { claim: one }),
  ]);
  assert.deepEqual(both.toSorted(), [false, true]);
});
