import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntil } from '@parley/verify/test/support/waiting.ts';
import { stateData } from '../escrows/calls.ts';
import type { TronAdapter } from './adapter.ts';
import { changes } from './follow.ts';
import type { Head } from './node.ts';
import { claimCall, contractEscrow, fundCalls } from './plan.ts';
import { tronDevPolicy } from './policy.ts';
import {
  adapterOn,
  anyone,
  claim,
  fund,
  inputOf,
  type Leg,
  newLeg,
  post,
  quoting,
  refund,
  send,
  signal,
} from './testing/chain.ts';
import type { Lie } from './testing/nodes.ts';
import { tronWorld } from './testing/world.ts';
import { wordsOf } from './views.ts';
import { blocksToSearch, type Known, newWatch } from './watch.ts';

const { chain, adapterOf, adapterOver, urlOf } = await tronWorld();

const touchedBy = async (adapter: TronAdapter) => (await adapter.changes(signal())).touched;

test('a transaction that waits for a block is no fact: the head shows it as if it had happened', async () => {
  const adapter = adapterOf();
  const token = chain.token('DevDollar');
  for (const over of [{}, { token }]) {
    const leg = newLeg(chain, over);
    const { contract } = chain.deployment;
    await fund(chain, leg);
    await chain.solidify();
    const before = await adapter.readEscrow(leg.escrow, signal());
    assert.equal(before.funded?.deep, true);
    await chain.pass(7_200);
    const late = await send(chain, anyone, claimCall(leg.terms, chain.deployment, leg.secret));
    const data = stateData(contractEscrow(leg.terms)).slice(2);
    const shown = await wordsOf(adapter.node, 'head', contract, data, 1, signal());
    assert.deepEqual(shown, [2n]);
    const facts = await adapter.readEscrow(leg.escrow, signal());
    assert.deepEqual([facts.claimed, facts.balance], [null, leg.terms.amount]);
    assert.deepEqual([facts.funded?.deep, facts.funded?.txid], [true, before.funded?.txid]);
    await adapter.buildRefund(inputOf(leg), signal());
    await refund(chain, leg);
    const after = await adapter.readEscrow(leg.escrow, signal());
    assert.deepEqual([after.claimed, after.refunded?.confirmations], [null, 1]);
    assert.notEqual(after.refunded?.txid, late);
  }
});

test('a claim that waits is sought in no block that was followed and is not about its escrow', async () => {
  const leg = newLeg(chain);
  let searched = 0;
  const adapter = await adapterOver(({ path }, forward) => {
    if (/getblockbynum$|gettransactioninfo/.test(path)) searched += 1;
    return forward();
  });
  adapter.watch([leg.escrow]);
  await fund(chain, leg);
  await chain.solidify();
  await chain.pass(7_200);
  await adapter.changes(signal());
  await adapter.readEscrow(leg.escrow, signal());
  await send(chain, anyone, claimCall(leg.terms, chain.deployment, leg.secret));
  searched = 0;
  const { claimed, balance } = await adapter.readEscrow(leg.escrow, signal());
  assert.deepEqual([claimed, balance, searched], [null, leg.terms.amount, 0]);
});

test('a funding in a block that was followed is read again only where another came in its place', async () => {
  const leg = newLeg(chain);
  let read = 0;
  const adapter = await adapterOver(({ path }, forward) => {
    if (/getblockbynum$|gettransactioninfo/.test(path)) read += 1;
    return forward();
  });
  adapter.watch([leg.escrow]);
  await adapter.changes(signal());
  const funding = async () => (await adapter.readEscrow(leg.escrow, signal())).funded;
  const first = await fund(chain, leg);
  await chain.dev.mine(1);
  await adapter.changes(signal());
  read = 0;
  assert.deepEqual([await funding(), read], [{ txid: first, confirmations: 2, deep: false }, 0]);
  await chain.dev.simulator.chain.takeBack(2);
  await chain.dev.mine(1);
  const second = await fund(chain, leg);
  assert.deepEqual(await funding(), { txid: second, confirmations: 1, deep: false });
  await adapter.changes(signal());
  await chain.solidify();
  await adapter.changes(signal());
  read = 0;
  const solid = await funding();
  assert.deepEqual([solid?.txid, solid?.deep, read], [second, true, 0]);
});

