// A release: the payee gives the escrow back to its funder before the timelock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdingBytes } from '@parley/contracts/solana/testing/tokens.ts';
import { base64 } from '@scure/base';
import type { Address } from '@solana/kit';
import { solanaAddressBytes } from './address.ts';
import { readTransaction, unsignedTransaction } from './message.ts';
import { lamportsOf } from './node.ts';
import { materialProblems, solanaDeployment } from './plan.ts';
import { associatedTokenAccount, systemProgram, tokenProgram } from './programs.ts';
import { youngNode } from './testing/nodes.ts';
import {
  adapterOf,
  built,
  claim,
  escrowIn,
  finalize,
  fund,
  moveTo,
  newWorld,
  refund,
  refuses,
  release,
  releaseOf,
  SOL,
  sceneOf,
  secret,
  sent,
  signed,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

const wanted = { verb: 'release' } as const;

const wealth = async ({ adapter, dollar }: World) => ({
  sol: await lamportsOf(adapter.node, walletOf('funder'), soon()),
  tokens: await adapter.held?.(
    { token: dollar, refund: { address: walletOf('funder'), pubkey: null } },
    soon(),
  ),
});

for (const what of ['SOL', 'tokens'] as const) {
  test(`${what}: what a payee releases is its funder's at once, and is shown as refunded`, async (context) => {
    const world = await newWorld(context);
    const { adapter } = world;
    const token = what === 'SOL' ? null : world.dollar;
    const amount = what === 'SOL' ? 2n * SOL : 5_000_000n;
    const escrow = escrowIn(world, { token, amount });
    const { timelock } = escrow.terms;
    await refuses(releaseOf(world, escrow), 'nothing_there', /is not funded/);
    await fund(world, escrow);
    await finalize(world);
    adapter.watch([escrow]);
    const before = await wealth(world);
    const material = await releaseOf(world, escrow);
    assert.deepEqual(materialProblems(material, wanted, escrow.terms, solanaDeployment), []);
    const { touches } = await adapter.readSigned(signed(material, 'payee'), soon());
    const touch = { escrow: escrow.address, verb: 'refund', secret: null };
    assert.deepEqual(touches, [{ ...touch, isReleased: true }]);
    const txid = await release(world, escrow);
    const shallow = await adapter.readEscrow(escrow, soon());
    assert.deepEqual([shallow.refunded?.txid, shallow.refunded?.deep], [txid, false]);
    assert.deepEqual([shallow.balance, shallow.empty], [0n, false]);
    await finalize(world);
    const after = await wealth(world);
    const [sol, tokens] = what === 'SOL' ? [amount, 0n] : [0n, amount];
    assert.equal((after.tokens ?? 0n) - (before.tokens ?? 0n), tokens);
    assert.ok(after.sol - before.sol > sol, 'and most of the deposit with it');
    const kept = await lamportsOf(adapter.node, escrow.address, soon());
    for (const each of [adapter, adapterOf(world)]) {
      const facts = await each.readEscrow(escrow, soon());
      assert.deepEqual([facts.refunded?.txid, facts.refunded?.deep], [txid, true]);
      assert.deepEqual([facts.claimed, facts.secret, facts.balance], [null, null, 0n]);
      assert.deepEqual([facts.funded?.deep, facts.empty], [true, true]);
      assert.deepEqual(facts.rentLeft, { lamports: kept, from: timelock });
    }
    // It gives nothing more, and its terms are not funded again.
    await refuses(adapter.buildFund(built(escrow), soon()), 'already_funded');
    const claiming = adapter.buildClaim(built(escrow), secret, soon());
    await refuses(claiming, 'nothing_there', /was refunded/);
    await refuses(releaseOf(world, escrow), 'nothing_there', /from \d+ on/);
    await refuses(adapter.buildRefund(built(escrow), soon()), 'nothing_there', /from \d+ on/);
    await moveTo(world, timelock);
    await refund(world, escrow);
    await finalize(world);
    assert.equal(await lamportsOf(adapter.node, escrow.address, soon()), 0n);
    for (const each of [adapter, adapterOf(world)]) {
      const facts = await each.readEscrow(escrow, soon());
      assert.deepEqual([facts.refunded?.txid, facts.refunded?.deep], [txid, true]);
      assert.deepEqual([facts.claimed, facts.rentLeft], [null, undefined]);
    }
  });
}

test('from the timelock on a release is a refund, and what was claimed is not released', async (context) => {
  const { world, escrow } = await sceneOf(context, fund);
  const other = escrowIn(world, { amount: SOL });
  await fund(world, other);
  await claim(world, other);
  await refuses(releaseOf(world, other), 'nothing_there', /was claimed/);
  await moveTo(world, escrow.terms.timelock);
  const txid = await release(world, escrow);
  await finalize(world);
  const facts = await world.adapter.readEscrow(escrow, soon());
  assert.deepEqual([facts.refunded?.txid, facts.rentLeft], [txid, undefined]);
});

test('only its payee’s signature makes a transaction a release', async (context) => {
  const { world, escrow, adapter } = await sceneOf(context, fund);
  adapter.watch([escrow]);
  const payout = { address: walletOf('stranger'), pubkey: null };
  const own = escrowIn(world, { payout });
  await fund(world, own);
  const material = await releaseOf(world, own);
  const bytes = Buffer.from(material.transaction, 'base64');
  bytes.set(solanaAddressBytes(escrow.address), bytes.indexOf(solanaAddressBytes(own.address)));
  const { blockhash } = readTransaction(material.transaction);
  const roles = [escrow.address, walletOf('funder'), walletOf('payee')].map((address) => ({
    address,
    signs: false,
    writes: true,
  }));
  const data = Uint8Array.of(4, 0, 0, 0, 0, 0, 0, 0);
  const instruction = { program: solanaDeployment.program, accounts: roles, data };
  const unasked = unsignedTransaction(walletOf('stranger'), [instruction], blockhash);
  for (const [transaction, error] of [
    [base64.encode(bytes), /0x13/],
    [base64.encode(unasked), /0x3\b/],
  ] as const) {
    const bent = { ...material, transaction };
    const { touches } = await adapter.readSigned(signed(bent, 'stranger'), soon());
    assert.deepEqual(touches, [{ escrow: escrow.address, verb: 'refund', secret: null }]);
    await refuses(sent(world, bent, 'stranger'), 'refused_by_node', error);
  }
});

test('a funder who cannot take it back is told so, and the payee makes no account for it', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world, { token: world.dollar, amount: 5_000_000n });
  await fund(world, escrow);
  const owner = walletOf('funder') as Address;
  const holding = associatedTokenAccount(owner, world.dollar, tokenProgram);
  const put = (lamports: bigint, by: string, data: Uint8Array) =>
    world.chain.put(holding, { lamports, owner: by as Address, data, executable: false });
  put(0n, systemProgram, new Uint8Array());
  await refuses(releaseOf(world, escrow), 'payout_would_fail', /refund address .* WrongRefund/);
  const data = holdingBytes({ mint: world.dollar as Address, owner, amount: 0n });
  put(2_039_280n, tokenProgram, data);
  await release(world, escrow);
});

