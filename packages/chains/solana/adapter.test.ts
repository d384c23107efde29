// The adapter on the dev chain: its view of an escrow's life, and the transactions it builds and
// sends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base64 } from '@scure/base';
import type { SolanaMaterial } from '../interface/material.ts';
import { solanaAddressBytes } from './address.ts';
import { unsignedTransaction } from './message.ts';
import { materialProblems, solanaDeployment, type Wanted } from './plan.ts';
import {
  built,
  claim,
  escrowIn,
  fund,
  moveTo,
  newWorld,
  refund,
  refuses,
  SOL,
  sceneOf,
  secret,
  sendRaw,
  signed,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

const assets = ['SOL', 'SPL dollar'] as const;
const tokenOf = (world: World, asset: (typeof assets)[number]) =>
  asset === 'SOL' ? { token: null, amount: 2n * SOL } : { token: world.dollar, amount: 7_000_000n };

for (const asset of assets) {
  test(`${asset}: what the adapter builds is what the plan wants, with the deadline of its blockhash`, async (context) => {
    const world = await newWorld(context);
    const { adapter } = world;
    const escrow = escrowIn(world, tokenOf(world, asset));
    assert.equal(await adapter.decimals?.(world.dollar, soon()), 6);
    const none = adapter.decimals?.(escrow.terms.refund.address, soon());
    await refuses(none ?? Promise.resolve(), 'payout_would_fail', /not to a token program/);
    const mustBeOurs = (material: SolanaMaterial, wanted: Wanted) => {
      assert.deepEqual(materialProblems(material, wanted, escrow.terms, solanaDeployment), []);
    };
    const funding = (await adapter.buildFund(built(escrow), soon())) as SolanaMaterial;
    mustBeOurs(funding, { verb: 'fund' });
    const { height } = await adapter.heads(soon());
    assert.equal(funding.lastValidBlockHeight, height + 150);
    await fund(world, escrow);
    const claiming = await adapter.buildClaim(built(escrow), secret, soon());
    mustBeOurs(claiming as SolanaMaterial, { verb: 'claim', secret });
    await refuses(refund(world, escrow), 'refused_by_node', /0x11/);
    await moveTo(world, escrow.terms.timelock);
    await refund(world, escrow);
    await refuses(adapter.buildFund(built(escrow), soon()), 'too_late_to_fund', /1800 s ahead/);
  });
}

/** A transaction by a stranger with this data and these accounts for some program. */
async function strange(world: World, program: string, data: Uint8Array, accounts: string[]) {
  const { value } = await world.chain.rpc.getLatestBlockhash({ commitment: 'processed' }).send();
  const roles = accounts.map((address) => ({ address, signs: false, writes: true }));
  const instructions = [{ program, accounts: roles, data }];
  const bytes = unsignedTransaction(walletOf('stranger'), instructions, value.blockhash);
  const material = {
    sign: 'solana-tx',
    transaction: base64.encode(bytes),
  } as SolanaMaterial;
  await sendRaw(world, signed(material, 'stranger'));
}

const claimData = (extra = 0) =>
  Uint8Array.from([1, 0, 0, 0, 0, 0, 0, 0, ...Buffer.from(secret, 'hex'), ...Array(extra).fill(7)]);

test('a claim that fails has shown its secret: changes finds it, whatever its form', async (context) => {
  for (const extra of [0, 5]) {
    const { world, escrow, adapter } = await sceneOf(context, fund);
    adapter.watch([escrow]);
    await adapter.changes(soon());
    await adapter.readEscrow(escrow, soon());
    // The payout is a stranger's, so the program refuses.
    const accounts = [escrow.address, walletOf('stranger'), walletOf('funder')];
    await strange(world, solanaDeployment.program, claimData(extra), accounts);
    assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
    const facts = await adapter.readEscrow(escrow, soon());
    assert.equal(facts.secret, secret);
    assert.equal(facts.claimed, null);
    assert.equal(facts.funded !== null, true);
  }
});

test('a secret shown to another program by a transaction that names the escrow is found by reading it', async (context) => {
  const { world, escrow, adapter } = await sceneOf(context, fund);
  await adapter.readEscrow(escrow, soon());
  await strange(world, '11111111111111111111111111111111', claimData(), [escrow.address]);
  assert.equal((await adapter.readEscrow(escrow, soon())).secret, secret);
});

test('a clock too far from the wall’s stops funding and revealing, not refunds or public claims', async (context) => {
  const world = await newWorld(context);
  const { adapter, chain } = world;
  const escrow = escrowIn(world);
  const other = escrowIn(world, { amount: SOL });
  await fund(world, escrow);
  for (const drift of [121, -121]) {
    chain.drift(drift);
    world.time.now += drift < 0 ? 400 : 0;
    await chain.mine(2);
    const words = drift > 0 ? /ahead/ : /behind/;
    await refuses(adapter.buildFund(built(other), soon()), 'sources_disagree', words);
    await refuses(adapter.buildClaim(built(escrow), secret, soon()), 'sources_disagree', words);
    await refuses(adapter.mustAgree(escrow, soon()), 'sources_disagree', words);
    await adapter.buildRefund(built(escrow), soon());
  }
  await strange(world, solanaDeployment.program, claimData(), [
    escrow.address,
    walletOf('stranger'),
  ]);
  adapter.watch([escrow]);
  await adapter.readEscrow(escrow, soon());
  await claim(world, escrow);
  chain.drift(120);
  await chain.mine(2);
  await adapter.buildFund(built(other), soon());
});

test('a stranger who names an escrow in a funding of its own does not fund it', async (context) => {
  const { world, escrow, adapter } = await sceneOf(context);
  await adapter.readEscrow(escrow, soon());
  const refund = { address: walletOf('stranger'), pubkey: null };
  const own = escrowIn(world, { refund });
  const material = (await adapter.buildFund(built(own), soon())) as SolanaMaterial;
  const bytes = Buffer.from(base64.decode(material.transaction));
  const at = bytes.indexOf(solanaAddressBytes(own.address));
  bytes.set(solanaAddressBytes(escrow.address), at);
  const bent = { ...material, transaction: bytes.toString('base64') };
  const { touches } = await adapter.readSigned(signed(bent, 'stranger'), soon());
  assert.deepEqual(touches, []);
});
