// The adapter on the dev chain: what it shows of an escrow's life, and what it builds and sends.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { base64 } from '@scure/base';
import { nothingSeen } from '../../core/facts.ts';
import type { SolanaMaterial } from '../interface/material.ts';
import { solanaAddressBytes } from './address.ts';
import { unsignedTransaction } from './message.ts';
import { materialProblems, solanaDeployment } from './plan.ts';
import { type Call, lyingNode } from './testing/nodes.ts';
import {
  adapterOf,
  built,
  claim,
  escrowIn,
  finalize,
  fund,
  HOUR,
  moveTo,
  newWorld,
  refund,
  refuses,
  SOL,
  secret,
  sendRaw,
  sent,
  signed,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

async function lamportsOf({ chain }: World, name: string): Promise<bigint> {
  const { rpc } = chain;
  return (await rpc.getBalance(walletOf(name) as never, { commitment: 'processed' }).send()).value;
}

const assets = ['SOL', 'SPL dollar'] as const;
const tokenOf = (world: World, asset: (typeof assets)[number]) =>
  asset === 'SOL' ? { token: null, amount: 2n * SOL } : { token: world.dollar, amount: 7_000_000n };

for (const asset of assets) {
  test(`${asset}: funded is seen, then deep; claimed is seen with its secret, then deep`, async (context) => {
    const world = await newWorld(context);
    const { adapter } = world;
    const escrow = escrowIn(world, tokenOf(world, asset));
    assert.deepEqual(await adapter.readEscrow(escrow, soon()), nothingSeen);
    const fundTx = await fund(world, escrow);
    const seen = await adapter.readEscrow(escrow, soon());
    assert.equal(seen.funded?.txid, fundTx);
    assert.equal(seen.funded?.deep, false);
    assert.ok((seen.funded?.confirmations ?? 0) >= 1 && (seen.funded?.confirmations ?? 0) < 32);
    await finalize(world);
    const deep = await adapter.readEscrow(escrow, soon());
    assert.deepEqual(deep.funded, { txid: fundTx, confirmations: 32, deep: true });
    assert.equal(deep.balance, escrow.terms.amount);
    assert.equal(deep.empty, false);
    const claimTx = await claim(world, escrow);
    const claimed = await adapter.readEscrow(escrow, soon());
    assert.equal(claimed.claimed?.txid, claimTx);
    assert.equal(claimed.claimed?.deep, false);
    assert.equal(claimed.secret, secret);
    assert.equal(claimed.funded?.deep, true);
    assert.equal(claimed.empty, false);
    await finalize(world);
    const settled = await adapter.readEscrow(escrow, soon());
    assert.deepEqual(settled.claimed, { txid: claimTx, confirmations: 32, deep: true });
    assert.equal(settled.refunded, null);
    assert.equal(settled.balance, 0n);
    assert.equal(settled.empty, true);
  });

  test(`${asset}: refundable from the timelock on, and then refunded`, async (context) => {
    const world = await newWorld(context);
    const { adapter } = world;
    const escrow = escrowIn(world, tokenOf(world, asset));
    await fund(world, escrow);
    await refuses(
      sent(world, await adapter.buildRefund(built(escrow), soon()), 'funder'),
      'refused_by_node',
      /0x11/,
    );
    await moveTo(world, escrow.terms.timelock);
    const txid = await refund(world, escrow);
    assert.equal((await adapter.readEscrow(escrow, soon())).refunded?.txid, txid);
    await finalize(world);
    const facts = await adapter.readEscrow(escrow, soon());
    assert.equal(facts.refunded?.deep, true);
    assert.equal(facts.claimed, null);
    assert.equal(facts.secret, null);
    assert.equal(facts.empty, true);
    await refuses(adapter.buildRefund(built(escrow), soon()), 'nothing_there');
    await refuses(adapter.buildFund(built(escrow), soon()), 'too_late_to_fund', /1800 s ahead/);
  });

  test(`${asset}: what the adapter builds is what the plan wants, with the deadline of its blockhash`, async (context) => {
    const world = await newWorld(context);
    const { adapter } = world;
    const escrow = escrowIn(world, tokenOf(world, asset));
    const funding = (await adapter.buildFund(built(escrow), soon())) as SolanaMaterial;
    assert.deepEqual(
      materialProblems(funding, { verb: 'fund' }, escrow.terms, solanaDeployment),
      [],
    );
    const { height } = await adapter.heads(soon());
    assert.equal(funding.lastValidBlockHeight, height + 150);
    await fund(world, escrow);
    const claiming = (await adapter.buildClaim(built(escrow), secret, soon())) as SolanaMaterial;
    assert.deepEqual(
      materialProblems(claiming, { verb: 'claim', secret }, escrow.terms, solanaDeployment),
      [],
    );
  });
}

test('changes names an escrow when it is funded, at each head until it is deep, and once more then', async (context) => {
  const world = await newWorld(context);
  const { adapter, chain } = world;
  const escrow = escrowIn(world);
  adapter.watch([escrow]);
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  assert.deepEqual((await adapter.changes(soon())).touched, []);
  await sent(world, await adapter.buildFund(built(escrow), soon()), 'funder');
  // Named at once, because it was sent through here.
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  await chain.mine(2);
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  let told = false;
  for (let head = 0; head < 8; head++) {
    const { funded } = await adapter.readEscrow(escrow, soon());
    await chain.mine(1);
    const { touched } = await adapter.changes(soon());
    // Once more when it is deep: who read it may be somebody else.
    assert.deepEqual(touched, told ? [] : [escrow.address], `at head ${head}`);
    told = funded?.deep ?? false;
  }
  assert.ok(told, 'it is deep by then');
  adapter.unwatch([escrow.address]);
  await claim(world, escrow);
  assert.deepEqual((await adapter.changes(soon())).touched, []);
});

/** What it answers of accounts when it is behind: all that it has answered before, as it was. */
async function nodeBehind(context: TestContext, world: World) {
  const old = new Map<string, object>();
  let isBehind = false;
  const url = await lyingNode(context, world.chain.info.rpcUrl, async (call, forward) => {
    const asked = JSON.stringify([call.method, call.params]);
    const before = old.get(asked);
    if (isBehind && before !== undefined) return before;
    const answer = await forward();
    if (call.method === 'getMultipleAccounts') old.set(asked, answer);
    return answer;
  });
  const adapter = adapterOf(world, [], { rpcUrls: [url] });
  const fallBehind = (is: boolean) => {
    isBehind = is;
  };
  return { adapter, fallBehind };
}

test('looks that a node behind answers keep nobody from hearing of a depth', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  const { adapter, fallBehind } = await nodeBehind(context, world);
  adapter.watch([escrow]);
  await adapter.changes(soon());
  assert.deepEqual(await adapter.readEscrow(escrow, soon()), nothingSeen);
  await fund(world, escrow);
  await adapter.changes(soon());
  fallBehind(true);
  assert.equal((await adapter.readEscrow(escrow, soon())).funded, null);
  await finalize(world);
  for (const head of [1, 2, 3]) {
    assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address], `head ${head}`);
    assert.equal((await adapter.readEscrow(escrow, soon())).funded, null, 'as it was');
    await world.chain.mine(1);
  }
  fallBehind(false);
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  assert.equal((await adapter.readEscrow(escrow, soon())).funded?.deep, true);

  await claim(world, escrow);
  await adapter.changes(soon());
  fallBehind(true);
  assert.equal((await adapter.readEscrow(escrow, soon())).claimed, null, 'still open there');
  await finalize(world);
  for (const head of [1, 2, 3]) {
    assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address], `head ${head}`);
    assert.equal((await adapter.readEscrow(escrow, soon())).claimed, null);
    await world.chain.mine(1);
  }
  fallBehind(false);
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  assert.equal((await adapter.readEscrow(escrow, soon())).claimed?.deep, true);
  await world.chain.mine(1);
  assert.deepEqual((await adapter.changes(soon())).touched, []);
});

