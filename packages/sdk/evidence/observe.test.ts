// Facts that were confirmed against a node's later answers, by nodes in this process.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { withResolvers } from '@parley/core/engines.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import { pinned, termsOf, now as wall } from '../testing/honest.ts';
import type { Memory } from './memory.ts';
import { type Asking, observe, othersMs } from './observe.ts';

type Node = {
  facts: EscrowFacts;
  height: number;
  /** The hash of the block that held the funding; null: the node does not say; */
  hash?: string | null | Error;
  former?: EscrowFacts;
  hangs?: boolean;
  fails?: boolean;
  failure?: Error;
  clock?: number;
  /** The node's answer at that height. */
  waits?: { readonly promise: Promise<void> };
};

const terms = termsOf('a', wall + 20_000, wall + 1_000);
const watched: WatchedEscrow = { address: 'own', terms, requiredConfirmations: 10, since: wall };
const deep = { txid: 'one', confirmations: 12, deep: true };
const funded = { ...nothingSeen, funded: deep, balance: terms.amount, empty: false };
const mark = { height: 89, hash: 'first' };
const memory: Memory = { facts: funded, marks: { funded: mark } };

function adapterOf(node: Node): ChainAdapter {
  return {
    chain: 'evm-dev',
    watch: () => {},
    look: async (escrows: readonly WatchedEscrow[]) => {
      if (node.hangs) await new Promise(() => {});
      await node.waits?.promise;
      if (node.fails) throw node.failure ?? new Error('HTTP 429');
      const { height, facts, former = nothingSeen, clock = wall } = node;
      return {
        heads: { height, hash: '', clock },
        facts: escrows.map(({ address }) => (address === 'own' ? facts : former)),
      };
    },
    blockHash: async (height: number) => {
      if (node.hash instanceof Error) throw node.hash;
      return height === mark.height ? (node.hash ?? null) : 'other';
    },
  } as unknown as ChainAdapter;
}

async function seen(nodes: readonly Node[], more: Partial<Asking> = {}) {
  const adapters = nodes.map(adapterOf);
  const [adapter] = adapters as [ChainAdapter];
  const { source } = pinned['evm-dev']!;
  return observe({
    source: { ...source, adapter, nodes: adapters },
    watched,
    former: [],
    memory: { facts: null, marks: {} },
    differing: new Map(),
    denied: new Map(),
    silent: new Map(),
    late: new Map(),
    wall,
    now: async () => more.wall ?? wall,
    limit: AbortSignal.timeout(5_000),
    othersMs,
    ...more,
  });
}

test('a fact at depth is remembered with its block, once all nodes show it', async () => {
  const well = { facts: funded, height: 100, hash: 'first' };
  assert.deepEqual((await seen([well])).marks, { funded: mark });
  const other = { facts: nothingSeen, height: 100 };
  assert.deepEqual((await seen([well, other])).marks, {}, 'one of two');
});

test('unfunded after funded and deep is refused, unless the node shows another block there', async () => {
  const denies = (hash: string | null, height = 100) =>
    seen([{ facts: nothingSeen, height, hash }], { memory });
  for (const faulty of [await denies('first'), await denies(null), await denies('second', 88)]) {
    assert.deepEqual(faulty.facts.funded, deep);
    assert.equal(faulty.agreed, false);
    assert.deepEqual(faulty.marks, { funded: mark });
    assert.deepEqual(
      faulty.doubts.map(({ code }) => code),
      ['answer_refused'],
    );
  }
  const proven = await denies('second');
  assert.deepEqual([proven.facts.funded, proven.agreed, proven.doubts], [null, true, []]);
  assert.deepEqual(proven.marks, {});
});

test('an end that was one node’s lie stops no claim: another node shows the escrow open', async () => {
  const claimed = { ...funded, claimed: deep, balance: 0n };
  const lied: Memory = { facts: claimed, marks: { funded: mark, claimed: mark } };
  const well = { facts: funded, height: 100, hash: 'first' };
  const { facts, agreed } = await seen([well, { ...well, facts: claimed }], { memory: lied });
  assert.deepEqual([facts.funded?.deep, facts.claimed, agreed], [true, null, false]);
});

test('a node that names no block at all takes nothing back', async () => {
  const node = { facts: nothingSeen, height: 100, hash: 'second' };
  const silent = { ...adapterOf(node), blockHash: undefined } as unknown as ChainAdapter;
  const { source } = pinned['evm-dev']!;
  const shown = await seen([node], { memory, source: { ...source, adapter: silent } });
  assert.deepEqual([shown.facts.funded, shown.agreed], [deep, false]);
});

