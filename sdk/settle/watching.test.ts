// Whom a settlement has its adapters follow: its own escrows, and for no longer than it runs.

import assert from 'node:assert/strict';
import type { WatchedEscrow } from '../../chains/interface/reading.ts';
import { type PaperScene, paperScene, run } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';

/** Whom the adapters of this side follow now, and whom they ever did. */
function followed({ chains }: PaperScene) {
  const [now, ever] = [new Set<string>(), new Set<string>()];
  const watch = (escrows: readonly WatchedEscrow[]) => {
    for (const { address } of escrows) {
      now.add(address);
      ever.add(address);
    }
  };
  const unwatch = (addresses: readonly string[]) => {
    for (const each of addresses) now.delete(each);
  };
  for (const { source } of [chains.a, chains.b]) Object.assign(source.adapter, { watch, unwatch });
  return { now, ever };
}

timed('a settlement that ends, is stopped or fails is followed no more', async () => {
  const scene = await paperScene('maker');
  const { now, ever } = followed(scene);
  await run(scene, {}, () => now.size === 2);
  assert.deepEqual([now.size, ever.size], [0, 2]);
  ever.clear();
  await assert.rejects(
    run(scene, { wallets: new Map() }, () => false),
    { code: 'no_wallet' },
  );
  assert.deepEqual([now.size, ever.size], [0, 2]);
  assert.equal((await run(scene, {}, () => false))?.end, 'received');
  assert.equal(now.size, 0);
});
