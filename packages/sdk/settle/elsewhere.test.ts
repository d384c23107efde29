// Another device of the account gives the swap up, as an honest market tells it. On paper chains.

import assert from 'node:assert/strict';
import { ParleyApiError } from '../errors.ts';
import {
  aboutToReveal,
  isOver,
  type PaperScene,
  paperScene,
  recordOf,
  run,
  says,
  sent,
} from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';

/** With a market that tells this side's word from `give` on. */
function given(scene: PaperScene, at: number | null = null) {
  let isGiven = false;
  const release = { askedAt: scene.wall, at, signature: at === null ? null : '0x01' };
  scene.market.lie((swap) =>
    isGiven ? { ...swap, legs: { ...swap.legs, a: { ...swap.legs.a, release } } } : swap,
  );
  const give = () => {
    isGiven = true;
  };
  return give;
}

timed('what another device gave up is told by this one no more, a moment before too', async () => {
  for (const at of [null, 1]) {
    const scene = await aboutToReveal();
    const give = given(scene, at);
    scene.stepSeconds = 300;
    await run(scene, { onProgress: ({ state }) => void (state === 'revealing' && give()) }, () =>
      isOver(scene),
    );
    const { givenUp, publicSecret } = await recordOf(scene);
    assert.deepEqual([sent(scene, 'a', 'claim').length, publicSecret], [0, null]);
    assert.equal(givenUp?.told, at === null ? 'wish' : 'release');
    assert.equal(givenUp.byPerson, false);
    assert.equal(givenUp.signature, undefined, 'released by itself with its own leg open');
    assert.equal(scene.endOf('b'), 'refunded');
  }
});

timed(
  'what another device gave up is not funded, and heard where nothing is to be told',
  async () => {
    const unfunded = await paperScene('taker');
    given(unfunded)();
    await run(unfunded, {}, () => isOver(unfunded));
    assert.equal(sent(unfunded, 'b', 'fund').length, 0);
    const late = await aboutToReveal();
    late.wall = (await recordOf(late)).swap.deadlines.revealBy + 1;
    given(late)();
    await run(late, {}, () => isOver(late));
    assert.equal((await recordOf(late)).givenUp?.told, 'wish');
  },
);

timed('a market that is gone holds up no claim', async () => {
  const scene = await aboutToReveal();
  await run(
    scene,
    { onProgress: ({ state }) => void (state === 'revealing' && scene.market.die()) },
    () => sent(scene, 'a', 'claim').length > 0,
  );
  assert.ok(!says(scene, 'given up'));
});

timed('a market that refuses to tell is not one that is gone', async () => {
  for (const status of [401, 429]) {
    const scene = await aboutToReveal();
    scene.stepSeconds = 300;
    const swap = async () => {
      throw new ParleyApiError({ status, code: 'refused', message: 'not now' });
    };
    const client = { ...scene.input.client, swap } as typeof scene.input.client;
    await run(scene, { client }, () => isOver(scene));
    assert.equal(sent(scene, 'a', 'claim').length, 0, `${status}`);
    assert.equal(scene.endOf('b'), 'refunded');
  }
});
