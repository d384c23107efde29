// An escrow whose account is gone: refunded, claimed and closed, or never funded. Which of them is
// told by what was seen of it and by its transactions, and never guessed. With all of them at hand:
// verify/test/adapters/ends-told.ts.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { legStatus, nothingSeen, type Sighting } from '@parley/core/facts.ts';
import type { SolanaMaterial } from '../interface/material.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { SolanaAdapter, SolanaAdapterOptions } from './adapter.ts';
import { readTransaction } from './message.ts';
import { latestBlockhash } from './node.ts';
import {
  decodeInstruction,
  materialProblems,
  solanaDeployment,
  solanaTransaction,
} from './plan.ts';
import { type Call, lyingNode, youngNode } from './testing/nodes.ts';
import {
  adapterOf,
  built,
  claim,
  escrowIn,
  finalize,
  fund,
  HOUR,
  lyingAdapter,
  moveTo,
  newWorld,
  refund,
  refuses,
  release,
  SOL,
  sceneOf,
  secret,
  sent,
  signed,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

const coins = ['SOL', 'a token'] as const;
const escrowOf = (world: World, coin: (typeof coins)[number]): WatchedEscrow =>
  escrowIn(world, coin === 'SOL' ? {} : { token: world.dollar, amount: 5_000_000n });

const another = (
  world: World,
  urls?: readonly string[],
  more: Partial<SolanaAdapterOptions> = {},
) => adapterOf(world, [], { ...(urls && { rpcUrls: urls }), ...more });

async function lamportsOf({ chain }: World, of: string): Promise<bigint> {
  const answer = await chain.rpc.getBalance(of as never, { commitment: 'processed' }).send();
  return answer.value;
}

/** Passes the timelock, and brings the funder what there is then. */
async function returned(world: World, escrow: WatchedEscrow): Promise<string> {
  await finalize(world);
  await moveTo(world, escrow.terms.timelock);
  const txid = await refund(world, escrow);
  await finalize(world);
  return txid;
}

async function refunded(world: World, escrow: WatchedEscrow): Promise<void> {
  await fund(world, escrow);
  await returned(world, escrow);
}

async function closed(world: World, escrow: WatchedEscrow) {
  const fundTx = await fund(world, escrow);
  const claimTx = await claim(world, escrow);
  await returned(world, escrow);
  assert.equal(await lamportsOf(world, escrow.address), 0n);
  return { fundTx, claimTx };
}

function verbOf({ transaction }: SolanaMaterial): string | undefined {
  const { keys, instructions } = readTransaction(transaction);
  const own = instructions.at(-1)!;
  const accounts = own.accounts.map((at) => keys[at] ?? null);
  return decodeInstruction(own.data, accounts)?.verb;
}

for (const coin of coins) {
  test(`${coin}: what a claim left is built for the funder from the timelock on, with nobody gaining`, async (context) => {
    const world = await newWorld(context);
    const escrow = escrowOf(world, coin);
    const { adapter } = world;
    adapter.watch([escrow]);
    const before = await lamportsOf(world, walletOf('funder'));
    await fund(world, escrow);
    await claim(world, escrow);
    const early = adapter.buildRefund(built(escrow), soon());
    await refuses(
      early,
      'nothing_there',
      new RegExp(`goes to the funder from ${escrow.terms.timelock}`),
    );
    await moveTo(world, escrow.terms.timelock);
    const material = (await adapter.buildRefund(built(escrow), soon())) as SolanaMaterial;
    assert.equal(verbOf(material), 'close');
    const problems = materialProblems(material, { verb: 'refund' }, escrow.terms, solanaDeployment);
    assert.deepEqual(problems, []);
    // It passes for a refund where it is sent: it brings the funder what is there.
    const read = await adapter.readSigned(signed(material, 'funder'), soon());
    assert.deepEqual(read.touches, [{ escrow: escrow.address, verb: 'refund', secret: null }]);
    await sent(world, material, 'funder');
    await world.chain.mine(2);
    const paid = coin === 'SOL' ? escrow.terms.amount : 0n;
    assert.equal(before - (await lamportsOf(world, walletOf('funder'))), paid + 2n * 5_000n);
    await refuses(adapter.buildRefund(built(escrow), soon()), 'nothing_there', /has no account/);
    await refuses(adapter.buildClaim(built(escrow), secret, soon()), 'nothing_there');
    await refuses(adapter.buildFund(built(escrow), soon()), 'too_late_to_fund');
  });
}

test('an escrow that nobody funded is unfunded after its timelock too, whatever was sent there', async (context) => {
  const { world, escrow } = await sceneOf(context);
  await moveTo(world, escrow.terms.timelock + HOUR);
  await finalize(world);
  assert.deepEqual(await world.adapter.readEscrow(escrow, soon()), nothingSeen);
  await refuses(world.adapter.buildRefund(built(escrow), soon()), 'nothing_there');
  await world.chain.give({ address: escrow.address, token: null, amount: SOL });
  await finalize(world);
  for (const adapter of [world.adapter, another(world)]) {
    assert.deepEqual(await adapter.readEscrow(escrow, soon()), nothingSeen);
  }
  const before = await lamportsOf(world, walletOf('funder'));
  await refund(world, escrow);
  assert.equal((await lamportsOf(world, walletOf('funder'))) - before, SOL - 5_000n);
  await finalize(world);
  // A closing alone says nothing of a funding.
  assert.deepEqual(await another(world).readEscrow(escrow, soon()), nothingSeen);
});

/** Its leg is `seen`, so that nobody funds on it. */
async function tellsNothing(adapter: SolanaAdapter, escrow: WatchedEscrow): Promise<void> {
  const facts = await adapter.readEscrow(escrow, soon());
  assert.deepEqual(facts, { ...nothingSeen, outcome: 'unknown' });
  assert.equal(legStatus(facts), 'seen');
}

const unreadable = { error: { code: -32_015, message: 'Transaction version (1)' } };
const ends = { refunded, closed, 'never funded': async () => {} } as const;

for (const [name, end] of Object.entries(ends)) {
  test(`${name}: a node that has pruned those blocks makes the outcome unknown`, async (context) => {
    const world = await newWorld(context);
    const escrow = { ...escrowIn(world), since: world.time.now - HOUR };
    await end(world, escrow);
    await moveTo(world, escrow.terms.timelock + HOUR);
    await finalize(world);
    const { slot } = await latestBlockhash(world.adapter.node, 'finalized', soon());
    const young = await youngNode(context, world.chain.info.rpcUrl, () => slot);
    await tellsNothing(another(world, [young]), escrow);
    // A node that has them all still knows.
    const facts = await another(world).readEscrow(escrow, soon());
    assert.equal(facts.funded !== null, name !== 'never funded');
    if (name === 'never funded') return;
    const stored = { ...escrow, stored: facts };
    assert.deepEqual(await another(world, [young]).readEscrow(stored, soon()), facts);
    // Not deep when it was stored: it stays what it was, and is no outcome.
    const [claimed, refunded] = [facts.claimed, facts.refunded].map(
      (each) => each && { ...each, deep: false },
    ) as [Sighting | null, Sighting | null];
    const shallow = { ...facts, claimed, refunded };
    const before = { ...escrow, stored: shallow };
    const shown = await another(world, [young]).readEscrow(before, soon());
    assert.deepEqual(shown, { ...shallow, outcome: 'unknown' });
  });
}

for (const name of ['refunded', 'closed', 'released'] as const) {
  test(`${name}: who saw it before needs no history for how it ended`, async (context) => {
    const { world, escrow } = await sceneOf(context);
    // The secret of a claim is in its transaction alone.
    let hides = name !== 'closed';
    const url = await hiding(
      context,
      world,
      ({ method }) => hides && method !== 'getMultipleAccounts',
    );
    const adapter = another(world, [url], { historyWaitMs: 500 });
    const through = { ...world, adapter };
    await fund(through, escrow);
    if (name === 'closed') await claim(through, escrow);
    else if (name === 'released') await release(through, escrow);
    else await moveTo(through, escrow.terms.timelock);
    await finalize(world);
    adapter.watch([escrow]);
    await adapter.readEscrow(escrow, soon());
    if (name !== 'refunded') await moveTo(through, escrow.terms.timelock);
    await refund(through, escrow);
    await finalize(world);
    hides = true;
    const facts = await adapter.readEscrow(escrow, soon());
    assert.equal(facts.claimed?.deep ?? false, name === 'closed');
    assert.equal(facts.refunded?.deep ?? false, name !== 'closed');
    assert.equal(facts.funded?.deep, true);
    assert.equal(facts.empty, true);
  });
}

/** A node that lists nothing and gives nothing, where it is told to hide it. */
function hiding(context: TestContext, world: World, isHidden: (call: Call) => boolean) {
  return lyingNode(context, world.chain.info.rpcUrl, (call, forward) => {
    if (!isHidden(call)) return forward();
    if (call.method === 'getSignaturesForAddress') return { result: [] };
    return call.method === 'getTransaction' ? { result: null } : forward();
  });
}

/** Over a node that answers so for a transaction that is in this set. */
const withholding = (context: TestContext, world: World, withheld: Set<string>, answer: object) =>
  lyingAdapter(context, world, ({ method, params }, forward) =>
    method === 'getTransaction' && withheld.has(params[0] as string) ? answer : forward(),
  );

test('a transaction that is listed and not given, or cannot be read, leaves the outcome unknown', async (context) => {
  const { world, escrow } = await sceneOf(context);
  const { fundTx, claimTx } = await closed(world, escrow);
  for (const answer of [{ result: null }, unreadable]) {
    const withheld = new Set([claimTx]);
    await tellsNothing(await withholding(context, world, withheld, answer), escrow);
    // A funding is not needed to tell a claim.
    const other = await withholding(context, world, new Set([fundTx]), answer);
    const facts = await other.readEscrow(escrow, soon());
    assert.deepEqual([facts.claimed?.txid, facts.secret], [claimTx, secret]);
  }
});

test('after a claim without the funder’s account its later refund is taken for none', async (context) => {
  const { world, escrow } = await sceneOf(context, fund);
  const material = (await world.adapter.buildClaim(
    built(escrow),
    secret,
    soon(),
  )) as SolanaMaterial;
  const { blockhash } = readTransaction(material.transaction);
  const wanted = { verb: 'claim', secret, withoutRefund: true } as const;
  const circumstances = { tokenProgram: null, blockhash, unitPrice: 0n };
  const short = solanaTransaction(escrow.terms, solanaDeployment, wanted, circumstances);
  const claimTx = await sent(world, { ...material, transaction: short }, 'payee');
  await world.chain.mine(2);
  await moveTo(world, escrow.terms.timelock);
  const rest = (await world.adapter.buildRefund(built(escrow), soon())) as SolanaMaterial;
  assert.equal(verbOf(rest), 'refund');
  await sent(world, rest, 'funder');
  await finalize(world);
  for (const adapter of [world.adapter, another(world)]) {
    const facts = await adapter.readEscrow(escrow, soon());
    assert.deepEqual([facts.claimed?.txid, facts.refunded], [claimTx, null]);
  }
  // Without the claim it looks like the refund of an open escrow.
  for (const answer of [{ result: null }, unreadable]) {
    await tellsNothing(await withholding(context, world, new Set([claimTx]), answer), escrow);
  }
});
