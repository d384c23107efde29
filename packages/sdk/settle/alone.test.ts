// Each leg stands alone once the secret is public: paper chains, and one thing silent at a time.

import assert from 'node:assert/strict';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Store, SwapRecord } from '../stores/store.ts';
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

const emitted = (scene: PaperScene) => scene.emitted.map(({ step, text }) => `${step}: ${text}`);

/** The same store, which does something else with records in which the secret is public. */
function oncePublic(store: Store, instead: (record: SwapRecord) => Promise<void>): Store {
  return {
    ...store,
    putSwap: (record) => (record.publicSecret === null ? store.putSwap(record) : instead(record)),
  };
}

/** Both legs are funded, the secret is public and kept, and the side is stopped. */
async function stoppedOncePublic(party: 'maker' | 'taker'): Promise<PaperScene> {
  const scene = await paperScene(party);
  let isPublic = false;
  const store = oncePublic(scene.input.store, async (record) => {
    isPublic = true;
    await scene.input.store.putSwap(record);
  });
  await run(scene, { store }, () => isPublic);
  scene.stepSeconds = 600;
  return scene;
}

for (const [party, node] of [
  ['maker', 'silent'],
  ['taker', 'gone'],
] as const) {
  timed(`the ${party}'s claim is sent again and raised with the other node ${node}`, async () => {
    const scene = await stoppedOncePublic(party);
    const { gives, gets, chains } = scene;
    chains[gives].node = node;
    // No pool has it any more, and its fee is too low by now.
    chains[gets].pool.clear();
    chains[gets].leastFee = 3n;
    await run(scene, { client: null }, () => isOver(scene));
    assert.deepEqual([scene.endOf('a'), scene.endOf('b')], ['claimed', 'claimed']);
  });
}

for (const [party, node] of [
  ['maker', 'gone'],
  ['taker', 'one that heeds no signal'],
] as const) {
  timed(`the ${party} refunds its leg with the other chain's node ${node}`, async () => {
    const scene = await leftAlone(party, 60);
    const { gives, gets, chains } = scene;
    await untilMined(scene, gives);
    scene.stepSeconds = 1_200;
    if (node === 'gone') chains[gets].node = node;
    else alter(scene, gets, () => ({ look: () => new Promise(() => {}) }));
    // A signal's own timer keeps no process.
    const held = setInterval(() => {}, 1_000);
    await run(scene, { chainTimeoutMs: 50 }, () => isOver(scene));
    clearInterval(held);
    assert.equal(scene.endOf(gives), 'refunded');
  });
}

const full = new Error('ENOSPC: no space left on device');
const refuses = async () => Promise.reject(full);
const hangs = () => new Promise<never>(() => {});
for (const [what, fails, writes] of [
  ['does not answer', hangs, hangs],
  ['cannot be read', refuses, null],
] as const) {
  timed(`a store that ${what} stops no claim with a public secret, and is reported`, async () => {
    const scene = await paperScene('maker');
    const { store } = scene.input;
    let works = true;
    // From the moment that the secret is seen; and the first try to claim fails too.
    const broken: Store = {
      ...store,
      putSwap: async (record) => {
        if (record.publicSecret !== null && record.claim === null) works = false;
        return works || writes === null ? store.putSwap(record) : writes();
      },
      putSecret: async (...about) =>
        works || writes === null ? store.putSecret(...about) : writes(),
      getSwap: async (id) => (works ? store.getSwap(id) : fails()),
      swapIds: async (since) => (works ? store.swapIds(since) : fails()),
    };
    let tries = 0;
    alter(scene, 'b', ({ broadcast }) => ({
      broadcast: async (...about: Parameters<typeof broadcast>) => {
        tries += 1;
        if (tries === 1) throw new ParleyError('chain_unavailable', 'no node', {});
        return broadcast(...about);
      },
    }));
    await run(scene, { store: broken }, () => scene.endOf('b') !== null);
    assert.equal(scene.endOf('b'), 'claimed');
    const said = writes === null ? 'nonces are chosen without' : 'the record is in memory alone';
    const isTold = emitted(scene).some((each) => each.startsWith(`store: ${said}`));
    assert.ok(isTold, emitted(scene).join('\n'));
    assert.equal((await recordOf(scene)).claim === null, writes !== null);
  });
}

