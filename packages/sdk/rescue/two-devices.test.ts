// Two devices of one person settle one swap, and no lock is between them: the lost one was found
// again, or never lost. On paper chains at any moment, and on dev chains with Bitcoin.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { Party } from '@parley/core/trade.ts';
import fc from 'fast-check';
import { type SettleInput, settle } from '../settle.ts';
import { memoryStore } from '../stores/memory.ts';
import type { Store } from '../stores/store.ts';
import { type FourChains, fourChains } from '../testing/four-chains.ts';
import { withChain } from '../testing/honest.ts';
import { isOver, type PaperScene, paperScene, run, sent } from '../testing/paper-scene.ts';
import { coreOf, isFunded, recordOf, running, sideOf, stopAll, until } from '../testing/sides.ts';
import { timed } from '../testing/timed.ts';
import { bitcoinWallet } from '../wallets/bitcoin.ts';

/** The other device's record of the swap after a rescue, where it is ready to be claimed. */
async function restored(from: SettleInput, secret: string | null): Promise<Store> {
  const store = memoryStore();
  const { trade, swap } = await recordOf(from);
  if (secret !== null) await store.putSecret(hashlockOf(secret), secret);
  await store.putTrade(trade);
  const unsent = { funding: null, claim: null, refund: null, publicSecret: null };
  await store.putSwap({ trade, swap, ...unsent, restored: true });
  return store;
}

const secretOf = (party: Party, secret: string) => (party === 'taker' ? secret : null);

/** Both until the end; null: the swap was over before the second device was there. */
async function both(scene: PaperScene, party: Party, at: number) {
  const there = Promise.withResolvers<void>();
  const over = new AbortController();
  scene.onStep = () => {
    if (scene.wall >= at) there.resolve();
    if (isOver(scene)) over.abort(new Error('it is over'));
  };
  const first = run(scene, {}, () => isOver(scene));
  await Promise.race([there.promise, first]);
  if ((await scene.input.store.getSwap(scene.input.swapId)) === null) return [await first, null];
  const store = await restored(scene.input, secretOf(party, scene.secret));
  scene.isShared = true;
  const { trade: _, ...input } = scene.input;
  const second = settle({ ...input, store, signal: over.signal }).catch((error: unknown) => {
    if (!over.signal.aborted) throw error;
    return null;
  });
  return Promise.all([first, second]);
}

timed('on two devices at once nothing is lost, and nothing is funded twice', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom<Party>('maker', 'taker'),
    // While the first one may be funding, or at any time.
    fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 40_000 })),
    fc.boolean(),
    async (party, at, isLeft) => {
      const moves = { stepSeconds: 300, ...(isLeft && { theirsAt: Infinity }) };
      const scene = await paperScene(party, moves);
      const ends = await both(scene, party, scene.wall + at);
      const { gives, gets } = scene;
      const own = scene.endOf(gives);
      const paid = scene.endOf(gets);
      const what = `${party}, together after ${at} s: ${own}, ${paid}`;
      if (own === 'claimed') assert.equal(paid, 'claimed', what);
      const fundings = sent(scene, gives, 'fund');
      assert.ok(fundings.length <= 1, `${what}: funded ${fundings.length} times`);
      if (fundings.length === 1) assert.ok(own !== null, `${what}: its leg is left`);
      const told = new Set(ends.flatMap((each) => (each === null ? [] : [each.end])));
      assert.ok(told.size <= 1, `${what}: told as ${[...told]}`);
    },
  );
  await fc.assert(property, { numRuns: 10 });
});

let chains: FourChains;
before(async () => {
  chains = await fourChains();
});
after(async () => {
  stopAll();
  await chains?.stop();
});

/** The swap of one side, on two devices whose Bitcoin goes to an address of its own on each. */
async function twoDevices(party: Party, input: SettleInput, secret: string) {
  const core = coreOf(chains);
  const { chain } = chains.place.bitcoin;
  const homes = [await core<string>('getnewaddress'), await core<string>('getnewaddress')];
  const store = await restored(input, secretOf(party, secret));
  const { trade: _, ...kept } = input;
  const devices = [kept, { ...kept, store }].map((each, nth) => {
    const privateKey = chains.keysOf[party].bitcoin;
    const payout = homes[nth];
    const wallet = bitcoinWallet({ privateKey, network: 'regtest', payout });
    return { ...each, chains: withChain(input.chains, chain, { wallet }) };
  });
  const paid = async () => {
    const all = homes.map((each) => core<number>('getreceivedbyaddress', [each]));
    return (await Promise.all(all)).filter((each) => each > 0);
  };
  return { devices, paid };
}

/** No block before both have sent theirs: whichever comes second meets the other in the pool. */
async function bothSend(devices: readonly SettleInput[], step: 'claimed' | 'refunded') {
  const { chain } = chains.place.bitcoin;
  await chains.dev.mining(chain, false);
  try {
    const runs = devices.map((each) => running(each));
    await Promise.all(runs.map((each) => each.next(step)));
    await chains.dev.mining(chain, true);
    return (await Promise.all(runs.map(({ end }) => end))).map(({ end }) => end);
  } finally {
    await chains.dev.mining(chain, true);
  }
}

timed('two devices collect on Bitcoin: one of both claims is mined, and both say so', async () => {
  const scene = chains.swap({ a: 'EVM dollar', b: 'BTC' });
  const taker = running(await sideOf(scene, 'taker'));
  const maker = scene.input('maker');
  await until(maker, isFunded);
  await taker.next('claimed');
  const { devices, paid } = await twoDevices('maker', maker, scene.secret);
  assert.deepEqual(await bothSend(devices, 'claimed'), ['received', 'received']);
  assert.equal((await paid()).length, 1);
  await taker.end;
});

timed(
  'two devices take back on Bitcoin: one of both refunds is mined, and both say so',
  async () => {
    const scene = chains.swap({ a: 'EVM dollar', b: 'BTC' });
    const taker = await sideOf(scene, 'taker');
    await until(taker, ({ step, text }) => step === 'seen' && / deep/.test(text));
    const { swap } = await recordOf(taker);
    await chains.move(swap.legs.b.timelock - chains.now() + 7_200);
    const { devices, paid } = await twoDevices('taker', taker, scene.secret);
    assert.deepEqual(await bothSend(devices, 'refunded'), ['refunded', 'refunded']);
    assert.equal((await paid()).length, 1);
  },
);
