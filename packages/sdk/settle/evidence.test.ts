// One answer decides nothing: stale, stuck and lying nodes after the own funding, on paper chains.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import { evmDeployment, evmEscrow } from '@parley/chains/evm/plan.ts';
import type { Look, WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { Chains } from '../chains.ts';
import { memoryStore } from '../stores/memory.ts';
import type { SwapRecord } from '../stores/store.ts';
import { keptRecord, now, secret } from '../testing/honest.ts';
import {
  alter,
  isOver,
  type PaperScene,
  paperScene,
  recordOf,
  run,
  says,
  sent,
} from '../testing/paper-scene.ts';
import { timed } from '../testing/timed.ts';
import { clockToleranceSeconds } from '../verify.ts';
import { next } from './machine.ts';
import { legWith } from './record.ts';

type Looking = (found: Look) => Look;

/** The customer's chains, with several nodes of one, each of which shows it its own way. */
function withNodes({ chains, input }: PaperScene, leg: LegName, nodes: readonly Looking[]): Chains {
  const { key, source } = chains[leg];
  const each = nodes.map((shows): ChainAdapter => {
    const { adapter } = source;
    return { ...adapter, look: async (...about) => shows(await adapter.look(...about)) };
  });
  const own = input.chains[key];
  return { ...input.chains, [key]: { ...own, source: { ...source, nodes: each } } };
}

const well: Looking = (found) => found;
const showing =
  (alters: (facts: EscrowFacts) => EscrowFacts): Looking =>
  ({ heads, facts }) => ({ heads, facts: facts.map(alters) });

/** The own leg is funded, and of a counterparty both: that is kept. */
async function ownFunded(party: 'maker' | 'taker'): Promise<PaperScene> {
  const scene = await paperScene(party, { theirsAt: Infinity, stepSeconds: 20 });
  const own = scene.chains[scene.gives];
  await run(scene, {}, () => own.mined.length > 0 && own.height > 40);
  return scene;
}

/** The other side has another escrow now, by the market's word: the next counter of its lane. */
function move(scene: PaperScene, leg: LegName): WatchedEscrow {
  const watched = scene.market.watched(leg);
  const lane = { ...watched.terms.lane, number: watched.terms.lane?.number ?? '', counter: 2 };
  const terms = { ...watched.terms, lane };
  const { address } = evmEscrow(terms, evmDeployment(scene.chains[leg].chainId));
  scene.market.lie((swap) => {
    const legs = { ...swap.legs, [leg]: { ...swap.legs[leg], lane, escrow: address } };
    return { ...swap, legs } as typeof swap;
  });
  return { ...watched, terms, address };
}

for (const looks of [1, Infinity]) {
  timed(`a market moves no leg after the own funding, stale looks: ${looks}`, async () => {
    const scene = await ownFunded('maker');
    const { address } = scene.market.watched('b');
    assert.ok((await recordOf(scene)).seen?.[address]?.funded?.deep);
    move(scene, 'b');
    let stale = looks;
    alter(scene, 'b', ({ look }) => ({
      look: async (...about: Parameters<typeof look>) => {
        const found = await look(...about);
        stale -= 1;
        return stale < 0 ? found : { ...found, facts: found.facts.map(() => nothingSeen) };
      },
    }));
    scene.theirsAt = scene.wall + 600;
    scene.stepSeconds = 120;
    const end = await run(scene, { marketPollMs: 0 }, () => isOver(scene));
    assert.equal((await recordOf(scene)).swap.legs.b.escrow?.address, address);
    assert.deepEqual([scene.endOf('a'), scene.endOf('b')], ['claimed', 'claimed']);
    assert.ok(says(scene, 'denies what was seen at depth, and proves no reorganisation'));
    // A node that denies for good what it has shown ends nothing: a person can see why.
    assert.equal(end?.end ?? null, looks === 1 ? 'received' : null);
  });
}

timed('an initiator follows a lane that moves before its escrow was in a block', async () => {
  const scene = await paperScene('taker', { theirsAt: Infinity, stepSeconds: 20 });
  await run(scene, {}, () => scene.chains.b.mined.length > 0);
  const before = scene.market.watched('a').address;
  const { address } = move(scene, 'a');
  const isMoved = () => says(scene, 'a leg moved to another escrow');
  await run(scene, { marketPollMs: 0 }, isMoved);
  const { swap, former } = await recordOf(scene);
  assert.equal(swap.legs.a.escrow?.address, address);
  assert.deepEqual(
    former?.a?.map((each) => each.address),
    [before],
  );
  // An escrow that the leg comes back to is no former one any more.
  scene.market.lie((said) => said);
  scene.theirsAt = 0;
  assert.equal((await run(scene, { marketPollMs: 0 }))?.end, 'received');
  const after = await recordOf(scene);
  assert.equal(after.swap.legs.a.escrow?.address, before);
  assert.equal(after.former?.a?.[0]?.address, address);
});

timed('one node that says "claimed" ends nothing, and stops no claim', async () => {
  const scene = await ownFunded('maker');
  scene.theirsAt = 0;
  const claimed = { txid: '0xliar', confirmations: 99, deep: true };
  const lie = showing((facts) => ({ ...facts, claimed, balance: 0n, empty: true }));
  const isPublic = () => scene.endOf('a') === 'claimed';
  const liar: Looking = (found) => (isPublic() ? lie(found) : found);
  const chains = withNodes(scene, 'b', [liar, well]);
  scene.stepSeconds = 60;
  await run(scene, { chains }, () => scene.endOf('b') !== null);
  assert.equal(scene.endOf('b'), 'claimed');
  assert.equal(sent(scene, 'b', 'claim').length, 1);
  assert.ok(says(scene, 'show an escrow differently (node 1: claimed, node 2: funded)'));
  assert.ok(!scene.emitted.some(({ step }) => step === 'ended'));
  // By the truth of both it ends.
  assert.equal((await run(scene))?.end, 'received');
});

timed('a lying node of two has nothing funded and no secret told', async () => {
  const deep = { txid: '0xliar', confirmations: 99, deep: true };
  const invents = showing((facts) => ({
    ...facts,
    funded: deep,
    balance: 10n ** 17n,
    empty: false,
  }));
  const maker = await paperScene('maker', { theirsAt: Infinity });
  const { a, b } = maker.chains;
  b.leastFee = 10n ** 18n;
  await run(maker, { chains: withNodes(maker, 'b', [invents, well]) }, () => isOver(maker));
  assert.equal(a.mined.length + a.pool.size, 0);
  const taker = await ownFunded('taker');
  taker.stepSeconds = 300;
  const chains = withNodes(taker, 'a', [invents, well]);
  const end = await run(taker, { chains }, () => isOver(taker));
  assert.equal((await recordOf(taker)).publicSecret, null);
  assert.equal(taker.endOf('b'), 'refunded');
  assert.equal(end, null, 'while they differ it watches');
});

timed('one of two nodes stands still: the other one’s answers count, and it ends', async () => {
  for (const party of ['maker', 'taker'] as const) {
    const scene = await ownFunded(party);
    scene.theirsAt = scene.wall + 600;
    let stuck: Look | null = null;
    const stands: Looking = (found) => {
      stuck ??= found;
      return stuck;
    };
    const chains = withNodes(scene, scene.gets, [stands, well]);
    scene.stepSeconds = 60;
    const end = await run(scene, { chains }, () => isOver(scene));
    assert.equal(end?.end, 'received', party);
    assert.ok(says(scene, `node 1 of ${scene.chains[scene.gets].key} stands at block`));
  }
});

const ahead: Looking = ({ heads, facts }) => {
  return { heads: { ...heads, clock: heads.clock + 5 * 86_400 }, facts };
};

timed(
  'a node that invents the time keeps no claim with a public secret from its chain',
  async () => {
    for (const nodes of [[ahead], [ahead, well], [well, ahead]]) {
      const scene = await ownFunded('maker');
      scene.theirsAt = 0;
      scene.stepSeconds = 60;
      const chains = withNodes(scene, 'b', nodes);
      await run(scene, { chains }, () => scene.endOf('b') !== null || isOver(scene));
      assert.equal(scene.endOf('b'), 'claimed');
      assert.ok(says(scene, 's newer than now, more than 120 s'));
      assert.ok(!says(scene, 'takes no claim since its timelock'));
    }
  },
);

timed('the earlier of two near clocks stops a claim', async () => {
  const scene = await ownFunded('maker');
  scene.theirsAt = 0;
  const early: Looking = ({ heads, facts }) => {
    return { heads: { ...heads, clock: heads.clock + clockToleranceSeconds - 20 }, facts };
  };
  const { b } = scene.chains;
  b.node = 'gone';
  for (const [stepSeconds, before] of [
    [300, 1_000],
    [10, 95],
  ] as const) {
    scene.stepSeconds = stepSeconds;
    await run(scene, {}, () => scene.wall > scene.timelock('b') - before);
  }
  scene.stepSeconds = 2;
  b.node = 'well';
  const chains = withNodes(scene, 'b', [early, well]);
  await run(scene, { chains }, () => scene.endOf('b') !== null || isOver(scene));
  assert.equal(scene.endOf('b'), 'claimed');
});

timed(
  'beside a node that is well an invented time sends no refund and stops no reveal',
  async () => {
    for (const nodes of [
      [ahead, well],
      [well, ahead],
    ]) {
      for (const leg of ['a', 'b'] as const) {
        const taker = await paperScene('taker', { stepSeconds: 60 });
        const chains = withNodes(taker, leg, nodes);
        assert.equal((await run(taker, { chains }, () => isOver(taker)))?.end, 'received', leg);
      }
      const maker = await ownFunded('maker');
      maker.stepSeconds = 60;
      await run(maker, { chains: withNodes(maker, 'a', nodes) }, () => maker.endOf('a') !== null);
      assert.equal(maker.endOf('a'), 'refunded');
      assert.deepEqual(
        sent(maker, 'a', 'refund').filter((each) => 'ok' in each && !each.ok),
        [],
      );
    }
  },
);

timed(
  'by a clock of the device that is behind nothing begins, and a refund is not lost',
  async () => {
    const scene = await ownFunded('taker');
    const { now = async () => 0 } = scene.input;
    scene.theirsAt = 0;
    scene.stepSeconds = 60;
    const behind = { now: async () => (await now()) - 3_600 };
    await run(scene, behind, () => scene.endOf('b') !== null || isOver(scene));
    assert.equal(sent(scene, 'a', 'fund').length, 1, 'both are funded');
    assert.equal((await recordOf(scene)).publicSecret, null);
    assert.equal(scene.endOf('b'), 'refunded');
    assert.ok(scene.wall < scene.timelock('b') + 1_800, 'by the time of the nodes');
    assert.ok(!scene.emitted.some(({ step }) => step === 'ended'));
  },
);

test('a received leg stays so while nodes differ, and not when the chain took it back', () => {
  const kept = { txid: 'own', raw: '00' };
  const record = keptRecord('taker', { funding: kept, claim: kept, publicSecret: secret });
  const deep = { txid: 'own', confirmations: 99, deep: true };
  const open = { ...nothingSeen, funded: deep, balance: 1n, empty: false };
  const stateBy = (agreed: boolean, names: readonly LegName[]) => {
    const evidence = { node: 0, earliest: now, agreed, doubts: [], marks: {}, strayed: null };
    const leg = (name: LegName) => ({ ...legWith(record, name, open), isFresh: true, evidence });
    const legs = Object.fromEntries(names.map((name) => [name, leg(name)]));
    const clocks = Object.fromEntries(names.map((name) => [name, now]));
    return next('received', { record, legs, isMarketDue: false }, { wall: now, ...clocks }).state;
  };
  for (const names of [['a', 'b'], ['a']] as const) {
    assert.equal(stateBy(false, names), 'received');
    assert.equal(stateBy(true, names), 'claiming');
  }
});

timed('an end with the own leg taken and nothing paid for it is told as such', async () => {
  const scene = await ownFunded('maker');
  const { a, b } = scene.chains;
  scene.theirsAt = 0;
  scene.stepSeconds = 600;
  a.node = 'gone';
  b.node = 'gone';
  await run(scene, {}, () => scene.endOf('b') !== null);
  a.node = 'well';
  b.node = 'well';
  const { end, txids } = (await run(scene, {}, () => isOver(scene))) ?? assert.fail();
  assert.deepEqual([end, scene.endOf('a'), scene.endOf('b')], ['lost', 'claimed', 'refunded']);
  assert.ok(txids.a.claim !== null);
  assert.ok(says(scene, 'lost: the own leg was taken, and nothing was paid for it'));
});

timed('an end that a silent node holds up is no state before it is confirmed', async () => {
  const scene = await paperScene('taker', { stepSeconds: 20 });
  const fails: Looking = () => {
    throw new Error('HTTP 429');
  };
  const ended = await run(scene, { chains: withNodes(scene, 'a', [well, fails]) });
  assert.equal(ended?.end, 'received');
  const states = scene.emitted.filter(({ step }) => step === 'state').map(({ text }) => text);
  assert.deepEqual(states.slice(-1), ['received -> settled']);
  assert.equal(states.filter((text) => /settled/.test(text)).length, 1);
  const received = scene.emitted.filter(({ state }) => state === 'received');
  const told = received.filter(({ step }) => step === 'evidence');
  assert.equal(told.length, 1, 'how long it holds up the end is no news');
});

timed('a chain that stands still begins and ends nothing, and is told', async () => {
  const scene = await paperScene('maker', { theirsAt: 0, stepSeconds: 60 });
  let stuck: Look | null = null;
  alter(scene, 'b', ({ look }) => ({
    look: async (...about: Parameters<typeof look>) => {
      stuck ??= await look(...about);
      return stuck;
    },
  }));
  await run(scene, {}, () => isOver(scene));
  assert.ok(says(scene, 'older than now, more than'));
  // Its age is another one at each look, and is told once.
  const told = scene.emitted.filter(({ step, leg }) => step === 'evidence' && leg === 'b');
  assert.deepEqual(
    told.map(({ code }) => code),
    ['chain_stands'],
  );
  const waits = scene.emitted.filter(({ step, leg }) => step === 'waiting' && leg === null);
  assert.ok(waits.length <= 1, `${waits.length} times`);
  assert.equal(scene.chains.a.pool.size + scene.chains.a.mined.length, 0);
  assert.ok(!scene.emitted.some(({ step }) => step === 'ended'));
});

/** As a phrase gives it back to another device. */
async function restored(scene: PaperScene) {
  const { trade, swap } = await recordOf(scene);
  const store = memoryStore();
  await store.putSecret(swap.hashlock, scene.secret);
  await store.putTrade(trade);
  const none = { funding: null, claim: null, refund: null, publicSecret: null };
  const record: SwapRecord = { trade, swap, ...none, restored: true };
  await store.putSwap(record);
  scene.isShared = true;
  return store;
}

timed('restored by a node that is still catching up, the own coins are waited for', async () => {
  const scene = await ownFunded('taker');
  const store = await restored(scene);
  const behind = scene.wall - 3_600;
  scene.wall = scene.timelock('b') + 600;
  let isSyncing = true;
  alter(scene, 'b', ({ look }) => ({
    look: async (...about: Parameters<typeof look>) => {
      const { heads, facts } = await look(...about);
      if (!isSyncing) return { heads, facts };
      const early = { ...heads, height: 1, clock: behind };
      return { heads: early, facts: facts.map(() => nothingSeen) };
    },
  }));
  const until = scene.wall + 7_200;
  assert.equal(await run(scene, { store }, () => scene.wall > until), null);
  isSyncing = false;
  assert.equal((await run(scene, { store }))?.end, 'refunded');
});

timed(
  'an escrow that others may have paid is not over before its own chain is past the time',
  async () => {
    const scene = await paperScene('taker', { theirsAt: Infinity, stepSeconds: 60 });
    await run(scene, {}, () => says(scene, 'follow from your own trade'));
    const store = await restored(scene);
    const last = scene.timelock('b');
    scene.wall = last + 60;
    // The other chain and this clock are past it, the own chain is not.
    alter(scene, 'b', ({ look }) => ({
      look: async (...about: Parameters<typeof look>) => {
        const { heads, facts } = await look(...about);
        const clock = Math.min(heads.clock - 1_200, last + (scene.wall > last + 900 ? 1 : 0));
        return { heads: { ...heads, clock }, facts };
      },
    }));
    assert.equal(await run(scene, { store }, () => scene.wall > last + 800), null);
    assert.equal((await run(scene, { store }))?.end, 'nothing');
  },
);

timed(
  'a payment in an escrow that the leg moved off is claimed with the public secret',
  async () => {
    const scene = await ownFunded('maker');
    const record = await recordOf(scene);
    const { escrow } = record.swap.legs.b;
    assert.ok(escrow);
    // As kept by a driver that followed the market away from the funded escrow.
    const lane = { number: escrow.terms.lane?.number ?? '', counter: 9 };
    const terms = { ...escrow.terms, lane };
    const { address } = evmEscrow(terms, evmDeployment(scene.chains.b.chainId));
    const b = { ...record.swap.legs.b, escrow: { ...escrow, terms, address } };
    const swap = { ...record.swap, legs: { ...record.swap.legs, b } };
    await scene.input.store.putSwap({ ...record, swap, former: { b: [escrow] } });
    scene.isShared = true;
    scene.theirsAt = 0;
    scene.stepSeconds = 60;
    assert.equal((await run(scene, {}, () => isOver(scene)))?.end, 'received');
    assert.ok(says(scene, `is in its former escrow ${escrow.address}`));
    // A step `evidence` without a code says that the nodes are well again.
    const moved = scene.emitted.find(({ text }) => text.includes('is in its former escrow'));
    assert.equal(moved?.step, 'verified');
  },
);