test('a claim that others send pays the payout, and changes finds it', async (context) => {
  const world = await newWorld(context);
  const { adapter, chain } = world;
  const escrow = escrowIn(world);
  adapter.watch([escrow]);
  await fund(world, escrow);
  await adapter.changes(soon());
  const other = adapterOf(world);
  await other.readEscrow(escrow, soon());
  const before = await lamportsOf(world, 'payee');
  const material = await other.buildClaim(built(escrow), secret, soon());
  await other.broadcast(await other.readSigned(signed(material, 'payee'), soon()), soon());
  await chain.mine(2);
  assert.equal((await lamportsOf(world, 'payee')) - before, 2n * SOL - 5_000n);
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  assert.equal((await adapter.readEscrow(escrow, soon())).secret, secret);
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
    const world = await newWorld(context);
    const { adapter } = world;
    const escrow = escrowIn(world);
    await fund(world, escrow);
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
  const world = await newWorld(context);
  const { adapter } = world;
  const escrow = escrowIn(world);
  await fund(world, escrow);
  await adapter.readEscrow(escrow, soon());
  await strange(world, '11111111111111111111111111111111', claimData(), [escrow.address]);
  assert.equal((await adapter.readEscrow(escrow, soon())).secret, secret);
});

test('a restart in the middle forgets nothing: the chain tells the whole story again', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  const fundTx = await fund(world, escrow);
  const accounts = [escrow.address, walletOf('stranger'), walletOf('funder')];
  await strange(world, solanaDeployment.program, claimData(), accounts);
  await finalize(world);
  const again = adapterOf(world);
  again.watch([escrow]);
  assert.deepEqual((await again.changes(soon())).touched, [escrow.address]);
  const facts = await again.readEscrow(escrow, soon());
  assert.equal(facts.secret, secret);
  assert.equal(facts.funded?.txid, fundTx);
  assert.equal(facts.claimed, null);
});

