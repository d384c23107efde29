// Devices that are lost in the middle of a swap, at any moment, on paper chains. Another
// device goes on with the phrase.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { memoryStore } from '../stores/memory.ts';
import { newHashlock, type Store } from '../stores/store.ts';
import {
  agreedAt,
  alter,
  isOver,
  type PaperScene,
  paperScene,
  run,
} from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import { phraseKeys } from './derive.ts';
import { writeRescue } from './file.ts';
import { newPhrase } from './phrase.ts';
import { type FromMarket, type Restored, restoreFromFile, restoreFromMarket } from './restore.ts';
import { type PhraseStore, storeWith } from './store.ts';

const keys = await phraseKeys(newPhrase(), 'dev');
const device = (now: PhraseStore['now'], inner: Store = memoryStore()) =>
  storeWith(keys, inner, now);

/** A device, and the secret of its next swap where it is the initiator. */
async function firstDevice(now: PhraseStore['now']) {
  const store = device(now);
  const hashlock = await newHashlock(store);
  return { store, secret: (await store.getSecret(hashlock)) ?? '' };
}

type Side = Pick<PaperScene, 'market' | 'input'>;

function fromMarket({ market, input }: Side, party: 'maker' | 'taker'): FromMarket {
  const { base, quote, takerId, makerId, refundTo, payTo } = market.trade(party);
  return {
    client: market.client(party),
    userId: party === 'taker' ? takerId : makerId,
    assets: [base, quote],
    chains: input.chains,
    isOwn: (_, { address }) => address === refundTo.address || address === payTo.address,
    confirm: ({ trade }) => trade.quoteAmount === market.trade(party).quoteAmount,
  };
}

/** The first device goes on until then, and is gone with all that it kept. */
async function lostAt(scene: PaperScene, store: PhraseStore, wall: number): Promise<PhraseStore> {
  await run(scene, { store }, () => scene.wall >= wall);
  return device(() => scene.wall);
}

timed('lost at any moment, with phrase and market or file: never with neither leg', async () => {
  const moments = fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 3 });
  const how = fc.record({ party: fc.constantFrom('maker', 'taker'), isByFile: fc.boolean() });
  const property = fc.asyncProperty(moments, how, async (lost, { party, isByFile }) => {
    const { store: first, secret } = await firstDevice(() => agreedAt);
    const scene = await paperScene(party, { secret, stepSeconds: 300 });
    const { swapId, chains } = scene.input;
    let store = party === 'taker' ? first : device(() => scene.wall);
    for (const moment of lost.toSorted((a, b) => a - b)) {
      if (isOver(scene)) break;
      const next = await lostAt(scene, store, agreedAt + moment);
      // The file is still empty, and neither leg is funded.
      if (isByFile && (await store.getSwap(swapId)) === null) return;
      const restored = isByFile
        ? await restoreFromFile(next, await writeRescue(store, chains), { chains })
        : (await restoreFromMarket(next, fromMarket(scene, party))).swaps;
      if (restored.length === 0) break;
      assert.equal(restored[0]?.outcome, 'restored', restored[0]?.why);
      store = next;
    }
    await run(scene, { store, ...(isByFile && { client: null }) }, () => isOver(scene));
    const { gives, gets } = scene;
    const own = scene.endOf(gives);
    const paid = scene.endOf(gets);
    if (own === 'claimed') assert.equal(paid, 'claimed', `lost at ${lost}`);
    const isIn = scene.chains[gives].mined.length > 0;
    if (isIn) assert.ok(own !== null, `lost at ${lost}: its leg is left`);
  });
  await fc.assert(property, { numRuns: 25 });
});

