// An upgrade of the SDK, or of the customer's policies, in the middle of a swap: the times that
// were kept follow from nothing of today's. On paper chains.

import assert from 'node:assert/strict';
import type { Party } from '../../core/trade.ts';
import type { SettleInput } from '../settle.ts';
import { isOver, type PaperScene, paperScene, run, sent } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import type { Swap } from '../types.ts';

const lies = ({ told }: PaperScene) => told.filter(({ step }) => step === 'market_lied');

/** What the side has after the upgrade: other policies, so the formula comes to other times. */
function upgraded({ input }: PaperScene): Partial<SettleInput> {
  const sources = [...input.sources].map(([chain, source]) => {
    const { policy } = source.view;
    const view = { ...source.view, policy: { ...policy, signSeconds: policy.signSeconds + 900 } };
    return [chain, { ...source, view }] as const;
  });
  return { sources: new Map(sources), marketPollMs: 0 };
}

async function stopped(party: Party, isEnough: (scene: PaperScene) => boolean) {
  const scene = await paperScene(party);
  await run(scene, {}, () => isEnough(scene));
  return scene;
}

for (const party of ['maker', 'taker'] as const) {
  timed(`the ${party} that has funded goes on after an upgrade, to its payment`, async () => {
    const scene = await stopped(party, (each) => each.chains[each.gives].mined.length > 0);
    const outcome = await run(scene, upgraded(scene), () => isOver(scene));
    assert.equal(outcome?.end, 'received');
    assert.deepEqual([scene.endOf('a'), scene.endOf('b')], ['claimed', 'claimed']);
    assert.deepEqual(lies(scene), []);
  });

  timed(`the ${party} that has funded goes on after an upgrade, to its refund`, async () => {
    const scene = await paperScene(party);
    scene.theirsAt = Infinity;
    await run(scene, {}, () => scene.chains[scene.gives].mined.length > 0);
    scene.stepSeconds = 1_200;
    const outcome = await run(scene, upgraded(scene), () => isOver(scene));
    assert.equal(outcome?.end, 'refunded');
    assert.deepEqual(lies(scene), []);
  });

  timed(`the ${party} that has not funded does not after an upgrade, and says so`, async () => {
    const scene = await stopped(party, ({ told, chains }) =>
      party === 'maker' ? chains.b.mined.length > 0 : told.some(({ step }) => step === 'verified'),
    );
    assert.equal(sent(scene, scene.gives, 'fund').length, 0);
    await assert.rejects(
      run(scene, upgraded(scene), () => isOver(scene)),
      { code: 'terms_outdated', message: /is not funded/ },
    );
    assert.equal(sent(scene, scene.gives, 'fund').length, 0);
    assert.deepEqual(lies(scene), []);
    // Under the policies that it was agreed under it goes on.
    await run(scene, {}, () => isOver(scene));
    assert.deepEqual([scene.endOf('a'), scene.endOf('b')], ['claimed', 'claimed']);
  });
}

/** The short leg's timelock, a second later. */
function longer(swap: Swap): Swap {
  const { refundAt } = swap.deadlines;
  const deadlines = { ...swap.deadlines, refundAt: { ...refundAt, a: refundAt.a + 1 } };
  return { ...swap, deadlines };
}

timed('a market that shows other times after an upgrade is told as a liar', async () => {
  const isBegun = ({ chains }: PaperScene) => chains.b.mined.length > 0;
  const taker = await paperScene('taker');
  taker.theirsAt = Infinity;
  await run(taker, {}, () => isBegun(taker));
  taker.market.lie(longer);
  await run(taker, upgraded(taker), () => lies(taker).length > 0 || isOver(taker));
  assert.equal(lies(taker).length, 1);
  const maker = await stopped('maker', isBegun);
  maker.market.lie(longer);
  await assert.rejects(
    run(maker, upgraded(maker), () => isOver(maker)),
    { name: 'VerificationError', field: 'deadlines.refundAt.a' },
  );
});

timed('a funding that died is not made anew after an upgrade, and is watched', async () => {
  const scene = await paperScene('maker');
  const { a } = scene.chains;
  await run(scene, {}, () => {
    // No block takes it.
    if (a.pool.size > 0) a.leastFee = 10n ** 9n;
    return a.pool.size > 0;
  });
  const [sent] = a.pool.values();
  assert.ok(sent);
  // Another transaction has its nonce.
  a.pool.clear();
  a.mined.push({ ...sent, txid: '0xother', height: a.height, ok: false });
  const { told } = scene;
  const since = () => told.findIndex(({ text }) => /is not funded/.test(text));
  const goesOn = () => since() >= 0 && told.length > since() + 1;
  scene.stepSeconds = 600;
  assert.equal(await run(scene, upgraded(scene), () => goesOn() || isOver(scene)), null);
  assert.ok(since() >= 0);
  assert.deepEqual([a.pool.size, a.mined.length], [0, 1]);
});
