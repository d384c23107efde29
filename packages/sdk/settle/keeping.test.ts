// A store that is slow or silent before the secret is public, and before a refund.

import assert from 'node:assert/strict';
import { evmDeployment, refundCall, releaseText } from '@parley/chains/evm/plan.ts';
import type { SpendInput } from '@parley/chains/interface/building.ts';
import { walletIn } from '../chains.ts';
import type { ParleyClient } from '../client.ts';
import { ParleyApiError } from '../errors.ts';
import type { SettleInput } from '../settle.ts';
import { memoryStore } from '../stores/memory.ts';
import type { Store, SwapRecord } from '../stores/store.ts';
import { keptRecord, swapId, withChain } from '../testing/honest.ts';
import {
  aboutToReveal,
  alter,
  isOver,
  leftAlone,
  type PaperScene,
  paperScene,
  recordOf,
  run,
  sent,
  untilMined,
} from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import type { EvmWallet } from '../wallets/wallet.ts';
import { keptStore, StoreSilent } from './keeping.ts';

const hangs = () => new Promise<never>(() => {});
const isLast = (scene: PaperScene) => () => scene.wall > scene.timelock('b') + 7_200;

/** Past the last moment to reveal, and before the timelock. */
const tooLate = (scene: PaperScene) => scene.timelock('a') - 1_800;
const tellings = (scene: PaperScene) =>
  scene.emitted.filter(({ step }) => step === 'store').map(({ text }) => text);

async function refundsUnshown(scene: PaperScene): Promise<void> {
  await run(scene, {}, isLast(scene));
  const shown = [...sent(scene, 'a', 'claim'), ...sent(scene, 'b', 'claim')];
  assert.deepEqual([shown, scene.endOf('b')], [[], 'refunded']);
}

timed('a write that took too long tells no secret, nor does a restart after it', async () => {
  const scene = await aboutToReveal();
  const { store } = scene.input;
  let isSlow = true;
  const slow: Store = {
    ...store,
    putSwap: async (record) => {
      if (record.publicSecret !== null && isSlow) scene.wall = tooLate(scene);
      await store.putSwap(record);
      if (record.publicSecret !== null) isSlow = false;
    },
  };
  await run(scene, { store: slow }, () => !isSlow && scene.wall > tooLate(scene) + 120);
  const { claim, publicSecret } = await recordOf(scene);
  assert.deepEqual([claim, publicSecret], [null, null]);
  await refundsUnshown(scene);
});

/** From the first write of the reveal, or from that of the secret, on. */
for (const from of ['the first', 'the last'] as const) {
  /** It hangs until `release`. */
  function hanging({ input: { store } }: PaperScene) {
    const held: (() => void)[] = [];
    let isBegun = false;
    let isOver = false;
    const own: Store = {
      ...store,
      getSecret: async (hashlock) => {
        isBegun = true;
        return store.getSecret(hashlock);
      },
      putSwap: async (record) => {
        const isHeld = isBegun && (from === 'the first' || record.publicSecret !== null);
        if (isHeld && !isOver) await new Promise<void>((resolve) => held.push(resolve));
        return store.putSwap(record);
      },
    };
    const release = () => {
      isOver = true;
      for (const each of held.splice(0)) each();
    };
    return { store: own, isHeld: () => held.length > 0, release };
  }

  timed(`a store that hangs in ${from} write of a reveal stops no poll, and is told`, async () => {
    const scene = await aboutToReveal();
    const { store, isHeld, release } = hanging(scene);
    let polls = 0;
    scene.onStep = () => {
      if (isHeld()) polls += 1;
    };
    await run(scene, { store }, () => polls === 9);
    assert.deepEqual(sent(scene, 'a', 'claim'), []);
    assert.ok(tellings(scene)[0]?.startsWith('the store is silent: no answer within'));
    // The hung write ends at last, by a process that has gone.
    release();
    await new Promise(setImmediate);
    scene.wall = tooLate(scene);
    assert.equal((await recordOf(scene)).publicSecret === null, from === 'the first');
    // Killed in the last one it has to take the claim for sent: its absence is not known.
    if (from === 'the first') await refundsUnshown(scene);
  });
}

timed('a first refund waits for no store that hangs or cannot be read, and says so', async () => {
  for (const fails of [hangs, () => Promise.reject(new Error('EIO: i/o error, read'))]) {
    const scene = await leftAlone('taker');
    const { store } = scene.input;
    const works = () => scene.wall <= scene.timelock('b') - 3_600;
    const broken: Store = {
      ...store,
      getSwap: (id) => (works() ? store.getSwap(id) : fails()),
      swapIds: (since) => (works() ? store.swapIds(since) : fails()),
    };
    await run(scene, { store: broken }, isLast(scene));
    assert.equal(scene.endOf('b'), 'refunded');
    const said = 'nonces are chosen without what the store keeps';
    assert.ok(
      tellings(scene).some((each) => each.startsWith(said)),
      tellings(scene).join(),
    );
  }
});

timed('a store that is silent at the start is asked again', async () => {
  const scene = await paperScene('maker');
  const { store } = scene.input;
  let asked = 0;
  const late: Store = {
    ...store,
    getSwap: async (id) => {
      asked += 1;
      if (asked === 1) await new Promise((resolve) => setTimeout(resolve, 50));
      return store.getSwap(id);
    },
  };
  await run(scene, { store: late }, () => scene.endOf('b') !== null);
  assert.equal(scene.endOf('b'), 'claimed');
  assert.equal(tellings(scene).at(-1), 'the store answers again');
});