test('a node without its past shows a release as refunded all the same', async (context) => {
  const { world, escrow } = await sceneOf(context, fund);
  await release(world, escrow);
  await finalize(world);
  const { height } = await world.adapter.heads(soon());
  const young = await youngNode(context, world.chain.info.rpcUrl, () => height + 1_000);
  const adapter = adapterOf(world, [], { rpcUrls: [young], historyWaitMs: 500 });
  const facts = await adapter.readEscrow(escrow, soon());
  assert.deepEqual([facts.refunded?.deep, facts.claimed], [true, null]);
});

test('a release that the chain takes back leaves its escrow open, to be claimed', async (context) => {
  const { world, escrow, adapter } = await sceneOf(context, fund);
  await finalize(world);
  adapter.watch([escrow]);
  await release(world, escrow);
  assert.notEqual((await adapter.readEscrow(escrow, soon())).refunded, null);
  await world.chain.takeBack(2);
  await world.chain.mine(1);
  const facts = await adapter.readEscrow(escrow, soon());
  assert.deepEqual([facts.refunded, facts.balance], [null, escrow.terms.amount]);
  await claim(world, escrow);
  await finalize(world);
  const { claimed, refunded } = await adapter.readEscrow(escrow, soon());
  assert.deepEqual([claimed?.deep, refunded], [true, null]);
});