test('a funding or claim that the chain takes back is gone again; its secret is not', async (context) => {
  const world = await newWorld(context);
  const { adapter, chain, logged } = world;
  const escrow = escrowIn(world);
  adapter.watch([escrow]);
  await adapter.changes(soon());
  const first = await fund(world, escrow);
  await adapter.changes(soon());
  assert.equal((await adapter.readEscrow(escrow, soon())).funded?.txid, first);
  await chain.takeBack(3);
  await chain.mine(2);
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  assert.ok(logged.includes('reorganised'));
  assert.deepEqual(await adapter.readEscrow(escrow, soon()), nothingSeen);
  const second = await fund(world, escrow);
  await finalize(world);
  assert.equal((await adapter.readEscrow(escrow, soon())).funded?.txid, second);
  await adapter.changes(soon());
  const claimTx = await claim(world, escrow);
  await adapter.changes(soon());
  assert.equal((await adapter.readEscrow(escrow, soon())).claimed?.txid, claimTx);
  await chain.takeBack(3);
  await chain.mine(2);
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  const facts = await adapter.readEscrow(escrow, soon());
  assert.equal(facts.claimed, null);
  assert.equal(facts.funded?.deep, true);
  assert.equal(facts.secret, secret);
  const last = await claim(world, escrow);
  assert.equal((await adapter.readEscrow(escrow, soon())).claimed?.txid, last);
});

test('lamports at the escrow’s address are no funding, and do not stop one', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  await world.chain.give({ address: escrow.address, token: null, amount: 5n * SOL });
  await finalize(world);
  assert.deepEqual(await world.adapter.readEscrow(escrow, soon()), nothingSeen);
  await fund(world, escrow);
  assert.notEqual((await world.adapter.readEscrow(escrow, soon())).funded, null);
});

test('an escrow of another amount or timelock is another escrow', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  await fund(world, escrowIn(world, { amount: 1n * SOL }));
  await fund(world, escrowIn(world, { timelock: escrow.terms.timelock + 1 }));
  assert.deepEqual(await world.adapter.readEscrow(escrow, soon()), nothingSeen);
});

test('signed bytes are read: txid, what they touch, the secret they show', async (context) => {
  const world = await newWorld(context);
  const { adapter } = world;
  const escrow = escrowIn(world);
  adapter.watch([escrow]);
  const funding = signed(await adapter.buildFund(built(escrow), soon()), 'funder');
  const read = await adapter.readSigned(funding, soon());
  assert.deepEqual(read.touches, [{ verb: 'fund', escrow: escrow.address, secret: null }]);
  assert.equal(await adapter.isKnown(read, soon()), false);
  assert.equal(await adapter.broadcast(read, soon()), read.txid);
  await world.chain.mine(2);
  assert.equal(await adapter.isKnown(read, soon()), true);
  assert.equal(await adapter.broadcast(read, soon()), read.txid, 'again, the same bytes');
  const claiming = signed(await adapter.buildClaim(built(escrow), secret, soon()), 'payee');
  const { touches } = await adapter.readSigned(claiming, soon());
  assert.deepEqual(touches, [{ verb: 'claim', escrow: escrow.address, secret }]);
  for (const at of [5, 100, 300]) {
    const bytes = base64.decode(claiming);
    bytes[at]! ^= 1;
    await refuses(adapter.readSigned(base64.encode(bytes), soon()), 'bad_transaction');
  }
  const unsigned = (await adapter.buildFund(
    built(escrowIn(world, { amount: SOL })),
    soon(),
  )) as SolanaMaterial;
  await refuses(adapter.readSigned(unsigned.transaction, soon()), 'bad_transaction');
  await refuses(adapter.readSigned('{}', soon()), 'bad_transaction');
});

test('a claim that was sent is public before any block has it', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  world.adapter.watch([escrow]);
  await fund(world, escrow);
  await world.adapter.changes(soon());
  await sent(world, await world.adapter.buildClaim(built(escrow), secret, soon()), 'payee');
  assert.equal((await world.adapter.readEscrow(escrow, soon())).secret, secret);
  assert.deepEqual((await world.adapter.changes(soon())).touched, [escrow.address]);
});

