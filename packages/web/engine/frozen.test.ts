// A tab that is frozen in the middle of a swap keeps its locks: another one claims all the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainKey } from '@parley/core/families.ts';
import { memoryStore } from '@parley/sdk/stores/memory.ts';
import { paperScene, run, sent } from '@parley/sdk/testing/paper-scene.ts';
import { memoryKept } from './kept.ts';
import { held } from './live.ts';
import { openSwaps, type SwapsParts } from './swaps.ts';
import { tabLocks } from './testing/locks.ts';

test('a claim whose secret is public is made once, by a tab that hears nothing of the frozen one', async (t) => {
  const scene = await paperScene('maker');
  const { swapId, chains } = scene.input;
  const store = { ...memoryStore(), ...tabLocks() };
  // The other side has shown the secret, and then the tab that has the turn is frozen.
  const { lock: _, ...alone } = store;
  await run(scene, { store: alone }, () => sent(scene, 'a', 'claim').length > 0);
  assert.equal(sent(scene, 'b', 'claim').length, 0);
  const never = new AbortController().signal;
  const frozen = [await store.lock('driver', never)];
  frozen.push(await store.lock(`settlement of ${swapId}`, never));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const parts = {
    name: crypto.randomUUID(),
    store,
    kept: memoryKept(),
    pollMs: 2_000,
    client: scene.input.client,
    now: () => scene.wall,
    problems: () => [],
    onStoreFault: () => {},
    onSaid: () => {},
    onRescue: () => {},
    vault: { state: held({ kind: 'checked' }) },
    deals: { entries: async () => [], change: async () => {} },
    nodes: {
      chains: held([]),
      of: (chain: ChainKey) => ({ family: 'evm', chain, nodes: [], chainId: 1 }),
      source: async (chain: ChainKey) => chains[chain]?.source,
    },
    hands: {
      wallet: ({ chain }: { readonly chain: ChainKey }) => chains[chain]?.wallet ?? null,
      prompts: () => [],
      isOpen: () => false,
      done: () => {},
    },
  } as unknown as SwapsParts;
  const swaps = await openSwaps(parts);
  t.after(() => swaps.close());
  const pass = async (times: number) => {
    for (let each = 0; each < times; each += 1) {
      t.mock.timers.tick(30_000);
      await scene.input.now?.();
      for (let turn = 0; turn < 200; turn += 1) await new Promise((done) => setImmediate(done));
    }
  };
  await pass(4);
  assert.equal(swaps.one(swapId)?.phase, 'starting', 'the other tab may still answer');
  await pass(2);
  assert.deepEqual(swaps.driver.now(), { kind: 'other', isSilent: true });
  assert.equal(swaps.one(swapId)?.phase, 'running');
  assert.equal(sent(scene, 'b', 'claim').length, 0, 'not before five minutes');
  await pass(40);
  assert.equal(sent(scene, 'b', 'claim').length, 1);
  assert.equal(sent(scene, 'a', 'fund').length, 1);
  assert.equal(swaps.one(swapId)?.end?.end, 'received');
  assert.equal(frozen.length, 2);
  // A reload: both legs are told of as the chains showed them last.
  const later = await openSwaps({ ...parts, name: crypto.randomUUID() });
  t.after(() => later.close());
  for (const leg of ['a', 'b'] as const) {
    const facts = later.one(swapId)?.legs[leg].facts;
    assert.ok(facts?.funded && facts.claimed, leg);
    assert.deepEqual(facts, swaps.one(swapId)?.legs[leg].facts);
  }
});