timed("the market's list is kept only with pins, addresses and a yes of the person", async () => {
  const { store: first, secret } = await firstDevice(() => agreedAt);
  const scene = await paperScene('taker', { secret });
  const { swapId } = scene.input;
  await run(scene, { store: first }, () => scene.chains.b.mined.length > 0);
  const outcomeOf = async (how: Partial<FromMarket>): Promise<Restored | undefined> => {
    const next = device(() => scene.wall);
    const { swaps } = await restoreFromMarket(next, { ...fromMarket(scene, 'taker'), ...how });
    const isKept = (await next.getSwap(swapId)) !== null;
    assert.equal(isKept, swaps[0]?.outcome === 'restored');
    return swaps[0];
  };
  const restored = { swapId, outcome: 'restored', secret: 'found', bitcoinKey: null };
  const { why: _, ...told } = (await outcomeOf({})) ?? {};
  assert.deepEqual(told, restored);
  for (const [how, outcome, why] of [
    [{ confirm: () => false }, 'declined', /declined/],
    [{ isOwn: () => false }, 'refused', /legs.b.refundAddress must be an address of yours/],
    [{ assets: [] }, 'refused', /one of your pinned assets/],
    [{ chains: {} }, 'refused', /no source for .* among your chains \(none\)/],
  ] as const) {
    const no = await outcomeOf(how);
    assert.equal(no?.outcome, outcome);
    assert.match(no?.why ?? '', why);
  }
  scene.market.lie((swap) => ({
    ...swap,
    legs: { ...swap.legs, a: { ...swap.legs.a, amount: '1' } },
  }));
  assert.match((await outcomeOf({}))?.why ?? '', /legs.a.amount must be .*; the market says 1/);
  scene.market.lie((swap) => ({ ...swap, hashlock: '11'.repeat(32) }));
  assert.equal((await outcomeOf({}))?.outcome, 'refused');
  scene.market.lie((swap) => ({ ...swap, status: 'refunded' }));
  assert.equal((await outcomeOf({}))?.outcome, 'over');
  scene.market.lie((swap) => ({
    ...swap,
    status: 'expired',
    legs: { ...swap.legs, b: { ...swap.legs.b, status: 'unfunded', balance: '9900' } },
  }));
  assert.equal((await outcomeOf({}))?.outcome, 'restored');
  scene.market.lie((swap) => ({ ...swap, status: 'refunded' }));
  const kept = await restoreFromMarket(first, fromMarket(scene, 'taker'));
  assert.equal(kept.swaps[0]?.outcome, 'over');
});

timed('a record of another escrow is not called the same swap', async () => {
  const { store: first, secret } = await firstDevice(() => agreedAt);
  const scene = await paperScene('taker', { secret });
  await run(scene, { store: first }, () => scene.chains.b.mined.length > 0);
  const again = async () => {
    const { swaps } = await restoreFromMarket(first, fromMarket(scene, 'taker'));
    return [swaps[0]?.outcome, swaps[0]?.why] as const;
  };
  assert.deepEqual(await again(), ['kept', 'the store has its record']);
  const record = await first.getSwap(scene.input.swapId);
  assert.ok(record?.swap.legs.b.escrow);
  const { legs } = record.swap;
  const escrow = { ...record.swap.legs.b.escrow, address: 'the former' };
  const swap = { ...record.swap, legs: { ...legs, b: { ...legs.b, escrow } } };
  await first.putSwap({ ...record, swap });
  const [outcome, why] = await again();
  assert.equal(outcome, 'refused');
  assert.match(why ?? '', /^leg b has moved: the store watches the former, and this names .+: an/);
});

timed('a restored swap is never funded here, and is watched until its own timelock', async () => {
  const { secret } = await firstDevice(() => agreedAt);
  const scene = await paperScene('taker', { secret, stepSeconds: 600 });
  const next = device(() => scene.wall);
  await restoreFromMarket(next, fromMarket(scene, 'taker'));
  assert.equal((await run(scene, { store: next }))?.end, 'nothing');
  assert.equal(scene.chains.b.mined.length, 0);
  assert.ok(scene.wall > scene.timelock('b'), `left ${scene.timelock('b') - scene.wall} s before`);
});

timed('a restored swap is watched on, whatever a node or wallet answers for a while', async () => {
  const { store: first, secret } = await firstDevice(() => agreedAt);
  const scene = await paperScene('taker', { secret });
  await run(scene, { store: first }, () => scene.chains.a.mined.length > 0);
  const next = device(() => scene.wall);
  await restoreFromMarket(next, fromMarket(scene, 'taker'));
  let odd = 0;
  alter(scene, 'a', ({ preflight }) => ({
    preflight: async (...about: Parameters<typeof preflight>) => {
      odd += 1;
      if (odd < 4) throw new Error('an answer that nobody understands');
      return preflight(...about);
    },
  }));
  assert.equal((await run(scene, { store: next }))?.end, 'received');
  assert.equal(odd >= 4, true);
});