/** Whether a call holds the secret: in hex, or in the bytes of a base64 text. */
function shows({ params }: Call): boolean {
  const texts = [JSON.stringify(params).match(/"[^"]*"/g) ?? []].flat();
  return texts.some(
    (text) =>
      text.includes(secret) || Buffer.from(text, 'base64').includes(Buffer.from(secret, 'hex')),
  );
}

for (const asset of assets) {
  test(`${asset}: the secret is shown to no node before its claim is broadcast`, async (context) => {
    const world = await newWorld(context);
    const escrow = escrowIn(world, tokenOf(world, asset));
    await fund(world, escrow);
    const calls: Call[] = [];
    const url = await lyingNode(context, world.chain.info.rpcUrl, (call, forward) => {
      calls.push(call);
      return forward();
    });
    const adapter = adapterOf(world, [], { rpcUrls: [url] });
    await adapter.preflight(escrow.terms, 'payout', soon());
    const material = await adapter.buildClaim(built(escrow), secret, soon());
    const read = await adapter.readSigned(signed(material, 'payee'), soon());
    await adapter.isKnown(read, soon());
    const telling = () => calls.filter(shows).map(({ method }) => method);
    assert.ok(calls.some(({ method }) => method === 'simulateTransaction'));
    assert.deepEqual(telling(), []);
    await adapter.broadcast(read, soon());
    assert.equal(telling()[0], 'sendTransaction');
  });
}

test('the node’s refusal comes in its own words; an old blockhash is one', async (context) => {
  const world = await newWorld(context);
  const { adapter, chain } = world;
  const escrow = escrowIn(world);
  const late = await adapter.buildFund(built(escrow), soon());
  await chain.mine(160);
  await refuses(sent(world, late, 'funder'), 'refused_by_node', /Blockhash not found/);
  await fund(world, escrow);
  await moveTo(world, escrow.terms.timelock);
  const claiming = await adapter.buildClaim(built(escrow), secret, soon()).catch((error) => error);
  await refuses(sent(world, claiming, 'payee'), 'refused_by_node', /custom program error: 0x10/);
});

test('nothing is claimed or refunded where nothing is, nor with a wrong secret', async (context) => {
  const world = await newWorld(context);
  const { adapter } = world;
  const escrow = escrowIn(world);
  await refuses(adapter.buildClaim(built(escrow), secret, soon()), 'nothing_there');
  await refuses(adapter.buildRefund(built(escrow), soon()), 'nothing_there');
  await refuses(adapter.buildClaim(built(escrow), '00'.repeat(32), soon()), 'wrong_secret');
  await fund(world, escrow);
  await claim(world, escrow);
  await refuses(adapter.buildClaim(built(escrow), secret, soon()), 'nothing_there');
});

test('a clock too far from the wall’s stops funding and revealing, not refunds or public claims', async (context) => {
  const world = await newWorld(context);
  const { adapter, chain } = world;
  const [escrow, other] = [escrowIn(world), escrowIn(world, { amount: SOL })];
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

test('the clock of the heads is the chain’s own', async (context) => {
  const world = await newWorld(context);
  await moveTo(world, world.time.now + HOUR);
  assert.equal((await world.adapter.heads(soon())).clock, world.time.now);
});

test('an amount that an empty wallet could not receive is refused, and one beyond 64 bits', async (context) => {
  const { adapter, dollar } = await newWorld(context);
  await refuses(adapter.checkAmount(null, 890_879n, soon()), 'amount_too_small');
  await adapter.checkAmount(null, 890_880n, soon());
  await adapter.checkAmount(dollar, 1n, soon());
  await refuses(adapter.checkAmount(dollar, 2n ** 64n, soon()), 'bad_amount');
});

test('a claim that leaves the funder out shows as claimed, and the rest is refundable', async (context) => {
  const world = await newWorld(context);
  const { adapter } = world;
  const escrow = escrowIn(world);
  await fund(world, escrow);
  await strange(world, solanaDeployment.program, claimData(), [escrow.address, walletOf('payee')]);
  const facts = await adapter.readEscrow(escrow, soon());
  assert.notEqual(facts.claimed, null);
  assert.equal(facts.secret, secret);
  const before = await lamportsOf(world, 'funder');
  await refund(world, escrow);
  assert.ok((await lamportsOf(world, 'funder')) > before);
  const after = await adapter.readEscrow(escrow, soon());
  assert.notEqual(after.claimed, null);
  assert.equal(after.refunded, null);
});

test('a stranger who names an escrow in a funding of its own does not fund it', async (context) => {
  const world = await newWorld(context);
  const { adapter } = world;
  const escrow = escrowIn(world);
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
