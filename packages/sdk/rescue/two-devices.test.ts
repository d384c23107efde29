// Two devices of one person settle one swap, and no lock is between them: the lost one was found
// again, or never lost. On paper chains, at any moment.

import assert from 'node:assert/strict';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { Party } from '@parley/core/trade.ts';
import fc from 'fast-check';
import { type SettleInput, settle } from '../settle.ts';
import { memoryStore } from '../stores/memory.ts';
import type { Store } from '../stores/store.ts';
import { isOver, type PaperScene, paperScene, run, sent } from '../testing/paper-scene.ts';
import { recordOf } from '../testing/sides.ts';
import { timed } from '../testing/timed.ts';

/** The store after a rescue of the swap on the other device, where it is ready to be claimed. */
async function restored(from: SettleInput, secret: string | null): Promise<Store> {
  const store = memoryStore();
  const { trade, swap } = await recordOf(from);
  if (secret !== null) await store.putSecret(hashlockOf(secret), secret);
  await store.putTrade(trade);
  const unsent = { funding: null, claim: null, refund: null, publicSecret: null };
  await store.putSwap({ trade, swap, ...unsent, restored: true });
  return store;
}

const secretOf = (party: Party, secret: string) => (party === 'taker' ? secret : null);

/** Both until the end; null: the swap was over before the second device was there. */
async function both(scene: PaperScene, party: Party, at: number) {
  const there = Promise.withResolvers<void>();
  const over = new AbortController();
  scene.onStep = () => {
    if (scene.wall >= at) there.resolve();
    if (isOver(scene)) over.abort(new Error('it is over'));
  };
  const first = run(scene, {}, () => isOver(scene));
  await Promise.race([there.promise, first]);
  if ((await scene.input.store.getSwap(scene.input.swapId)) === null) return [await first, null];
  const store = await restored(scene.input, secretOf(party, scene.secret));
  scene.isShared = true;
  const { trade: _, ...input } = scene.input;
  const second = settle({ ...input, store, signal: over.signal }).catch((error: unknown) => {
    if (!over.signal.aborted) throw error;
    return null;
  });
  return Promise.all([first, second]);
}

timed('on two devices at once nothing is lost, and nothing is funded twice', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom<Party>('maker', 'taker'),
    // While the first one may be funding, or at any time.
    fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 40_000 })),
    fc.boolean(),
    async (party, at, isLeft) => {
      const moves = { stepSeconds: 300, ...(isLeft && { theirsAt: Infinity }) };
      const scene = await paperScene(party, moves);
      const ends = await both(scene, party, scene.wall + at);
      const { gives, gets } = scene;
      const own = scene.endOf(gives);
      const paid = scene.endOf(gets);
      const what = `${party}, together after ${at} s: ${own}, ${paid}`;
      if (own === 'claimed') assert.equal(paid, 'claimed', what);
      const fundings = sent(scene, gives, 'fund');
      assert.ok(fundings.length <= 1, `${what}: funded ${fundings.length} times`);
      if (fundings.length === 1) assert.ok(own !== null, `${what}: its leg is left`);
      const told = new Set(ends.flatMap((each) => (each === null ? [] : [each.end])));
      assert.ok(told.size <= 1, `${what}: told as ${[...told]}`);
    },
  );
  await fc.assert(property, { numRuns: 10 });
});
