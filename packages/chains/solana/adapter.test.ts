// The adapter on the dev chain: its view of an escrow's life, and the transactions it builds and
// sends.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { nothingSeen } from '@parley/core/facts.ts';
import { base64 } from '@scure/base';
import type { SolanaMaterial } from '../interface/material.ts';
import { solanaAddressBytes } from './address.ts';
import { unsignedTransaction } from './message.ts';
import { materialProblems, solanaDeployment, type Wanted } from './plan.ts';
import {
  built,
  claim,
  escrowIn,
  finalize,
  fund,
  lyingAdapter,
  moveTo,
  newWorld,
  refund,
  refuses,
  SOL,
  sceneOf,
  secret,
  sendRaw,
  sent,
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

/** A node that is behind repeats its earlier answers about accounts. */
async function nodeBehind(context: TestContext, world: World) {
  const old = new Map<string, object>();
  let isBehind = false;
  const adapter = await lyingAdapter(context, world, async (call, forward) => {
    const asked = JSON.stringify([call.method, call.params]);
    const before = old.get(asked);
    if (isBehind && before !== undefined) return before;
    const answer = await forward();
    if (call.method === 'getMultipleAccounts') old.set(asked, answer);
    return answer;
  });
  const fallBehind = (is: boolean) => {
    isBehind = is;
  };
  return { adapter, fallBehind };
}

test('reads that a node behind answers keep nobody from observing a finality', async (context) => {
  const { world, escrow } = await sceneOf(context);
  const { adapter, fallBehind } = await nodeBehind(context, world);
  adapter.watch([escrow]);
  await adapter.changes(soon());
  assert.deepEqual(await adapter.readEscrow(escrow, soon()), nothingSeen);
  for (const [act, what] of [
    [fund, 'funded'],
    [claim, 'claimed'],
  ] as const) {
    await act(world, escrow);
    await adapter.changes(soon());
    fallBehind(true);
    assert.equal((await adapter.readEscrow(escrow, soon()))[what], null, 'as it was');
    await finalize(world);
    for (const head of [1, 2, 3]) {
      assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address], `head ${head}`);
      assert.equal((await adapter.readEscrow(escrow, soon()))[what], null);
      await world.chain.mine(1);
    }
    fallBehind(false);
    assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
    assert.equal((await adapter.readEscrow(escrow, soon()))[what]?.deep, true);
  }
  await world.chain.mine(1);
  assert.deepEqual((await adapter.changes(soon())).touched, []);
});

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

test('bytes with one bit turned, without a signature or of no transaction are refused', async (context) => {
  const { escrow, adapter } = await sceneOf(context);
  const unsigned = (await adapter.buildFund(built(escrow), soon())) as SolanaMaterial;
  const turned = [5, 100, 300].map((at) => {
    const bytes = base64.decode(signed(unsigned, 'funder'));
    bytes[at]! ^= 1;
    return base64.encode(bytes);
  });
  for (const bad of [...turned, unsigned.transaction, '{}']) {
    await refuses(adapter.readSigned(bad, soon()), 'bad_transaction');
  }
});

test('the node’s refusal comes in its own words; an old blockhash is one', async (context) => {
  const { world, escrow, adapter, chain } = await sceneOf(context);
  const late = await adapter.buildFund(built(escrow), soon());
  await chain.mine(160);
  await refuses(sent(world, late, 'funder'), 'refused_by_node', /Blockhash not found/);
  await fund(world, escrow);
  await moveTo(world, escrow.terms.timelock);
  const claiming = await adapter.buildClaim(built(escrow), secret, soon()).catch((error) => error);
  await refuses(sent(world, claiming, 'payee'), 'refused_by_node', /custom program error: 0x10/);
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

test('an amount that an empty wallet could not receive is refused, and one beyond 64 bits', async (context) => {
  const { adapter, dollar } = await newWorld(context);
  await refuses(adapter.checkAmount(null, 890_879n, soon()), 'amount_too_small');
  await adapter.checkAmount(null, 890_880n, soon());
  await adapter.checkAmount(dollar, 1n, soon());
  await refuses(adapter.checkAmount(dollar, 2n ** 64n, soon()), 'bad_amount');
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
