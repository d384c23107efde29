// The texts that strangers may write: transactions that nothing can read, thousands of them, and
// nodes that are late with some. The market follows, claims and refunds all the same, and
// finds each secret.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import { readTransaction } from './message.ts';
import { crowdedNode, newCrowd } from './testing/crowd.ts';
import type { Call } from './testing/nodes.ts';
import {
  adapterOf,
  built,
  claim,
  escrowIn,
  finalize,
  fund,
  lyingAdapter,
  newWorld,
  sceneOf,
  secret,
  soon,
  type World,
} from './testing/world.ts';

type Answer = Record<string, unknown>;
type Lie = (call: Call, forward: () => Promise<Answer>) => Promise<object> | object;

const over = (context: TestContext, world: World, lie: Lie, logged: string[] = []) =>
  lyingAdapter(context, world, lie, logged);

/** Over a node that makes this of each transaction. */
const spoiling = (
  context: TestContext,
  world: World,
  spoil: (answer: Answer) => object,
  logged?: string[],
) =>
  over(
    context,
    world,
    async (call, forward) => (isRead(call) ? spoil(await forward()) : forward()),
    logged,
  );

/** As a program that calls itself with so much data would leave it. */
const longData = '2'.repeat(6_800);

/** The same transaction, with such an instruction among those that programs called. */
function poisoned(answer: Answer, program = 0, data = longData): Answer {
  const result = answer.result as { meta: { innerInstructions: object[] } };
  const call = { programIdIndex: program, accounts: [0], data, stackHeight: 2 };
  const inner = [...(result.meta.innerInstructions ?? []), { index: 0, instructions: [call] }];
  return { result: { ...result, meta: { ...result.meta, innerInstructions: inner } } };
}

const unsupported = {
  error: { code: -32_015, message: 'Transaction version (1) is not supported' },
};

const isRead = ({ method }: Call) => method === 'getTransaction';

/** The changes that a stranger can make to the answer for a transaction. */
const hostile: Record<string, (answer: Answer) => object> = {
  'ten kilobytes of inner data': (answer) => poisoned(answer),
  'a version nobody asked for': () => unsupported,
  'bytes that are no transaction': () => ({ result: { transaction: ['AAAA', 'base64'] } }),
};

for (const [what, spoil] of Object.entries(hostile)) {
  test(`${what}: neither following nor reading an escrow stops, and a refund is built`, async (context) => {
    const world = await newWorld(context);
    const logged: string[] = [];
    const adapter = await spoiling(context, world, spoil, logged);
    const escrow = escrowIn(world);
    adapter.watch([escrow]);
    await adapter.changes(soon());
    await fund(world, escrow);
    await finalize(world);
    assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
    const { funded, balance } = await adapter.readEscrow(escrow, soon());
    assert.equal(funded?.deep, true);
    assert.equal(balance, escrow.terms.amount);
    await adapter.buildRefund(built(escrow), soon());
    assert.equal(logged.includes('transaction_unreadable'), !what.includes('inner'));
  });
}

test('every escrow is read again after transactions that nobody could read, once a minute', async (context) => {
  const { world, escrow } = await sceneOf(context);
  const other = escrowIn(world, { amount: 1_000_000_000n });
  const adapter = await spoiling(context, world, () => unsupported);
  adapter.watch([escrow, other]);
  await adapter.changes(soon());
  const both = [escrow.address, other.address].sort();
  await fund(world, escrow);
  assert.deepEqual((await adapter.changes(soon())).touched.toSorted(), both);
  await finalize(world);
  await fund(world, other);
  await finalize(world);
  assert.deepEqual((await adapter.changes(soon())).touched, []);
  world.time.now += 61;
  assert.deepEqual((await adapter.changes(soon())).touched.toSorted(), both);
});

test('a transaction of the program that the node never gives holds up nobody behind it for ever', async (context) => {
  const { world, escrow } = await sceneOf(context);
  const logged: string[] = [];
  const adapter = await spoiling(context, world, () => ({ result: null }), logged);
  adapter.watch([escrow]);
  await adapter.changes(soon());
  await fund(world, escrow);
  await finalize(world);
  assert.deepEqual((await adapter.changes(soon())).touched, []);
  world.time.now += 31;
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  assert.ok(logged.includes('transaction_missing'));
});

type Listed = { signature: string; slot: number; err: null; confirmationStatus: string };

test('every escrow is read again after more transactions of the program than a pass lists', async (context) => {
  const { world, escrow } = await sceneOf(context);
  const logged: string[] = [];
  const { program: address } = world.chain.info;
  const held = { open: 0n, settled: 0n };
  const crowd = newCrowd({ address, held, answer: () => unsupported });
  const rpcUrls = [await crowdedNode(context, world, crowd)];
  const adapter = adapterOf(world, logged, { rpcUrls });
  adapter.watch([escrow]);
  await adapter.changes(soon());
  await fund(world, escrow);
  await finalize(world);
  crowd.above = 5_005;
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  assert.deepEqual((await adapter.changes(soon())).touched, []);
  assert.deepEqual(logged, ['far_behind']);
});

