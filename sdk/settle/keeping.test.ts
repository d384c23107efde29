// A store that is slow or silent before the secret is public, and before a refund.

import assert from 'node:assert/strict';
import { memoryStore } from '../stores/memory.ts';
import type { Store, SwapRecord } from '../stores/store.ts';
import { honestSwap, now, swapId, tradeOf, views } from '../testing/honest.ts';
import { type PaperScene, paperScene, run } from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import { verifySwap } from '../verify.ts';
import { keptStore, StoreSilent } from './keeping.ts';

const hangs = () => new Promise<never>(() => {});
const isLast = (scene: PaperScene) => () => scene.wall > scene.timelock('b') + 7_200;

/** Whether any node was shown the secret. */
const isShown = ({ chains: { a, b } }: PaperScene) =>
  [a, b].some(({ mined, pool }) =>
    [...mined, ...pool.values()].some(({ call }) => call.verb === 'claim'),
  );

async function onDisk({ input }: PaperScene): Promise<SwapRecord> {
  const record = await input.store.getSwap(input.swapId);
  assert.ok(record);
  return record;
}

/** The initiator once both legs are funded: what it does next is reveal. */
async function aboutToReveal(): Promise<PaperScene> {
  const scene = await paperScene('taker');
  await run(scene, {}, () => scene.chains.a.mined.length > 0);
  return scene;
}

/** Past the last moment to reveal, and before the timelock. */
const tooLate = (scene: PaperScene) => scene.timelock('a') - 1_800;
const tellings = (scene: PaperScene) =>
  scene.told.filter(({ step }) => step === 'store').map(({ text }) => text);

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
  const { claim, publicSecret } = await onDisk(scene);
  assert.deepEqual([claim, publicSecret], [null, null]);
  await run(scene, {}, isLast(scene));
  assert.deepEqual([isShown(scene), scene.endOf('b')], [false, 'refunded']);
});

timed('what was taken back is sent once the reveal is open again', async () => {
  const scene = await aboutToReveal();
  const { store } = scene.input;
  let tries = 0;
  const { adapter } = scene.chains.a.source;
  const { look } = adapter;
  const slow: Store = {
    ...store,
    putSwap: async (record) => {
      await store.putSwap(record);
      // What is seen of a claim that was sent is kept too.
      const isSent = scene.chains.a.pool.size > 0 || scene.endOf('a') !== null;
      if (record.publicSecret === null || isSent) return;
      tries += 1;
      const { wall } = scene;
      // The clock of this machine jumped, and is set right again.
      if (tries === 1) scene.wall = tooLate(scene);
      Object.assign(adapter, {
        look: (...about: Parameters<typeof look>) => {
          if (tries === 1) scene.wall = wall;
          return look(...about);
        },
      });
    },
  };
  await run(scene, { store: slow }, () => scene.endOf('a') !== null);
  assert.deepEqual([tries, scene.endOf('a')], [2, 'claimed']);
});