test('a block that was not followed, or followed beside this head or unwatched, is searched', () => {
  const about = [null, new Set<string>(), new Set<string>(), new Set(['it']), new Set<string>()];
  const headOf = (number: number, more: Partial<Head> = {}): Head => {
    return { number, parentHash: `${number - 1}`, timestampMs: 3_000 * number, ...more };
  };
  const blocks = about.map((each, at) => ({ ...headOf(at), hash: `${at}`, about: each }));
  const sought = (head: Head, since = 0) => {
    const known = new Map([['it', { since } as Known]]);
    return blocksToSearch({ known, blocks }, 'it', 0, head);
  };
  assert.deepEqual(sought(headOf(4)), [3]);
  assert.deepEqual(sought(headOf(4), 1), [1, 3]);
  assert.deepEqual(sought(headOf(5)), [3, 5]);
  assert.deepEqual(sought(headOf(4, { timestampMs: 15_000 })), [3, 4]);
  assert.deepEqual(sought(headOf(4, { parentHash: 'another' })), [1, 2, 3, 4]);
  const unknown = { known: new Map<string, Known>(), blocks };
  assert.deepEqual(blocksToSearch(unknown, 'it', 0, headOf(2)), [1, 2]);
  const begun = { ...unknown, known: new Map([['it', { since: 0 } as Known]]) };
  assert.deepEqual(blocksToSearch(begun, 'it', -1, headOf(2)), [0]);
});

test('a node that is slow with receipts holds up no read, and its late answers are told then', async (t) => {
  const leg = newLeg(chain);
  const open = newLeg(chain);
  // The lane drops its entry for the funding once it is claimed; the node's index of events keeps
  // it.
  const made = [await fund(chain, leg), await claim(chain, leg)];
  const funded = await fund(chain, open);
  let held: Promise<void> | null = null;
  let asked = 0;
  const adapter = await adapterOver(async ({ path }, forward) => {
    if (/getblockbynum|gettransactioninfo/.test(path)) {
      asked += 1;
      await held;
    }
    return forward();
  });
  const idsOf = async ({ escrow }: Leg) => {
    const { funded, claimed } = await adapter.readEscrow(escrow, signal());
    return [funded?.txid, claimed?.txid];
  };
  /** The ids that a read gives while no receipt comes for so long. */
  const without = async (each: Leg, ms: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    [held, asked] = [promise, 0];
    const ids = idsOf(each);
    await waitUntil(() => asked > 0);
    t.mock.timers.tick(ms);
    return { ids, answer: resolve };
  };
  await touchedBy(adapter);
  adapter.watch([leg.escrow, open.escrow]);
  await touchedBy(adapter);
  // The types of Node do not know this one.
  t.mock.timers.enable({ apis: ['AbortSignal.timeout' as 'setTimeout'] });
  // Its secret is worth all the time there is.
  const first = await without(leg, 2_000);
  first.answer();
  assert.deepEqual(await first.ids, made);
  const tooLate = await without(open, 2_000);
  assert.deepEqual(await tooLate.ids, ['unknown', undefined]);
  tooLate.answer();
  await waitUntil(async () => (await touchedBy(adapter)).includes(open.escrow.address));
  held = new Promise(() => {});
  assert.deepEqual(await idsOf(open), [funded, undefined]);
});

test('a claim through a contract that hides it is found by its log', async () => {
  const leg = newLeg(chain);
  const hidden: Lie = async ({ path }, forward) => {
    const said = await forward();
    if (path !== 'wallet/getblockbylimitnext') return said;
    return { body: JSON.parse(JSON.stringify(said.body).replace(/"raw_data_hex":"\w+"/g, none)) };
  };
  const none = '"raw_data_hex":"00"';
  const adapter = await adapterOver(hidden);
  adapter.watch([leg.escrow]);
  await adapter.changes(signal());
  await fund(chain, leg);
  assert.deepEqual(await touchedBy(adapter), [leg.escrow.address]);
  await claim(chain, leg);
  assert.deepEqual(await touchedBy(adapter), [leg.escrow.address]);
  assert.equal((await adapter.readEscrow(leg.escrow, signal())).secret, leg.secret);
});

test('logs that a node keeps back do not hide a funding or a claim', async () => {
  const leg = newLeg(chain);
  const [call] = fundCalls(leg.terms, chain.deployment, 0n);
  assert.ok(call);
  await send(chain, anyone, call); // in the same block, and fails: it is not the funder's
  const fundTx = await fund(chain, leg);
  const bare: Lie = async ({ path }, forward) => {
    const said = await forward();
    if (path === 'wallet/gettransactioninfobyid') {
      return { body: { ...(said.body as object), log: undefined } };
    }
    if (path !== 'wallet/gettransactioninfobyblocknum') return said;
    const infos = (said.body as object[]).map((each) => ({ ...each, log: undefined }));
    return { body: infos };
  };
  const before = await (await adapterOver(bare)).readEscrow(leg.escrow, signal());
  assert.equal(before.funded?.txid, fundTx);
  const follower = await adapterOver(bare);
  follower.watch([leg.escrow]);
  const claimTx = await claim(chain, leg);
  await follower.changes(signal());
  for (const adapter of [await adapterOver(bare), follower]) {
    const facts = await adapter.readEscrow(leg.escrow, signal());
    assert.deepEqual([facts.claimed?.txid, facts.secret], [claimTx, leg.secret]);
  }
});