timed('a record kept in memory is written once the store works again', async () => {
  const scene = await paperScene('maker');
  const { store } = scene.input;
  const filling = oncePublic(store, (record) =>
    scene.endOf('b') === 'claimed' ? store.putSwap(record) : refuses(),
  );
  await run(scene, { store: filling });
  const { claim, publicSecret } = await recordOf(scene);
  assert.deepEqual([claim === null, publicSecret], [false, scene.secret]);
  const last = emitted(scene).filter((each) => each.startsWith('store'));
  assert.equal(last.at(-1), 'store: the record is in the store again');
});

timed('a write that is told as failed and was done counts at once: its claim is sent', async () => {
  const scene = await paperScene('taker');
  const { store } = scene.input;
  const doing = oncePublic(store, async (record) => {
    await store.putSwap(record);
    throw full;
  });
  await run(scene, { store: doing }, () => scene.endOf('a') !== null);
  assert.equal(scene.endOf('a'), 'claimed');
});

timed('the secret that the market shows is used if it opens the hashlock', async () => {
  for (const isRight of [true, false]) {
    const scene = await paperScene('maker');
    await untilMined(scene, 'a');
    scene.chains.a.node = 'gone';
    const secret = isRight ? scene.secret : '00'.repeat(32);
    scene.market.lie((swap) => ({ ...swap, secret }));
    await run(scene, {}, () => scene.endOf('b') !== null);
    assert.equal(scene.endOf('b'), isRight ? 'claimed' : 'refunded');
    const lies = emitted(scene).filter((each) => each.startsWith('market_lied: the secret'));
    assert.equal(lies.length, isRight ? 0 : 1);
  }
});

timed('a person is called for the other leg only when nothing is to be claimed', async () => {
  const scene = await stoppedOncePublic('maker');
  scene.chains.b.pool.clear();
  const { key, source } = scene.chains.b;
  await assert.rejects(run(scene, { chains: { [key]: { ...scene.input.chains[key], source } } }), {
    code: 'no_source',
  });
  assert.equal(scene.endOf('b'), 'claimed');
});

timed("another process's lock keeps back a reveal, and no public claim or refund", async () => {
  const lock = async () => null;
  const claims = await paperScene('maker');
  await untilMined(claims, 'a');
  const refunds = await leftAlone('taker');
  await untilMined(refunds, 'b');
  const reveals = await aboutToReveal();
  for (const scene of [claims, refunds, reveals]) {
    scene.stepSeconds = 300;
    const store = { ...scene.input.store, lock };
    await run(scene, { store }, () => scene.wall > scene.timelock('b') + 7_200);
  }
  assert.deepEqual([claims.endOf('b'), refunds.endOf('b')], ['claimed', 'refunded']);
  assert.deepEqual(sent(reveals, 'a', 'claim'), []);
});

/** Whom the adapters of this side follow now, and whom they ever did. */
function followed(scene: PaperScene) {
  const now = new Set<string>();
  const ever = new Set<string>();
  const watch = (escrows: readonly WatchedEscrow[]) => {
    for (const { address } of escrows) {
      now.add(address);
      ever.add(address);
    }
  };
  const unwatch = (addresses: readonly string[]) => {
    for (const each of addresses) now.delete(each);
  };
  for (const leg of ['a', 'b'] as const) alter(scene, leg, () => ({ watch, unwatch }));
  return { now, ever };
}

timed('a settlement that ends, is stopped or fails is followed no more', async () => {
  const scene = await paperScene('maker');
  const { now, ever } = followed(scene);
  await run(scene, {}, () => now.size === 2);
  assert.deepEqual([now.size, ever.size], [0, 2]);
  ever.clear();
  const { a, b } = scene.chains;
  const chains = { [a.key]: { source: a.source }, [b.key]: { source: b.source } };
  await assert.rejects(run(scene, { chains }), { code: 'no_wallet' });
  assert.deepEqual([now.size, ever.size], [0, 2]);
  assert.equal((await run(scene))?.end, 'received');
  assert.equal(now.size, 0);
});