/** The calls that let the word leave, each with the word as it was kept by then. */
async function leaving(scene: PaperScene, more: Pick<SettleInput, 'givesUp'>) {
  const { chains, client } = scene.input;
  const { key, chainId } = scene.chains[scene.gets];
  const noted: unknown[] = [];
  const note = async (to: string) => {
    const { byPerson, signature } = (await recordOf(scene)).givenUp ?? {};
    noted.push([to, byPerson, signature]);
    return '0x01';
  };
  const buildRelease = async ({ escrow: { address, terms } }: SpendInput) => {
    const typedData = releaseText(terms, evmDeployment(chainId));
    return { chain: key, family: 'evm', sign: 'typed-data', typedData, escrow: address };
  };
  alter(scene, scene.gets, () => ({ consent: { buildRelease } }));
  const wallet = { ...walletIn(chains, key), signTypedData: () => note('wallet') };
  const giving = {
    ...more,
    chains: withChain(chains, key, { wallet }),
    client: { ...client, release: () => note('market') } as unknown as ParleyClient,
  };
  await run(scene, giving, () => noted.length === 3 || isOver(scene));
  return noted;
}

timed('the word to give up is kept before the wallet and the market have it', async () => {
  const wished = await leaving(await aboutToReveal(), { givesUp: () => true });
  assert.deepEqual(wished, [
    ['market', true, undefined],
    ['wallet', true, undefined],
    ['market', true, '0x01'],
  ]);
  const late = await paperScene('maker', { theirsAt: Infinity });
  await untilMined(late, 'b');
  late.wall = (await recordOf(late)).swap.deadlines.counterpartyFundBy;
  late.stepSeconds = 600;
  assert.deepEqual(await leaving(late, {}), [
    ['wallet', false, undefined],
    ['market', false, '0x01'],
  ]);
});

timed(
  'a release that is sent is signed once the market has the word, and not if it refuses',
  async () => {
    for (const isRefused of [false, true]) {
      const scene = await aboutToReveal();
      const { chains, client } = scene.input;
      const { key, chainId } = scene.chains.a;
      const noted: string[] = [];
      // A transaction releases it, as on Solana.
      const buildRelease = async ({ escrow: { address, terms } }: SpendInput) => {
        const txs = [refundCall(terms, evmDeployment(chainId))];
        return { chain: key, family: 'evm', sign: 'evm-tx', chainId, txs, escrow: address };
      };
      alter(scene, 'a', () => ({ consent: { buildRelease } }));
      const wallet = walletIn(chains, key) as EvmWallet;
      const sign: EvmWallet['sign'] = async (...asked) => {
        noted.push('wallet');
        return wallet.sign(...asked);
      };
      const release = async () => {
        noted.push('market');
        if (!isRefused) return;
        throw new ParleyApiError({ status: 409, code: 'not_releasable', message: 'it was shown' });
      };
      const giving = {
        givesUp: () => true,
        chains: withChain(chains, key, { wallet: { ...wallet, sign } }),
        client: { ...client, release } as unknown as ParleyClient,
      };
      await run(scene, giving, () => noted.length === 2 || isOver(scene));
      assert.deepEqual(noted, isRefused ? ['market', 'market'] : ['market', 'wallet']);
    }
  },
);

timed('what a disk did not take is not written over a newer record that it took', async () => {
  const disk = memoryStore();
  let isFull = true;
  const putSwap = async (record: SwapRecord) => {
    if (isFull) throw new Error('full');
    return disk.putSwap(record);
  };
  const store = { ...disk, putSwap };
  const kept = keptStore({ store, swapId, limitMs: 20, signal: undefined, emit: () => {} });
  const before = keptRecord('taker');
  const refunding = { ...before, refund: { txid: 'aa', raw: '', keptAtMs: 1 } };
  await kept.putSwap(before).catch(() => {});
  isFull = false;
  await kept.putSwap(before);
  isFull = true;
  await kept.putSwap(refunding);
  isFull = false;
  const givenUp = { keptAtMs: 1, byPerson: true };
  await kept.putSwap({ ...refunding, givenUp });
  await kept.writeAgain();
  assert.deepEqual((await disk.getSwap(swapId))?.givenUp, givenUp);
});

timed('an unsent claim is written over, at once or when the store answers', async () => {
  const before = keptRecord('taker');
  const telling: SwapRecord = { ...before, publicSecret: '07'.repeat(32) };
  const disk = memoryStore();
  const secretOnDisk = async () => (await disk.getSwap(swapId))?.publicSecret;
  let holds: Promise<void> | null = null;
  const store: Store = {
    ...disk,
    putSwap: async (record) => {
      if (record.publicSecret !== null) await holds;
      return disk.putSwap(record);
    },
  };
  const kept = keptStore({ store, swapId, limitMs: 20, signal: undefined, emit: () => {} });
  const refuses = async () => Promise.reject(new Error('too late'));
  await assert.rejects(kept.putTelling(telling, before, refuses), /too late/);
  assert.equal(await secretOnDisk(), null);
  const { promise, resolve } = Promise.withResolvers<void>();
  holds = promise;
  await assert.rejects(
    kept.putTelling(telling, before, async () => assert.fail('asked')),
    StoreSilent,
  );
  resolve();
  await new Promise((done) => setTimeout(done, 5));
  assert.equal(await secretOnDisk(), telling.publicSecret);
  assert.deepEqual(await kept.getSwap(swapId), before);
  await kept.writeAgain();
  assert.equal(await secretOnDisk(), null);
});