test('a block whose receipts the node has not got yet is not told as read', async () => {
  let isLate = false;
  const late: Lie = async ({ path }, forward) =>
    isLate && path === 'wallet/gettransactioninfobyblocknum' ? { body: [] } : forward();
  const adapter = await adapterOver(late);
  const leg = newLeg(chain);
  adapter.watch([leg.escrow]);
  const before = await adapter.changes(signal());
  assert.equal(before.readTo, before.heads.height);
  isLate = true;
  await fund(chain, leg);
  const during = await adapter.changes(signal());
  assert.deepEqual([during.touched, during.readTo], [[], before.readTo]);
  isLate = false;
  const after = await adapter.changes(signal());
  assert.deepEqual([after.touched, after.readTo], [[leg.escrow.address], after.heads.height]);
});

test('a node that keeps back old blocks is told as failing, and another one is asked first', async () => {
  const leg = newLeg(chain);
  let isLacking = false;
  const lacking = await urlOf(({ path }, forward) =>
    isLacking && path === 'wallet/getblockbylimitnext' ? { body: { block: [] } } : forward(),
  );
  const adapter = adapterOf(lacking, chain.url);
  adapter.watch([leg.escrow]);
  await adapter.changes(signal());
  isLacking = true;
  await fund(chain, leg);
  await chain.dev.mine(3);
  await assert.rejects(adapter.changes(signal()), { code: 'chain_unavailable' });
  assert.deepEqual(await touchedBy(adapter), [leg.escrow.address]);
});

test('the place of a time is sought anew where another chain came in this one’s place', async () => {
  const own = { chain: 'tron-dev', policy: tronDevPolicy, deployment: chain.deployment };
  const watch = newWatch({ ...own, http: adapterOf().node });
  await changes(watch, signal());
  watch.starts.set(600, 7);
  await chain.dev.mine(1);
  await changes(watch, signal());
  assert.equal(watch.starts.get(600), 7);
  const [first] = watch.blocks.splice(0);
  if (first !== undefined) watch.blocks.push({ ...first, number: 1, hash: 'of another' });
  await changes(watch, signal());
  assert.equal(watch.starts.size, 0);
});

test('a stranger who quotes a funding in the same block has not made it', async () => {
  const leg = newLeg(chain);
  const [call] = fundCalls(leg.terms, chain.deployment, 0n);
  assert.ok(call);
  await post(chain, quoting(chain, anyone, call.data));
  const fundTx = await fund(chain, leg);
  assert.equal((await adapterOf().readEscrow(leg.escrow, signal())).funded?.txid, fundTx);
});

test('a solid record whose transaction is nowhere is shown all the same, without its id', async () => {
  const leg = newLeg(chain);
  await fund(chain, leg);
  await chain.solidify();
  const nothing: Lie = async ({ path }, forward) => {
    if (path === 'wallet/gettransactioninfobyblocknum') return { body: [] };
    return path === 'wallet/getblockbynum' ? hide(await forward()) : forward();
  };
  const hide = ({ body }: { body: unknown }) => ({
    body: { ...(body as object), transactions: [] },
  });
  const facts = await (await adapterOver(nothing)).readEscrow(leg.escrow, signal());
  assert.equal(facts.funded?.txid, 'unknown');
  assert.equal(facts.balance, leg.terms.amount);
});

test('far behind, everybody is looked at again by state', async () => {
  const adapter = adapterOf();
  const leg = newLeg(chain);
  adapter.watch([leg.escrow]);
  await adapter.changes(signal());
  await fund(chain, leg);
  await chain.dev.mine(110);
  // Another process read them.
  adapter.resumeFrom?.((await adapter.heads(signal())).height);
  assert.deepEqual(await touchedBy(adapter), [leg.escrow.address]);
  assert.equal((await adapter.readEscrow(leg.escrow, signal())).funded?.deep, true);
  adapter.unwatch([leg.escrow.address]);
  await chain.pass(7_201);
  await refund(chain, leg);
  assert.deepEqual(await touchedBy(adapter), []);
});

test('without an index the secret of an old claim is searched in the blocks, and told when it is found', async () => {
  const leg = newLeg(chain);
  await fund(chain, leg);
  const claimTx = await claim(chain, leg);
  // More than it follows, and more than is searched at once.
  await chain.dev.mine(130);
  const sources = [{ url: chain.url, jsonRpcUrl: `${chain.url}/nowhere` }];
  const adapter = adapterOn(chain, [], { sources });
  adapter.watch([leg.escrow]);
  await adapter.changes(signal());
  const early = await adapter.readEscrow(leg.escrow, signal());
  assert.deepEqual([early.claimed?.deep, early.claimed?.txid], [true, 'unknown']);
  await waitUntil(async () => (await touchedBy(adapter)).includes(leg.escrow.address));
  const late = await adapter.readEscrow(leg.escrow, signal());
  assert.deepEqual([late.secret, late.claimed?.txid], [leg.secret, claimTx]);
});
