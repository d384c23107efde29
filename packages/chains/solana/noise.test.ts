// The texts that strangers may write: transactions that nothing can read, thousands of them, and
// nodes that are late with some. The market follows, claims and refunds all the same, and
// finds each secret.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
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

test('a transaction that the node holds back without end holds up nobody else', async (context) => {
  const world = await newWorld(context);
  const victim = escrowIn(world);
  const other = escrowIn(world, { amount: 1_500_000_000n });
  await fund(world, victim);
  await finalize(world);
  let bad = '';
  const adapter = await over(context, world, (call, forward) =>
    isRead(call) && call.params[0] === bad ? new Promise<object>(() => {}) : forward(),
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