test('a node a few blocks behind takes no depth back; a funding that is in no block does', async () => {
  const lags = { ...funded, funded: { ...deep, confirmations: 9, deep: false } };
  const lagging = await seen([{ facts: lags, height: 97, hash: 'first' }], { memory });
  assert.deepEqual([lagging.facts.funded?.deep, lagging.agreed], [true, true]);
  const again = await seen([{ facts: lags, height: 100, hash: 'second' }], { memory });
  assert.deepEqual([again.facts.funded?.deep, again.agreed], [false, true]);
  const pooled = { ...nothingSeen, funded: { ...deep, confirmations: 0, deep: false } };
  const unmined = await seen([{ facts: pooled, height: 100, hash: 'first' }], { memory });
  assert.deepEqual([unmined.facts.funded, unmined.agreed], [deep, false]);
});

test('a node that hangs is waited for when something ends, and beside that only once', async () => {
  const late: Asking['late'] = new Map();
  const nodes = [
    { facts: funded, height: 100, hash: 'first' },
    { facts: funded, height: 100, hangs: true },
  ];
  const limit = AbortSignal.timeout(200);
  const first = await seen(nodes, { late, limit });
  assert.deepEqual([first.agreed, limit.aborted], [true, true], 'it had its time');
  const second = AbortSignal.timeout(5_000);
  late.set('1 own', { look: new Promise(() => {}), isGoing: true, last: null });
  await seen(nodes, { late, limit: second, othersMs: 60_000 });
  assert.equal(second.aborted, false, 'it is not waited for again');
  const third = AbortSignal.timeout(200);
  await seen(nodes, { late, limit: third, othersMs: null });
  assert.equal(third.aborted, true);
});

test('a leg whose tokens are gone is not deep any more, whatever was seen of it', async () => {
  const taken = { ...funded, funded: { ...deep, confirmations: 30, deep: false } };
  const shown = await seen([{ facts: taken, height: 118, hash: 'first' }], { memory });
  assert.deepEqual([shown.facts.funded?.deep, shown.agreed, shown.doubts], [false, true, []]);
});

test('a node that fails holds up ends for ten minutes, and beginnings once it has spoken', async () => {
  const claimed = { ...funded, claimed: deep, balance: 0n };
  const busy = { facts: funded, height: 100, fails: true };
  const nodes = [busy, { facts: claimed, height: 100, hash: 'first' }];
  const silent: Asking['silent'] = new Map();
  const agrees = async (at: number, othersMs: number | null) =>
    (await seen(nodes, { silent, othersMs, wall: at })).agreed;
  assert.equal(await agrees(wall, null), false);
  assert.equal(await agrees(wall, 5_000), true, 'it has not spoken yet');
  assert.equal(await agrees(wall + 600, null), false);
  assert.equal(await agrees(wall + 601, null), true, 'it is gone for good');
  busy.fails = false;
  assert.equal(await agrees(wall + 602, null), false, 'it shows the leg open');
  busy.fails = true;
  assert.equal(await agrees(wall + 603, null), false, 'its time begins anew');
  assert.equal(await agrees(wall + 1_203, 5_000), false, 'it spoke against it');
  assert.equal(await agrees(wall + 1_204, 5_000), true);
  busy.fails = false;
  assert.equal(await agrees(wall + 1_205, 5_000), false);
  busy.fails = true;
  assert.equal(await agrees(wall + 9_000, 5_000), false, 'its first failure, long after its word');
  assert.equal(await agrees(wall + 9_600, 5_000), false);
});

test('a slow node’s last word stands, and before its first one nothing begins or ends', async () => {
  const late: Asking['late'] = new Map();
  const slow = { facts: nothingSeen, height: 100, waits: withResolvers<void>() };
  const nodes = [{ facts: funded, height: 100, hash: 'first' }, slow];
  const look = async (ms: number) => {
    const { agreed, doubts, marks } = await seen(nodes, { late, othersMs: ms });
    return [agreed, doubts.length, Object.keys(marks).length];
  };
  assert.deepEqual(await look(5), [false, 0, 0], 'it has not spoken');
  slow.waits.resolve();
  await late.get('1 own')?.look;
  slow.waits = withResolvers();
  assert.deepEqual(await look(5), [false, 1, 0], 'it speaks against it');
  assert.deepEqual(await look(5), [false, 1, 0], 'until it says something else');
  slow.facts = funded;
  slow.waits.resolve();
  await late.get('1 own')?.look;
  assert.deepEqual(await look(5_000), [true, 0, 1]);
});

test('a payment and a secret in a former escrow are seen', async () => {
  const secret = '77'.repeat(32);
  const former: WatchedEscrow = { ...watched, address: 'former' };
  const node = { facts: nothingSeen, height: 100, former: { ...funded, secret } };
  const shown = await seen([node], { former: [former] });
  assert.deepEqual([shown.strayed, shown.facts.secret], [former, secret]);
  const empty = await seen([{ ...node, former: nothingSeen }], { former: [former] });
  assert.deepEqual([empty.strayed, empty.facts.secret], [null, null]);
});

