// Chains that forget an escrow while `settle` is away, and payments that are taken back after it
// has ended, below the depth that it waited for. On paper chains, whose pools have forgotten them.

import assert from 'node:assert/strict';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { lookBy } from '@parley/chains/testing/showing.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import {
  alter,
  leftAlone,
  type PaperScene,
  paperScene,
  recordOf,
  run,
  says,
} from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';

/** Each escrow is shown as an adapter shows it whose chain tells nothing: by what was stored. */
function forget(scene: PaperScene): { remember(): void } {
  const readEscrow: ChainAdapter['readEscrow'] = async ({ stored = nothingSeen }) => {
    const facts: EscrowFacts = { ...stored, balance: 0n, empty: true };
    return (stored.claimed ?? stored.refunded)?.deep ? facts : { ...facts, outcome: 'unknown' };
  };
  const undo = (['a', 'b'] as const).map((leg) => {
    const { readEscrow: was, look } = scene.chains[leg].source.adapter;
    alter(scene, leg, (own) => ({ readEscrow, look: lookBy({ ...own, readEscrow }) }));
    return () => alter(scene, leg, () => ({ readEscrow: was, look }));
  });
  return {
    remember: () => {
      for (const each of undo) each();
    },
  };
}

for (const [party, end] of [
  ['maker', 'received'],
  ['taker', 'refunded'],
] as const) {
  timed(`the ${party} that ${end} knows it by its record when no chain tells`, async () => {
    const scene = await (end === 'refunded' ? leftAlone(party) : paperScene(party));
    const before = await run(scene);
    assert.equal(before?.end, end);
    forget(scene);
    assert.deepEqual(await run(scene, { client: null }), before);
  });
}

timed('without anything kept it waits, names what would tell, and ends once it does', async () => {
  const scene = await paperScene('maker');
  const before = await run(scene);
  const { store, swapId } = scene.input;
  const { seen, ...former } = await recordOf(scene);
  assert.equal(Object.keys(seen ?? {}).length, 2);
  await store.putSwap(former);
  const { remember } = forget(scene);
  let steps = 0;
  const since = scene.emitted.length;
  assert.equal(await run(scene, {}, () => ++steps > 50), null);
  const waits = scene.emitted.slice(since).filter(({ step }) => step === 'waiting');
  assert.match(
    waits.map(({ text }) => text).join(),
    /is not known: a later escrow has its lane.* would tell/,
  );
  assert.deepEqual((await store.getSwap(swapId))?.seen ?? {}, {}, 'what is unknown is not kept');
  remember();
  assert.deepEqual(await run(scene), before);
});

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
  assert.equal((await run(scene, { store: full }))?.end, 'received');
  assert.ok(says(scene, 'the store did not keep the state of the chains: no space'));
});

for (const [party, verb, how] of [
  ['maker', 'claim', 'with the market'],
  ['taker', 'refund', 'alone'],
] as const) {
  timed(`a ${verb} of the ${party} that is taken back is sent again, ${how}`, async () => {
    const isClaim = verb === 'claim';
    const scene = await (isClaim ? paperScene(party) : leftAlone(party));
    const end = isClaim ? 'received' : 'refunded';
    assert.equal((await run(scene))?.end, end);
    const leg = isClaim ? scene.gets : scene.gives;
    const { mined, pool } = scene.chains[leg];
    const [taken] = mined.splice(mined.findIndex(({ call }) => call.verb !== 'fund'));
    pool.clear();
    assert.equal(scene.endOf(leg), null);
    const client = how === 'alone' ? null : scene.input.client;
    // A waiting transaction is not raised meanwhile.
    const outcome = await run(scene, { replaceAfterMs: 60_000, client });
    assert.equal(outcome?.end, end);
    assert.equal(outcome.txids[leg][verb], taken?.txid, 'the same bytes');
    const last = mined.at(-1);
    assert.ok(last && scene.chains[leg].height > last.height, 'waited for its depth');
  });
}
