// Chains that forget an escrow while `settle` is away, and payments that are taken back after it has
// ended, deeper than their depth. On paper chains, whose pools have forgotten them.

import assert from 'node:assert/strict';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { lookBy } from '../../chains/testing/showing.ts';
import { type EscrowFacts, nothingSeen } from '../../core/facts.ts';
import { type PaperScene, paperScene, run } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';

/** Each escrow is shown as an adapter shows it whose chain tells nothing: by what was stored. */
function forget({ chains }: PaperScene): { remember(): void } {
  const adapters = [chains.a, chains.b].map(({ source }) => source.adapter);
  const asked = adapters.map(({ readEscrow, look }) => ({ readEscrow, look }));
  const readEscrow: ChainAdapter['readEscrow'] = async ({ stored = nothingSeen }) => {
    const facts: EscrowFacts = { ...stored, balance: 0n, empty: true };
    return (stored.claimed ?? stored.refunded)?.deep ? facts : { ...facts, outcome: 'unknown' };
  };
  for (const adapter of adapters) {
    Object.assign(adapter, { readEscrow, look: lookBy({ ...adapter, readEscrow }) });
  }
  return {
    remember: () => {
      for (const [at, adapter] of adapters.entries()) Object.assign(adapter, asked[at]);
    },
  };
}

for (const party of ['maker', 'taker'] as const) {
  for (const end of ['received', 'refunded'] as const) {
    timed(`the ${party} that ${end} knows it by its record when no chain tells`, async () => {
      const scene = await paperScene(party);
      if (end === 'refunded') {
        scene.theirsAt = Infinity;
        scene.stepSeconds = 600;
      }
      const before = await run(scene, {}, () => false);
      assert.equal(before?.end, end);
      forget(scene);
      assert.deepEqual(await run(scene, { client: null }, () => false), before);
    });
  }
}

timed(
  'without anything kept it waits, says which node would tell, and ends once one does',
  async () => {
    const scene = await paperScene('maker');
    const before = await run(scene, {}, () => false);
    const { store, swapId } = scene.input;
    const { seen, ...former } = (await store.getSwap(swapId))!;
    assert.equal(Object.keys(seen ?? {}).length, 2);
    await store.putSwap(former);
    const { remember } = forget(scene);
    let steps = 0;
    scene.told.length = 0;
    assert.equal(await run(scene, {}, () => ++steps > 50), null);
    const waits = scene.told.filter(({ step }) => step === 'waiting').map(({ text }) => text);
    assert.match(waits.join(), /is not known: a later escrow has its lane.* would tell/);
    assert.deepEqual((await store.getSwap(swapId))?.seen ?? {}, {}, 'what is unknown is not kept');
    remember();
    assert.deepEqual(await run(scene, {}, () => false), before);
  },
);

timed('a store that takes nothing of what is seen stops nothing', async () => {
  const scene = await paperScene('taker');
  const { store } = scene.input;
  const full = {
    ...store,
    putSwap: async (record: Parameters<typeof store.putSwap>[0]) => {
      const { seen = {} } = (await store.getSwap(record.swap.id)) ?? {};
      // A disk that fills up with this alone.
      const grows = Object.keys(record.seen ?? {}).length > Object.keys(seen).length;
      if (grows && record.publicSecret === null) throw new Error('no space left');
      await store.putSwap(record);
    },
  };
  const outcome = await run(scene, { store: full }, () => false);
  assert.equal(outcome?.end, 'received');
  assert.ok(
    scene.told.some(({ text }) => /^what the chains show is not kept: no space/.test(text)),
  );
});

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
