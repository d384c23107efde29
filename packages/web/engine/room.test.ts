// The demands of an acceptance on the device, before any request. No node and no market answers
// here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeKept } from '@parley/sdk/stores/store.ts';
import { type Deals, type DealsParts, dealsOf } from './deals.ts';
import { mostDriven } from './drive.ts';
import { memoryKept } from './keeping.ts';
import type { Deal, Health } from './types.ts';

async function deals(
  open: number,
  waiting: readonly string[],
  store: Health['store'] = 'persisted',
): Promise<Deals> {
  const kept = memoryKept();
  const all = waiting.map((threadId) => ({ threadId, swapId: null }));
  await kept.change('deals', () => writeKept({ all }));
  const parts = {
    kept,
    open: async () => open,
    now: () => 0,
    vault: { state: { now: () => ({ kind: 'checked' }) } },
    health: () => ({ store, storeSentence: null, clockOffSeconds: 0 }),
    nodes: { source: async () => Promise.reject(new Error('no node')) },
  };
  return dealsOf(parts as unknown as DealsParts);
}

const coin = { chain: 'evm-dev' };
const deal = { threadId: 'asked', base: coin, quote: coin } as Deal;

test('no more is accepted than this browser settles side by side', async () => {
  const roomOf = async (open: number, waiting: readonly string[]) => {
    const { checks } = await (await deals(open, waiting)).examine(deal);
    return checks.find(({ name }) => name === 'room');
  };
  assert.equal((await roomOf(mostDriven - 2, ['other', 'asked']))?.ok, true);
  assert.equal((await roomOf(mostDriven - 1, ['asked']))?.ok, true);
  for (const full of [await roomOf(mostDriven - 1, ['other']), await roomOf(mostDriven, [])]) {
    assert.equal(full?.ok, false);
    assert.match(full.sentence, /settles 60 side by side/);
  }
});

test('where the browser keeps nothing, nothing is accepted: its keys would be lost', async () => {
  for (const [store, ok] of [
    ['persisted', true],
    ['full', false],
    ['blocked', false],
  ] as const) {
    const { examine, accept } = await deals(0, [], store);
    const { checks, isGood } = await examine(deal);
    assert.equal(checks.find(({ name }) => name === 'store')?.ok, ok, store);
    assert.equal(isGood, false, 'no node answers');
    await assert.rejects(accept(deal), { code: 'failed_check' });
  }
});
