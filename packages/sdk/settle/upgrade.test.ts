// An upgrade of the SDK, or of the customer's policies, in the middle of a swap: the times that
// were kept follow from nothing of today's (verify-kept.test.ts). On paper chains.

import assert from 'node:assert/strict';
import type { SettleInput } from '../settle.ts';
import {
  isOver,
  leftAlone,
  type PaperScene,
  paperScene,
  run,
  says,
  sent,
  untilMined,
} from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';

const lies = ({ emitted }: PaperScene) => emitted.filter(({ step }) => step === 'market_lied');

/** The side after the upgrade: other policies, so the formula comes to other times. */
function upgraded({ input }: PaperScene): Partial<SettleInput> {
  const chains = Object.entries(input.chains).map(([chain, { source, ...rest }]) => {
    const { policy } = source.view;
    const view = { ...source.view, policy: { ...policy, signSeconds: policy.signSeconds + 900 } };
    return [chain, { ...rest, source: { ...source, view } }] as const;
  });
  return { chains: Object.fromEntries(chains), marketPollMs: 0 };
}

for (const [party, end] of [
  ['maker', 'received'],
  ['taker', 'refunded'],
] as const) {
  timed(`the ${party} that has funded goes on after an upgrade, and is ${end}`, async () => {
    const scene = await (end === 'refunded' ? leftAlone(party, 60) : paperScene(party));
    await untilMined(scene, scene.gives);
    if (end === 'refunded') scene.stepSeconds = 1_200;
    assert.equal((await run(scene, upgraded(scene), () => isOver(scene)))?.end, end);
    assert.deepEqual(lies(scene), []);
  });
}

timed('a side that has not funded does not after an upgrade, and says so', async () => {
  const scene = await paperScene('maker');
  await untilMined(scene, 'b');
  await assert.rejects(run(scene, upgraded(scene)), {
    code: 'terms_outdated',
    message: /is not funded/,
  });
  assert.deepEqual([sent(scene, 'a', 'fund'), lies(scene)], [[], []]);
  // Under the policies that it was agreed under it goes on.
  assert.equal((await run(scene))?.end, 'received');
});

timed('a funding that died is not made anew after an upgrade, and is watched', async () => {
  const scene = await paperScene('maker');
  const { a } = scene.chains;
  await run(scene, {}, () => {
    // No block takes it.
    if (a.pool.size > 0) a.leastFee = 10n ** 9n;
    return a.pool.size > 0;
  });
  const [funding] = a.pool.values();
  assert.ok(funding);
  // Another transaction has its nonce.
  a.pool.clear();
  a.mined.push({ ...funding, txid: '0xother', height: a.height, ok: false });
  scene.stepSeconds = 600;
  const goesOn = () => says(scene, 'is not funded') && !/is not funded/.test(lastOf(scene));
  assert.equal(await run(scene, upgraded(scene), () => goesOn() || isOver(scene)), null);
  assert.ok(says(scene, 'is not funded'));
  assert.deepEqual([a.pool.size, a.mined.length], [0, 1]);
});

const lastOf = ({ emitted }: PaperScene) => emitted.at(-1)?.text ?? '';
