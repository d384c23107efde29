// The demands of an acceptance on the device, before any request. No node and no market answers
// here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeKept } from '@parley/sdk/stores/store.ts';
import { type Deals, type DealsParts, dealsOf } from './deals.ts';
import { memoryKept } from './kept.ts';
import { mostDriven } from './places.ts';
import type { Deal } from './types.ts';

async function deals(open: number, waiting: readonly string[]): Promise<Deals> {
  const kept = memoryKept();
  const all = waiting.map((threadId) => ({ threadId, swapId: null }));
  await kept.change('deals', () => writeKept({ all }));
  const parts = {
    kept,
    open: async () => open,
    now: () => 0,
    vault: { state: { now: () => ({ kind: 'checked' }) } },
    health: () => ({ store: 'persisted', storeSentence: null, clockOffSeconds: 0 }),
    nodes: { source: async () => Promise.reject(new Error('no node')) },
  };
  return dealsOf(parts as unknown as DealsParts);
}

test('no more is accepted than this browser settles side by side', async () => {
  const coin = { chain: 'evm-dev' };
  const deal = { threadId: 'asked', base: coin, quote: coin } as Deal;
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
