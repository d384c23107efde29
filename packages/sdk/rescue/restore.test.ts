// Devices that are lost in the middle of a swap: on paper chains at any moment, and on dev chains
// with Bitcoin. Another device with the phrase goes on.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import fc from 'fast-check';
import { settle } from '../settle.ts';
import { memoryStore } from '../stores/memory.ts';
import { newHashlock, type Store } from '../stores/store.ts';
import { type FourChains, fourChains } from '../testing/four-chains.ts';
import { withChain } from '../testing/honest.ts';
import {
  agreedAt,
  alter,
  isOver,
  type PaperScene,
  paperScene,
  run,
} from '../testing/paper-scene.ts';
import { isFunded, running, sideOf, stopAll, until } from '../testing/sides.ts';
import { timed } from '../testing/timed.ts';
import { bitcoinWallet } from '../wallets/bitcoin.ts';
import { coreCoins } from '../wallets/coins.ts';
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
      // The file has no swap yet, and no leg is funded.
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

let chains: FourChains;
before(async () => {
  chains = await fourChains();
});
after(async () => {
  stopAll();
  await chains?.stop();
});

/** The taker gives Bitcoin of the phrase's own key, and is stopped where it has funded. */
async function funded() {
  const { now, place, dev } = chains;
  const { store, secret } = await firstDevice(now);
  const walletBy = (index: number) =>
    bitcoinWallet({
      privateKey: keys.bitcoinKey(index).privateKey,
      network: 'regtest',
      source: coreCoins(place.bitcoin.rpcUrl),
    });
  const bitcoin = walletBy(0);
  const { chain } = place.bitcoin;
  await dev.faucet({ chain, address: bitcoin.address, amount: 5_000_000n });
  const scene = chains.swap({ a: 'EVM dollar', b: 'BTC' }, { secret, bitcoin });
  const taker = { ...scene.input('taker'), store };
  /** All that another device has: the phrase, nodes, and the person's other wallets. */
  const another = (next: PhraseStore, [restored]: readonly Restored[]) => {
    assert.deepEqual(
      [restored?.outcome, restored?.secret, restored?.bitcoinKey],
      ['restored', 'found', 0],
      restored?.why,
    );
    const { trade: _, ...input } = scene.input('taker');
    const wallet = walletBy(restored?.bitcoinKey ?? -1);
    return { ...input, chains: withChain(input.chains, chain, { wallet }), store: next };
  };
  return { scene, taker, another, side: { market: scene.market, input: taker } };
}

timed('half settled and lost: phrase and market alone go on to the end, with Bitcoin', async () => {
  const { scene, taker, another, side } = await funded();
  const maker = running(await sideOf(scene, 'maker'));
  await until(taker, isFunded);
  await maker.next('funded');
  const next = device(chains.now);
  const { swaps } = await restoreFromMarket(next, fromMarket(side, 'taker'));
  assert.equal((await settle(another(next, swaps))).end, 'received');
  assert.equal((await maker.end).end, 'received');
});

timed(
  'the rescue drill: phrase, file and nodes, with the market gone, claim and refund',
  async () => {
    for (const end of ['received', 'refunded'] as const) {
      const { scene, taker, another } = await funded();
      const maker = end === 'received' ? running(await sideOf(scene, 'maker')) : null;
      await until(taker, isFunded);
      await maker?.next('funded');
      const file = await writeRescue(taker.store, taker.chains);
      scene.market.die();
      const next = device(chains.now);
      const input = another(next, await restoreFromFile(next, file, { chains: taker.chains }));
      if (end === 'refunded') {
        await until(
          { ...input, client: null },
          ({ step, text }) => step === 'seen' && / deep/.test(text),
        );
        const timelock = (await next.getSwap(input.swapId))?.swap.legs.b.timelock ?? 0;
        await chains.move(timelock - chains.now() + 7_200);
      }
      assert.equal((await settle({ ...input, client: null })).end, end);
      if (maker) assert.equal((await maker.end).end, 'received');
    }
  },
);
