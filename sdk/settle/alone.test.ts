// Each leg stands alone once the secret is public: paper chains, and one thing silent at a time.

import assert from 'node:assert/strict';
import type { WatchedEscrow } from '../../chains/interface/reading.ts';
import { ParleyError } from '../../core/errors.ts';
import type { Store, SwapRecord } from '../stores/store.ts';
import {
  isOver,
  type PaperScene,
  paperScene,
  recordOf,
  run,
  sent,
} from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';

const nodes = ['gone', 'silent'] as const;

const told = (scene: PaperScene) => scene.told.map(({ step, text }) => `${step}: ${text}`);

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

for (const node of nodes) {
  timed(`the counterparty claims with the other chain's node ${node}`, async () => {
    const scene = await stoppedOncePublic('maker');
    scene.chains.a.node = node;
    scene.chains.b.pool.clear();
    await run(scene, { client: null }, () => isOver(scene));
    assert.deepEqual([scene.endOf('a'), scene.endOf('b')], ['claimed', 'claimed']);
  });

  timed(`a reveal is sent again and raised with the other chain's node ${node}`, async () => {
    const scene = await stoppedOncePublic('taker');
    scene.chains.b.node = node;
    // No pool has it any more, and its fee is too low by now.
    scene.chains.a.pool.clear();
    scene.chains.a.leastFee = 3n;
    await run(scene, { client: null }, () => isOver(scene));
    assert.deepEqual([scene.endOf('a'), scene.endOf('b')], ['claimed', 'claimed']);
  });
}

for (const party of ['maker', 'taker'] as const) {
  timed(`the ${party} refunds its leg with the other chain's node gone`, async () => {
    const scene = await paperScene(party);
    scene.theirsAt = Infinity;
    const { gives, gets, chains } = scene;
    await run(scene, {}, () => chains[gives].mined.length > 0);
    chains[gets].node = 'gone';
    scene.stepSeconds = 1_200;
    await run(scene, {}, () => isOver(scene));
    assert.equal(scene.endOf(gives), 'refunded');
  });
}

timed('a source that heeds no signal holds up no refund', async () => {
  const scene = await paperScene('maker');
  scene.theirsAt = Infinity;
  const { gives, gets, chains } = scene;
  await run(scene, {}, () => chains[gives].mined.length > 0);
  chains[gets].source.adapter.look = () => new Promise(() => {});
  scene.stepSeconds = 1_200;
  // A signal's own timer keeps no process.
  const held = setInterval(() => {}, 1_000);
  await run(scene, { chainTimeoutMs: 50 }, () => isOver(scene));
  clearInterval(held);
  assert.equal(scene.endOf(gives), 'refunded');
});

timed('a chain that is slow to fail holds up no pass of the one that pays', async () => {
  const scene = await stoppedOncePublic('maker');
  scene.chains.a.node = 'silent';
  let looks = 0;
  const began = performance.now();
  const { adapter } = scene.chains.b.source;
  const { look } = adapter;
  Object.assign(adapter, {
    look: (...about: Parameters<typeof look>) => {
      looks += 1;
      return look(...about);
    },
  });
  const chainTimeoutMs = 5_000;
  await run(scene, { client: null, chainTimeoutMs }, () => looks > 20);
  const tookMs = performance.now() - began;
  assert.equal(scene.endOf('b'), 'claimed');
  assert.ok(tookMs < chainTimeoutMs, `20 looks took ${tookMs} ms`);
});

timed('before the secret is public both chains must answer', async () => {
  // The maker has seen the long leg deep, and the taker both; then one chain falls silent.
  const maker = await paperScene('maker');
  await run(maker, {}, () => maker.chains.b.height > 3);
  maker.chains.b.node = 'gone';
  maker.stepSeconds = 600;
  await run(maker, {}, () => isOver(maker));
  assert.equal(maker.chains.a.mined.length, 0, 'funded without the other chain');
  for (const leg of ['a', 'b'] as const) {
    const taker = await paperScene('taker');
    const { chains } = taker;
    await run(taker, {}, () => chains.a.mined.length > 0);
    chains[leg].node = 'gone';
    await run(taker, {}, () => taker.wall > taker.timelock('a'));
    assert.equal(sent(taker, 'a', 'claim').length, 0, `revealed without chain ${leg}`);
  }
});

const full = new Error('ENOSPC: no space left on device');
const refuses = async () => Promise.reject(full);
const hangs = () => new Promise<never>(() => {});
for (const [what, fails, writes] of [
  ['refuses', refuses, refuses],
  ['does not answer', hangs, hangs],
  ['cannot be read', refuses, null],
] as const) {
  timed(`a store that ${what} stops no claim with a public secret, and is told of`, async () => {
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
    const { adapter } = scene.chains.b.source;
    const { broadcast } = adapter;
    let tries = 0;
    Object.assign(adapter, {
      broadcast: async (...about: Parameters<typeof broadcast>) => {
        tries += 1;
        if (tries === 1) throw new ParleyError('chain_unavailable', 'no node', {});
        return broadcast(...about);
      },
    });
    await run(scene, { store: broken }, () => scene.endOf('b') !== null);
    assert.equal(scene.endOf('b'), 'claimed');
    const said = writes === null ? 'nonces are chosen without' : 'the record is in memory alone';
    const isTold = told(scene).some((each) => each.startsWith(`store: ${said}`));
    assert.ok(isTold, told(scene).join('\n'));
    assert.equal((await recordOf(scene)).claim === null, writes !== null);
  });
}

