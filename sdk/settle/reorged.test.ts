// A payment that is taken back after `settle` has ended: deeper than the depth that the leg wants.
// On paper chains, whose pools have forgotten it.

import assert from 'node:assert/strict';
import { type PaperScene, paperScene, run } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';

/** What waits is not raised meanwhile. */
const patient = { replaceAfterMs: 60_000 };

/** Takes back the blocks since the claim or refund of this leg; returns its id. */
function takeBack({ chains }: PaperScene, leg: 'a' | 'b'): string {
  const { mined, pool } = chains[leg];
  const at = mined.findIndex(({ call }) => call.verb !== 'fund');
  const [taken] = mined.splice(at);
  assert.ok(taken);
  pool.clear();
  return taken.txid;
}

for (const party of ['maker', 'taker'] as const) {
  for (const how of ['with the market', 'alone'] as const) {
    timed(
      `the ${party}'s claim that was taken back after the end is sent again, ${how}`,
      async () => {
        const scene = await paperScene(party);
        const { gets, input } = scene;
        assert.equal((await run(scene, {}, () => false))?.end, 'received');
        const claim = takeBack(scene, gets);
        assert.equal(scene.endOf(gets), null);
        const client = how === 'alone' ? null : input.client;
        const outcome = await run(scene, { ...patient, client }, () => false);
        assert.equal(outcome?.end, 'received');
        assert.equal(outcome.txids[gets].claim, claim, 'the same bytes');
        const [last] = scene.chains[gets].mined.slice(-1);
        assert.ok(last && scene.chains[gets].height > last.height, 'waited for its depth');
      },
    );
  }

  timed(`the ${party}'s refund that was taken back after the end is sent again`, async () => {
    const scene = await paperScene(party);
    scene.theirsAt = Infinity;
    scene.stepSeconds = 600;
    assert.equal((await run(scene, {}, () => false))?.end, 'refunded');
    const refund = takeBack(scene, scene.gives);
    const outcome = await run(scene, patient, () => false);
    assert.equal(outcome?.end, 'refunded');
    assert.equal(outcome.txids[scene.gives].refund, refund, 'the same bytes');
  });
}

timed('a payment whose funding was taken back too is waited for until its timelock', async () => {
  for (const comesBack of [true, false]) {
    const scene = await paperScene('maker');
    assert.equal((await run(scene, {}, () => false))?.end, 'received');
    const { b } = scene.chains;
    const [funding] = b.mined.splice(0);
    assert.ok(funding);
    b.pool.clear();
    // The other side sends another funding, if its own node takes it.
    if (!comesBack) Object.assign(b.others.adapter, { broadcast: async () => '' });
    scene.stepSeconds = 600;
    const outcome = await run(scene, patient, () => scene.wall > scene.timelock('b') + 86_400);
    assert.equal(outcome?.end, comesBack ? 'received' : 'nothing');
    assert.equal(scene.wall > scene.timelock('b'), !comesBack);
  }
});