test('a claim that the node lists long before it gives it is asked for until it does', async (context) => {
  const { world, escrow } = await sceneOf(context, fund, finalize);
  let hidden = '';
  let asked = 0;
  const adapter = await over(context, world, (call, forward) => {
    if (!isRead(call) || call.params[0] !== hidden) return forward();
    asked += 1;
    return { result: null };
  });
  adapter.watch([escrow]);
  await adapter.readEscrow(escrow, soon());
  hidden = await claim(world, escrow);
  await finalize(world);
  for (let reads = 0; reads < 60; reads += 1) {
    const { secret: shown, claimed } = await adapter.readEscrow(escrow, soon());
    assert.equal(shown, null);
    assert.equal(claimed?.deep, true);
    world.time.now += reads % 2;
  }
  assert.ok(asked < 40, `asked ${asked} times in 60 reads`);
  hidden = '';
  world.time.now += 61;
  assert.equal((await adapter.readEscrow(escrow, soon())).secret, secret);
});

test('a claim that the node left out of its list is found once it lists it', async (context) => {
  const { world, escrow } = await sceneOf(context, fund);
  let hidden = await claim(world, escrow);
  await finalize(world);
  // Above it is another that names the escrow, so that it lies below what was read.
  await world.chain.give({ address: escrow.address, token: null, amount: 1_000_000n });
  await finalize(world);
  const adapter = await over(context, world, async (call, forward) => {
    const answer = await forward();
    if (call.method !== 'getSignaturesForAddress') return answer;
    const list = answer.result as Listed[];
    return { result: list.filter(({ signature }) => signature !== hidden) };
  });
  adapter.watch([escrow]);
  for (let reads = 0; reads < 5; reads += 1) {
    assert.equal((await adapter.readEscrow(escrow, soon())).secret, null);
  }
  hidden = '';
  world.time.now += 61;
  assert.equal((await adapter.readEscrow(escrow, soon())).secret, secret);
});

test('a history that the node refuses to show fails no read', async (context) => {
  const { world, escrow } = await sceneOf(context, fund, finalize);
  const logged: string[] = [];
  const refused = { error: { code: -32_011, message: 'no history here' } };
  const lie: Lie = ({ method }, forward) =>
    method === 'getSignaturesForAddress' ? refused : forward();
  const adapter = await over(context, world, lie, logged);
  const facts = await adapter.readEscrow(escrow, soon());
  assert.equal(facts.funded?.deep, true);
  assert.ok(logged.includes('history_unread'));
});

test("only our own instructions of a length that they have are decoded among programs' calls", async (context) => {
  const { world, escrow } = await sceneOf(context, fund);
  const program = world.chain.info.program;
  const bytes = (length: number) => {
    const data = new Uint8Array(length);
    data.set(hexToBytes(secret), 8);
    return base58.encode(data);
  };
  const found = async (isOurs: boolean, length: number) => {
    const adapter = await spoiling(context, world, (answer) => {
      const { transaction } = answer.result as { transaction: string[] };
      const { keys } = readTransaction(transaction[0] ?? '');
      return poisoned(answer, isOurs ? keys.indexOf(program) : 0, bytes(length));
    });
    return (await adapter.readEscrow(escrow, soon())).secret;
  };
  for (const length of [40, 45]) assert.equal(await found(true, length), secret);
  // Others cost their readers nothing, of whatever length.
  assert.equal(await found(false, 40), null);
  assert.equal(await found(true, 400), null);
});

const neverAnswers: Record<string, () => Promise<object>> = {
  'answers with a gateway’s error': async () => ({ jsonrpc: 'no answer' }),
  'holds back without end': () => new Promise(() => {}),
};

for (const [what, lie] of Object.entries(neverAnswers)) {
  test(`a transaction that the node ${what} holds up nobody else`, async (context) => {
    const world = await newWorld(context);
    const victim = escrowIn(world);
    const other = escrowIn(world, { amount: 1_500_000_000n });
    await fund(world, victim);
    await finalize(world);
    let bad = '';
    const adapter = await over(context, world, (call, forward) =>
      isRead(call) && call.params[0] === bad ? lie() : forward(),
    );
    adapter.watch([victim, other]);
    await adapter.changes(soon());
    bad = await claim(world, victim);
    await fund(world, other);
    await finalize(world);
    assert.ok((await adapter.changes(soon())).touched.includes(other.address));
    world.time.now += 31;
    assert.ok((await adapter.changes(soon())).touched.includes(victim.address));
    assert.equal((await adapter.readEscrow(victim, soon())).claimed?.deep, true);
  });
}