timed('what was kept in memory is written once the store works again', async () => {
  const scene = await paperScene('maker');
  let isFull = true;
  const { store } = scene.input;
  const filling = oncePublic(store, (record) => (isFull ? refuses() : store.putSwap(record)));
  scene.onStep = () => {
    if (scene.endOf('b') === 'claimed') isFull = false;
  };
  await run(scene, { store: filling }, () => false);
  const { claim, publicSecret } = await recordOf(scene);
  assert.deepEqual([claim === null, publicSecret], [false, scene.secret]);
  const last = told(scene).filter((each) => each.startsWith('store'));
  assert.equal(last.at(-1), 'store: the record is in the store again');
});

timed('what is undecided is not sent before it is on disk', async () => {
  const scene = await paperScene('taker');
  await run(scene, { store: oncePublic(scene.input.store, refuses) }, () => {
    return scene.wall > scene.timelock('a');
  });
  assert.equal(sent(scene, 'a', 'claim').length, 0);
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
    await run(scene, {}, () => scene.chains.a.mined.length > 0);
    scene.chains.a.node = 'gone';
    const secret = isRight ? scene.secret : '00'.repeat(32);
    scene.market.lie((swap) => ({ ...swap, secret }));
    await run(scene, {}, () => scene.endOf('b') !== null);
    assert.equal(scene.endOf('b'), isRight ? 'claimed' : 'refunded');
    const lies = told(scene).filter((each) => each.startsWith('market_lied: the secret'));
    assert.equal(lies.length, isRight ? 0 : 1);
  }
});

timed('a person is called for the other leg only when nothing is to be claimed', async () => {
  const scene = await stoppedOncePublic('maker');
  scene.chains.b.pool.clear();
  const { key, source } = scene.chains.b;
  const ending = run(scene, { sources: new Map([[key, source]]) }, () => false);
  await assert.rejects(ending, { code: 'no_source' });
  assert.equal(scene.endOf('b'), 'claimed');
});

timed(
  'a lock that another process holds keeps back a reveal, and no public claim or refund',
  async () => {
    for (const verb of ['claim', 'refund', 'reveal'] as const) {
      const scene = await paperScene(verb === 'claim' ? 'maker' : 'taker');
      if (verb === 'refund') scene.theirsAt = Infinity;
      const { gives, gets, chains } = scene;
      await run(scene, {}, () => chains[verb === 'refund' ? gives : 'a'].mined.length > 0);
      if (verb !== 'reveal') scene.stepSeconds = 300;
      const store = { ...scene.input.store, lock: async () => null };
      const isPast = () => scene.wall > scene.timelock(verb === 'reveal' ? 'a' : 'b') + 7_200;
      await run(scene, { store }, isPast);
      if (verb === 'reveal') assert.equal(sent(scene, 'a', 'claim').length, 0);
      else assert.equal(scene.endOf(verb === 'claim' ? gets : gives), `${verb}ed`);
    }
  },
);

/** How long before its timelock the own claim of a public secret was sent, in seconds. */
async function claimedBefore(leaveToBatchMs: number, hasBatches = true) {
  const scene = await paperScene('maker');
  const paying = scene.chains[scene.gets];
  const none = async () => {
    throw new ParleyError('payout_would_fail', 'nobody sends batches here', {});
  };
  if (hasBatches) Object.assign(paying.source.adapter, { buildBatch: none });
  const timelock = scene.timelock(scene.gets);
  let before: number | null = null;
  scene.onStep = () => {
    const sent = [...paying.pool.values(), ...paying.mined];
    if (sent.some(({ call }) => call.verb === 'claim')) before ??= timelock - scene.wall;
  };
  const outcome = await run(scene, { leaveToBatchMs }, () => false);
  assert.equal(outcome?.end, 'received');
  const { high, reactSeconds } = paying.source.view.policy;
  const needs = high.outageSeconds + reactSeconds + high.settleSeconds;
  assert.ok(before !== null);
  return { before, needs, texts: scene.told.map(({ text }) => text) };
}

timed('a claim that is left to a batch is sent once its timelock comes near', async () => {
  const { before, needs, texts } = await claimedBefore(Infinity);
  assert.ok(before <= needs && before > needs - 1_800, `${before} of ${needs} seconds before`);
  assert.ok(texts.some((text) => text === 'the claim of leg b is left to a batch for now'));
});

timed('no longer than it was told to, and not where there are no batches', async () => {
  for (const [leaveToBatchMs, hasBatches] of [
    [1, true],
    [0, true],
    [Infinity, false],
  ] as const) {
    const { before, needs } = await claimedBefore(leaveToBatchMs, hasBatches);
    assert.ok(before > needs, `${before} of ${needs} seconds before`);
  }
});

/** Whom the adapters of this side follow now, and whom they ever did. */
function followed({ chains }: PaperScene) {
  const [now, ever] = [new Set<string>(), new Set<string>()];
  const watch = (escrows: readonly WatchedEscrow[]) => {
    for (const { address } of escrows) {
      now.add(address);
      ever.add(address);
    }
  };
  const unwatch = (addresses: readonly string[]) => {
    for (const each of addresses) now.delete(each);
  };
  for (const { source } of [chains.a, chains.b]) Object.assign(source.adapter, { watch, unwatch });
  return { now, ever };
}

timed('a settlement that ends, is stopped or fails is followed no more', async () => {
  const scene = await paperScene('maker');
  const { now, ever } = followed(scene);
  await run(scene, {}, () => now.size === 2);
  assert.deepEqual([now.size, ever.size], [0, 2]);
  ever.clear();
  await assert.rejects(
    run(scene, { wallets: new Map() }, () => false),
    { code: 'no_wallet' },
  );
  assert.deepEqual([now.size, ever.size], [0, 2]);
  assert.equal((await run(scene, {}, () => false))?.end, 'received');
  assert.equal(now.size, 0);
});
