// The market tells that another device of the account, or the other side, gives the swap up. On
// paper chains.

import assert from 'node:assert/strict';
import type { SpendInput } from '@parley/chains/interface/building.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { ParleyClient } from '../client.ts';
import { ParleyApiError } from '../errors.ts';
import {
  aboutToReveal,
  alter,
  isOver,
  leftAlone,
  type PaperScene,
  paperScene,
  recordOf,
  run,
  says,
  sent,
  untilMined,
} from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';

/** With a market that tells from `give` on the word about leg `a`: this side's, unless it is `b`. */
function given(scene: PaperScene, at: number | null = null, leg: LegName = 'a') {
  let isGiven = false;
  const release = { askedAt: scene.wall, at, signature: at === null ? null : '0x01' };
  scene.market.lie((swap) =>
    isGiven ? { ...swap, legs: { ...swap.legs, [leg]: { ...swap.legs[leg], release } } } : swap,
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
    assert.equal(givenUp?.byPerson, false);
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
    given(late, 1)();
    await run(late, {}, () => isOver(late));
    assert.equal((await recordOf(late)).givenUp?.told, 'release');
  },
);

timed('a claim is announced before its secret is kept as public, or sent', async () => {
  const scene = await aboutToReveal();
  const { client } = scene.input;
  const before: unknown[] = [];
  const announceClaim = async (...asked: Parameters<ParleyClient['announceClaim']>) => {
    const { publicSecret } = await recordOf(scene);
    before.push([publicSecret, sent(scene, 'a', 'claim').length]);
    return client?.announceClaim(...asked);
  };
  await run(
    scene,
    { client: { ...client, announceClaim } as ParleyClient },
    () => sent(scene, 'a', 'claim').length > 0,
  );
  assert.deepEqual(before, [[null, 0]]);
});

timed('a side that goes on without the market announces its claim to it', async () => {
  const scene = await aboutToReveal();
  const announcer = scene.input.client;
  given(scene)();
  scene.stepSeconds = 300;
  await run(scene, { client: null, announcer }, () => isOver(scene));
  assert.equal(sent(scene, 'a', 'claim').length, 0);
  assert.equal(scene.endOf('b'), 'refunded');
});

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
    const announceClaim = async () => {
      throw new ParleyApiError({ status, code: 'refused', message: 'not now' });
    };
    const client = { ...scene.input.client, announceClaim } as typeof scene.input.client;
    await run(scene, { client }, () => isOver(scene));
    assert.equal(sent(scene, 'a', 'claim').length, 0, `${status}`);
    assert.equal(scene.endOf('b'), 'refunded');
  }
});
timed("the other side's wish stops no initiator with both legs open", async () => {
  const scene = await leftAlone('taker', 10);
  await untilMined(scene, 'b');
  given(scene, null, 'b')();
  const { calls } = scene.market;
  const before = calls.length;
  scene.onStep = () => {
    const isTold = calls.indexOf('taker swap', before) !== -1;
    if (isTold) scene.theirsAt = Math.min(scene.theirsAt, scene.wall + 300);
  };
  await run(scene, {}, () => scene.endOf('a') !== null || isOver(scene));
  assert.deepEqual([scene.endOf('a'), (await recordOf(scene)).givenUp], ['claimed', undefined]);
});

timed('a release that the contract does not take is told, and is not kept', async () => {
  const scene = await leftAlone('taker', 10);
  await untilMined(scene, 'b');
  const checkRelease = async () => {
    throw new ParleyError('bad_signature', 'the payee has not signed it', {});
  };
  alter(scene, 'b', () => ({ consent: { checkRelease } }));
  given(scene, 1, 'b')();
  const isHeard = () => says(scene, 'opens nothing') || says(scene, 'has released');
  await run(scene, {}, () => isHeard() || isOver(scene));
  assert.ok(says(scene, 'a release that opens nothing: the payee has not signed it'));
  assert.equal((await recordOf(scene)).released, undefined);
});

timed(
  "a release is used until the chain's clock is past the timelock, not the device's",
  async () => {
    const scene = await leftAlone('taker', 10);
    await untilMined(scene, 'b');
    const record = await recordOf(scene);
    const released = { escrow: scene.watched.b.address, signature: '0x02' };
    await scene.input.store.putSwap({ ...record, released });
    scene.wall = scene.timelock('b') - 300;
    const used: (string | undefined)[] = [];
    alter(scene, 'b', ({ buildRefund }) => ({
      buildRefund: (input: SpendInput, signal: AbortSignal) => {
        used.push(input.release);
        return buildRefund(input, signal);
      },
    }));
    const now = async () => (await scene.input.now?.()) ?? 0;
    await run(scene, { now: async () => (await now()) + 600 }, () => used.length > 0);
    assert.equal(used[0], '0x02');
  },
);

timed("a restored device releases nothing by the market's word", async () => {
  const scene = await aboutToReveal();
  await scene.input.store.putSwap({ ...(await recordOf(scene)), restored: true });
  given(scene)();
  scene.stepSeconds = 300;
  await run(scene, {}, () => isOver(scene));
  const { givenUp, publicSecret } = await recordOf(scene);
  assert.deepEqual([givenUp?.byPerson, givenUp?.signature, publicSecret], [false, undefined, null]);
});

timed('a word that the market does not take is given again after ever longer pauses', async () => {
  const scene = await paperScene('maker', { theirsAt: Infinity });
  await untilMined(scene, 'a');
  scene.stepSeconds = 1;
  const triedAt: number[] = [];
  const release = async () => {
    triedAt.push(scene.wall);
    throw new ParleyApiError({ status: 503, code: 'unavailable', message: 'not now' });
  };
  const client = { ...scene.input.client, release } as unknown as ParleyClient;
  await run(scene, { client, givesUp: () => true }, () => triedAt.length === 6 || isOver(scene));
  const pauses = triedAt.slice(1).map((at, tries) => at - (triedAt[tries] ?? 0));
  assert.equal(pauses.length, 5);
  for (const [tries, pause] of pauses.entries()) assert.ok(pause >= 2 ** (tries + 1), `${pauses}`);
});