test('a node that fails is told once it has for a while, with those that are heard, by its place', async () => {
  const busy = { facts: funded, height: 100, hash: 'first', fails: false } as Node;
  const nodes = [busy, { facts: funded, height: 100, hash: 'first' }];
  const silent: Asking['silent'] = new Map();
  const told = async (at: number) => {
    const { doubts } = await seen(nodes, { silent, wall: at });
    return doubts.map(({ code, sentence }) => `${code}: ${sentence}`).join();
  };
  assert.equal(await told(wall), '');
  busy.fails = true;
  // It was asked a long time after its last word, and failed once.
  assert.equal(await told(wall + 300), '');
  assert.equal(await told(wall + 319), '');
  const words = 'node_silent: node 1 of evm-dev does not answer; 1 of 2 is heard';
  assert.equal(await told(wall + 320), words);
  busy.failure = new Error('https://host.example/key is gone');
  assert.equal(await told(wall + 321), words, 'no address');
  const sentence = 'evm-dev: the node is of chain id 1, not 31337 as configured';
  busy.failure = new ParleyError('chain_unavailable', sentence, { chainId: 31_337 });
  assert.equal(
    await told(wall + 322),
    `node_silent: node 1 of evm-dev: ${sentence}; 1 of 2 is heard`,
  );
  busy.fails = false;
  assert.equal(await told(wall + 323), '');
  busy.fails = true;
  assert.equal(await told(wall + 324), '', 'it begins anew');
});

test('nodes that differ stop all from the first moment, and are told once it lasts', async () => {
  const differing: Asking['differing'] = new Map();
  const other = { facts: nothingSeen, height: 100 };
  const nodes = [{ facts: funded, height: 100, hash: 'first' }, other];
  const look = async (at: number) => {
    const { agreed, doubts, isBrief } = await seen(nodes, { differing, wall: at });
    return [agreed, doubts.length, isBrief];
  };
  assert.deepEqual(await look(wall), [false, 1, true]);
  assert.deepEqual(await look(wall + 4), [false, 1, true]);
  assert.deepEqual(await look(wall + 5), [false, 1, false]);
  other.facts = funded;
  assert.deepEqual((await look(wall + 6)).slice(0, 2), [true, 0]);
  other.facts = nothingSeen;
  assert.deepEqual(await look(wall + 7), [false, 1, true]);
});

test('before a node is said to be ahead the clock is read anew', async () => {
  const node = { facts: funded, height: 100, hash: 'first', clock: wall + 400 };
  const codes = async (now: number) => {
    const { agreed, doubts } = await seen([node], { now: async () => now });
    return [agreed, doubts.map(({ code }) => code).join()];
  };
  assert.deepEqual(await codes(wall + 400), [true, '']);
  assert.deepEqual(await codes(wall), [false, 'node_ahead']);
});

test('while a node that has spoken fails, an invented time of another one is not believed', async () => {
  const node = { facts: funded, height: 100, hash: 'first', clock: wall + 86_400 };
  const busy: Node = { facts: funded, height: 100, hash: 'first', fails: false };
  const silent: Asking['silent'] = new Map();
  const latest = async (at: number) => (await seen([node, busy], { silent, wall: at })).latest;
  assert.equal(await latest(wall), wall);
  busy.fails = true;
  assert.equal(await latest(wall + 400), wall + 400);
  assert.equal(await latest(wall + 1_000), wall + 1_000);
  // It is gone for good, and this device's clock may be the wrong one.
  assert.equal(await latest(wall + 1_001), wall + 86_400);
});

test('the block of what is at depth is that which each node names', async () => {
  const first = { facts: funded, height: 100, hash: 'first' };
  const marksBy = async (...others: readonly Node[]) => (await seen([first, ...others])).marks;
  assert.deepEqual(await marksBy({ ...first, hash: 'second' }), {}, 'they differ');
  assert.deepEqual(await marksBy({ ...first, hash: null }), { funded: mark }, 'one says nothing');
  assert.deepEqual(await marksBy(first), { funded: mark });
});

/** Kept while the other node was silent. */
const claimedBy = (node: number): Memory => {
  const claimed = { ...funded, claimed: deep, balance: 0n };
  return {
    facts: claimed,
    marks: { funded: mark, claimed: mark, alone: { claimed: { node, of: 2 } } },
  };
};

