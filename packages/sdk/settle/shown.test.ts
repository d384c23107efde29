// A screen's view of both legs when a state is emitted, and when its request is done: paper chains,
// drawn at every change.

import assert from 'node:assert/strict';
import { legStatus } from '@parley/core/facts.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import type { Progress } from '../settle.ts';
import { type PaperScene, paperScene, run } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';

/** The last view of `leg` each time that `state` was emitted. */
async function shownAt(scene: PaperScene, state: Progress['state'], leg: LegName) {
  let last: string | null = null;
  const seen: (string | null)[] = [];
  const { end } =
    (await run(scene, {
      onShown: ({ legs }) => {
        const found = legs.get(leg);
        last = found === undefined ? null : legStatus(found.leg.facts);
      },
      onProgress: (each) => {
        if (each.step === 'state' && each.state === state) seen.push(last);
      },
    })) ?? {};
  return { end, seen };
}

for (const party of ['taker', 'maker'] satisfies Party[]) {
  timed(`the ${party}'s end is told once the claim that makes it is shown`, async () => {
    const scene = await paperScene(party);
    const { end, seen } = await shownAt(scene, 'settled', scene.gets);
    assert.deepEqual([end, seen], ['received', ['claimed']]);
  });
}

timed('a pause that is ended leads to a poll at once', async () => {
  const scene = await paperScene('taker');
  const hour = 3_600_000;
  const paused: number[] = [];
  const pause = async (ms: number) => void paused.push(ms);
  const { end } = (await run(scene, { pollMs: hour, pause })) ?? {};
  assert.equal(end, 'received');
  assert.ok(paused.length > 0 && paused.every((ms) => ms === hour));
});
