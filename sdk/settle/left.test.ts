// A claim that is left to a batch, on paper chains: it waits, and not for too long.

import assert from 'node:assert/strict';
import { ParleyError } from '../../core/errors.ts';
import { paperScene, run } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';

/** How long before its timelock the own claim of a public secret was sent, in seconds. */
async function claimedBefore(leaveToBatchMs: number, hasBatches = true) {
  const scene = await paperScene('maker');
  const paying = scene.chains[scene.gets];
  const none = async () => {
    throw new ParleyError('payout_would_fail', 'nobody sends batches here', {});
  };
  if (hasBatches) Object.assign(paying.source.adapter, { buildBatch: none });
  const timelock = scene.timelock(scene.gets);
  let before: number | null = null;
  scene.onStep = () => {
    const sent = [...paying.pool.values(), ...paying.mined];
    if (sent.some(({ call }) => call.verb === 'claim')) before ??= timelock - scene.wall;
  };
  const outcome = await run(scene, { leaveToBatchMs }, () => false);
  assert.equal(outcome?.end, 'received');
  const { high, reactSeconds } = paying.source.view.policy;
  const needs = high.outageSeconds + reactSeconds + high.settleSeconds;
  assert.ok(before !== null);
  return { before, needs, texts: scene.told.map(({ text }) => text) };
}

timed('a claim that is left to a batch is sent once its timelock comes near', async () => {
  const { before, needs, texts } = await claimedBefore(Infinity);
  assert.ok(before <= needs && before > needs - 1_800, `${before} of ${needs} seconds before`);
  assert.ok(texts.some((text) => text === 'the claim of leg b is left to a batch for now'));
});

timed('no longer than it was told to, and not where there are no batches', async () => {
  for (const [leaveToBatchMs, hasBatches] of [
    [1, true],
    [0, true],
    [Infinity, false],
  ] as const) {
    const { before, needs } = await claimedBefore(leaveToBatchMs, hasBatches);
    assert.ok(before > needs, `${before} of ${needs} seconds before`);
  }
});