/** From the first write of the reveal, or from that of the secret, on. */
for (const from of ['the first', 'the last'] as const) {
  timed(
    `a store that hangs in ${from} write of a reveal stops no look, and is told of`,
    async () => {
      const scene = await aboutToReveal();
      const { store } = scene.input;
      const held: (() => Promise<void>)[] = [];
      let isHanging = false;
      let looks = 0;
      const hanging: Store = {
        ...store,
        getSecret: async (hashlock) => {
          isHanging = true;
          return store.getSecret(hashlock);
        },
        putSwap: (record) => {
          const isHeld = isHanging && (from === 'the first' || record.publicSecret !== null);
          if (!isHeld || looks > 9) return store.putSwap(record);
          return new Promise((resolve, reject) => {
            held.push(() => store.putSwap(record).then(resolve, reject));
          });
        },
      };
      scene.onStep = () => {
        if (held.length > 0) looks += 1;
        if (looks === 10) for (const each of held.splice(0)) void each();
      };
      await run(scene, { store: hanging }, () => looks === 9);
      assert.ok(!isShown(scene));
      assert.ok(tellings(scene)[0]?.startsWith('the store is silent: no answer within'));
      // What hung is written in the end, and nobody looked at it.
      for (const each of held.splice(0)) await each();
      scene.wall = tooLate(scene);
      assert.equal((await onDisk(scene)).publicSecret === null, from === 'the first');
      // Killed in the last one it has to take the claim for sent: nobody knows that it was not.
      if (from === 'the last') return;
      await run(scene, {}, isLast(scene));
      assert.deepEqual([isShown(scene), scene.endOf('b')], [false, 'refunded']);
    },
  );

  timed(`and reveals once the store has answered in ${from} write, or takes it back`, async () => {
    for (const isLate of [false, true]) {
      const scene = await aboutToReveal();
      const { store } = scene.input;
      let isHanging = false;
      let release: (() => void) | null = null;
      let looks = 0;
      const hanging: Store = {
        ...store,
        getSecret: async (hashlock) => {
          isHanging = looks === 0;
          return store.getSecret(hashlock);
        },
        putSwap: async (record) => {
          if (isHanging && (from === 'the first' || record.publicSecret !== null)) {
            await new Promise<void>((resolve) => {
              release = resolve;
            });
          }
          return store.putSwap(record);
        },
      };
      scene.onStep = () => {
        if (release !== null) looks += 1;
        if (looks === 10 && isLate) scene.wall = Math.max(scene.wall, tooLate(scene));
        // What began before its time was over has been given up by then.
        if (looks !== 20) return;
        isHanging = false;
        release?.();
      };
      // Without a market nothing else is written.
      const input = { store: hanging, client: null };
      await run(scene, input, () => scene.endOf('a') !== null || looks > 60);
      assert.equal(scene.endOf('a') === 'claimed', !isLate);
      assert.ok(tellings(scene).length > 0);
      if (!isLate) continue;
      assert.equal((await onDisk(scene)).publicSecret, null);
      await run(scene, {}, isLast(scene));
      assert.deepEqual([isShown(scene), scene.endOf('b')], [false, 'refunded']);
    }
  });
}

for (const [what, fails] of [
  ['hangs', hangs],
  ['cannot be read', () => Promise.reject(new Error('EIO: i/o error, read'))],
] as const) {
  timed(`a first refund waits for no store that ${what}, and that is told`, async () => {
    const scene = await paperScene('taker');
    scene.theirsAt = Infinity;
    const { store } = scene.input;
    let works = true;
    const broken: Store = {
      ...store,
      getSwap: (id) => (works ? store.getSwap(id) : fails()),
      swapIds: (since) => (works ? store.swapIds(since) : fails()),
    };
    scene.stepSeconds = 600;
    scene.onStep = () => {
      if (scene.wall > scene.timelock('b') - 3_600) works = false;
    };
    await run(scene, { store: broken }, isLast(scene));
    assert.equal(scene.endOf('b'), 'refunded');
    const said = 'nonces are chosen without what the store keeps';
    assert.ok(
      tellings(scene).some((each) => each.startsWith(said)),
      tellings(scene).join(),
    );
  });
}

timed('a store that is silent at the start is asked again', async () => {
  const scene = await paperScene('maker');
  const { store } = scene.input;
  let isAsked = false;
  let answer = () => {};
  const late: Store = {
    ...store,
    getSwap: async (id) => {
      if (!isAsked) {
        isAsked = true;
        setTimeout(() => answer(), 50);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
      }
      return store.getSwap(id);
    },
  };
  await run(scene, { store: late }, () => scene.endOf('b') !== null);
  assert.equal(scene.endOf('b'), 'claimed');
  assert.equal(tellings(scene).at(-1), 'the store answers again');
});

timed('what was not sent is written over, at once or when the store answers', async () => {
  const trade = tradeOf('taker');
  const swap = verifySwap(honestSwap('taker'), trade, views, { swapId, now });
  const none = { funding: null, claim: null, refund: null, publicSecret: null };
  const before: SwapRecord = { trade, swap, ...none };
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