test('a fact that one node of several alone has shown is kept as such, until another one shows it', async () => {
  const well = { facts: funded, height: 100, hash: 'first' };
  const gone = { facts: funded, height: 100, fails: true };
  const alone = { funded: { node: 0, of: 2 } };
  const silent: Asking['silent'] = new Map();
  const { marks } = await seen([well, gone], { silent });
  assert.deepEqual(marks, { funded: mark, alone });
  const kept: Memory = { facts: funded, marks };
  assert.deepEqual((await seen([well, gone], { memory: kept })).marks, marks);
  assert.deepEqual((await seen([well, well], { memory: kept })).marks, { funded: mark });
  assert.deepEqual((await seen([gone, well], { memory: kept })).marks, { funded: mark });
});

test('a fact that one node showed and all deny for longer than an outage is forgotten, by another than that', async () => {
  const { outageSeconds } = pinned['evm-dev']!.source.view.policy.normal;
  const open = { facts: funded, height: 100, hash: 'first' };
  const gone = { facts: funded, height: 100, fails: true };
  const after = async (nodes: readonly Node[], memory: Memory, lasts = outageSeconds + 1) => {
    const denied: Asking['denied'] = new Map();
    // Gone for good, and not for a moment.
    const since = { hasSpoken: true, failedAt: wall - 700 };
    const silent: Asking['silent'] = new Map(nodes.map((_, at) => [`${at} evm-dev`, since]));
    const at = (now: number) => ({ memory, denied, silent: new Map(silent), wall: now });
    const shown = { ...open, clock: wall + lasts };
    const now = nodes.map((each) => (each === open ? shown : each));
    assert.equal((await seen(nodes, at(wall))).agreed, false, 'it is refused at first');
    const { agreed, facts, doubts, marks } = await seen(now, at(wall + lasts));
    return { agreed, claimed: facts.claimed, said: doubts[0]?.sentence ?? '', marks };
  };
  const { agreed, claimed, said, marks } = await after([gone, open], claimedBy(0));
  assert.deepEqual([agreed, claimed, marks.claimed], [true, null, undefined]);
  assert.match(
    said,
    /^one node of evm-dev alone showed that an escrow was claimed, and all others/,
  );
  assert.equal((await after([open], claimedBy(0))).agreed, true, 'its node was taken away');
  const isKept = async (...given: Parameters<typeof after>) => {
    assert.equal((await after(...given)).agreed, false);
  };
  await isKept([gone, open], claimedBy(0), outageSeconds);
  // The one that showed it is stale now; and so may a customer’s only node be.
  await isKept([gone, open], claimedBy(1));
  assert.equal((await after([open, open], claimedBy(0))).agreed, true, 'it denies its own word');
  await isKept([open], { ...claimedBy(0), marks: { funded: mark, claimed: mark } });
  await isKept([open, { ...open, facts: claimedBy(0).facts! }], claimedBy(1));
});

test('a node too slow to name a block has spoken against what is remembered', async () => {
  const slow = { facts: nothingSeen, height: 100, hash: new Error('too late') };
  const { doubts, agreed } = await seen([slow], { memory });
  assert.deepEqual([doubts.map(({ code }) => code), agreed], [['answer_refused'], false]);
});

test('where looks are far apart a slow node is waited for: its old word would seem stale', async () => {
  const late: Asking['late'] = new Map();
  const slow = { facts: nothingSeen, height: 100, waits: withResolvers<void>() };
  const nodes = [{ facts: funded, height: 100, hash: 'first' }, slow];
  await seen(nodes, { late, othersMs: 1 });
  slow.waits.resolve();
  await late.get('1 own')?.look;
  const before = late.get('1 own')!;
  slow.facts = funded;
  const agreedAt = async (at: number) => {
    late.set('1 own', before);
    slow.waits = withResolvers();
    const looked = seen(nodes, { late, othersMs: 1, wall: at });
    setTimeout(() => slow.waits.resolve(), 50);
    return (await looked).agreed;
  };
  assert.equal(await agreedAt(wall + 60), false, 'by its word of a minute ago');
  assert.equal(await agreedAt(wall + 61), true, 'by its answer of now');
});

test('where no node answers the reason of the first is given', async () => {
  const limit = AbortSignal.timeout(50);
  const hangs = { facts: funded, height: 1, hangs: true };
  await assert.rejects(seen([hangs], { limit }), { code: 'chain_timeout' });
  const failure = new ParleyError('chain_unavailable', 'the contract is another one', {});
  const nodes = [{ ...hangs, hangs: false, fails: true, failure }, hangs];
  const message = 'node 1 of evm-dev: the contract is another one';
  const soon = () => ({ limit: AbortSignal.timeout(50) });
  await assert.rejects(seen(nodes, soon()), { code: 'chain_unavailable', message });
  const late = 'node 1 of evm-dev did not answer in time';
  await assert.rejects(seen([hangs, hangs], soon()), { code: 'chain_timeout', message: late });
});
