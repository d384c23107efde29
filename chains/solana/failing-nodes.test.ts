// Nodes that hang, vanish, answer nonsense or lie; and two that differ.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError, type RefusalCode } from '../../core/errors.ts';
import { hashlockOf } from '../../core/hashlock.ts';
import { rpcClient } from '../nodes/rpc.ts';
import { type SolanaAdapter, type SolanaAdapterOptions, solanaAdapter } from './adapter.ts';
import { accountsAt, latestBlockhash, slotAt, statusOf } from './node.ts';
import { solanaChains } from './policy.ts';
import { fixedNode, hangingNode, lyingNode, youngNode } from './testing/nodes.ts';
import {
  adapterOf,
  built,
  claim,
  escrowIn,
  finalize,
  fund,
  newWorld,
  refuses,
  secret,
  signed,
  soon,
  type World,
  walletOf,
} from './testing/world.ts';

const limits = { attemptTimeoutMs: 300, rounds: 1 };
const now = 1_800_000_000;

function farAdapter(url: string, rpc = limits): SolanaAdapter {
  const { policy, genesisHash } = solanaChains['solana-dev'];
  return solanaAdapter({
    chain: 'solana-dev',
    rpcUrls: [url],
    policy,
    mostDriftSeconds: policy.driftSeconds,
    genesisHash,
    now: () => now,
    rpc,
  });
}

const terms = {
  chain: 'solana-dev',
  hashlock: hashlockOf(secret),
  payout: { address: walletOf('payee'), pubkey: null },
  refund: { address: walletOf('funder'), pubkey: null },
  token: null,
  amount: 1_000_000_000n,
  timelock: now + 7_200,
};

const calls: Record<string, (adapter: SolanaAdapter, signal: AbortSignal) => Promise<unknown>> = {
  heads: (adapter, signal) => adapter.heads(signal),
  changes: (adapter, signal) => adapter.changes(signal),
  readEscrow: (adapter, signal) => adapter.readEscrow(escrowOf(adapter), signal),
  mustAgree: (adapter, signal) => adapter.mustAgree(escrowOf(adapter), signal),
  preflight: (adapter, signal) => adapter.preflight(terms, 'funding', signal),
  buildFund: (adapter, signal) => adapter.buildFund(built(escrowOf(adapter)), signal),
  buildClaim: (adapter, signal) => adapter.buildClaim(built(escrowOf(adapter)), secret, signal),
  buildRefund: (adapter, signal) => adapter.buildRefund(built(escrowOf(adapter)), signal),
  broadcast: (adapter, signal) => adapter.broadcast(transaction, signal),
  isKnown: (adapter, signal) => adapter.isKnown(transaction, signal),
  checkAmount: (adapter, signal) => adapter.checkAmount(null, 1_000_000_000n, signal),
};

const transaction = { txid: '1'.repeat(64), raw: 'AA==', touches: [] };
const escrowOf = (adapter: SolanaAdapter) => ({
  address: adapter.plan(terms).address,
  terms,
  requiredConfirmations: 32,
  since: now,
});

async function everyCall(adapter: SolanaAdapter, code: string, signal = soon): Promise<void> {
  for (const [name, call] of Object.entries(calls)) {
    await assert.rejects(call(adapter, signal()), (error: unknown) => {
      assert.ok(error instanceof ParleyError, `${name}: ${String(error)}`);
      assert.equal(error.code, code, `${name}: ${error.message}`);
      assert.ok(!error.message.includes('key=hunter2'), 'no key in a message');
      return true;
    });
  }
}

test('a node that hangs ends in chain_timeout, by its own limit and by the caller’s', async (context) => {
  const url = `${await hangingNode(context)}/?key=hunter2`;
  await everyCall(farAdapter(url), 'chain_timeout');
  const patient = farAdapter(url, { attemptTimeoutMs: 60_000, rounds: 2 });
  await everyCall(patient, 'chain_timeout', () => AbortSignal.timeout(200));
});

test('a node that is gone, refuses or talks nonsense ends in chain_unavailable', async (context) => {
  await everyCall(farAdapter('http://127.0.0.1:1/?key=hunter2'), 'chain_unavailable');
  const answers = [
    '<html>',
    '{}',
    'null',
    '{"jsonrpc":"2.0","id":1,"result":{"context":{},"value":7}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}',
  ];
  for (const text of answers) {
    await everyCall(farAdapter(await fixedNode(context, text)), 'chain_unavailable');
  }
});

test('a node of another cluster, or without our program, is refused at once', async (context) => {
  const world = await newWorld(context);
  const other = adapterOf(world, [], { genesisHash: solanaChains.solana.genesisHash });
  await refuses(other.heads(soon()), 'chain_unavailable', /cluster/);
  const program = walletOf('no program');
  const deployment = { program, sha256: '' };
  await refuses(
    adapterOf(world, [], { deployment }).heads(soon()),
    'chain_unavailable',
    /there is no account/,
  );
});

/** An adapter over a node that shows this for the escrow's account. */
async function liar(
  context: Parameters<typeof lyingNode>[0],
  world: World,
  address: string,
  account: object | null,
  commitment?: string,
): Promise<string> {
  return lyingNode(context, world.chain.info.rpcUrl, async ({ method, params }, forward) => {
    const answer = await forward();
    const [addresses, config] = params as [string[], { commitment: string } | undefined];
    const isAsked = method === 'getMultipleAccounts' && addresses[0] === address;
    if (!isAsked || (commitment ?? config?.commitment) !== config?.commitment) return answer;
    const { context: slot, value } = answer.result as { context: object; value: object[] };
    return { result: { context: slot, value: [account, ...value.slice(1)] } };
  });
}

const over = (world: World, urls: string[], changed: Partial<SolanaAdapterOptions> = {}) =>
  adapterOf(world, [], { rpcUrls: urls, rpc: { attemptTimeoutMs: 2_000, rounds: 1 }, ...changed });

test('an account that the program never writes is no fact', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  const owner = world.chain.info.program;
  for (const bytes of [
    Buffer.alloc(184, 1),
    Buffer.of(1),
    Buffer.of(3),
    Buffer.of(9),
    Buffer.alloc(50),
  ]) {
    const data = [bytes.toString('base64'), 'base64'];
    const account = { owner, executable: false, lamports: 1, data };
    const url = await liar(context, world, escrow.address, account);
    const reading = over(world, [url]).readEscrow(escrow, soon());
    await refuses(reading, 'chain_unavailable', /never writes/);
  }
  // Nor is one of another program.
  const account = {
    owner: walletOf('program'),
    executable: false,
    lamports: 1,
    data: ['AQ==', 'base64'],
  };
  const url = await liar(context, world, escrow.address, account);
  assert.equal((await over(world, [url]).readEscrow(escrow, soon())).funded, null);
});

test('two nodes that differ about an escrow pause funding and revealing, not refunds or public claims', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  await fund(world, escrow);
  await finalize(world);
  const honest = world.chain.info.rpcUrl;
  const hides = await liar(context, world, escrow.address, null, 'finalized');
  for (const urls of [
    [honest, hides],
    [hides, honest],
  ]) {
    const adapter = over(world, urls);
    await refuses(adapter.mustAgree(escrow, soon()), 'sources_disagree', /no funding/);
    await refuses(adapter.buildClaim(built(escrow), secret, soon()), 'sources_disagree');
    await adapter.buildRefund(built(escrow), soon());
  }
  const adapter = over(world, [honest, hides]);
  adapter.watch([escrow]);
  const other = adapterOf(world);
  const sent = await other.buildClaim(built(escrow), secret, soon());
  const read = await adapter.readSigned(signed(sent, 'payee'), soon());
  await adapter.broadcast(read, soon());
  await adapter.buildClaim(built(escrow), secret, soon());
});

test('two nodes on two forks pause funding; one that is silent does not', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  const honest = world.chain.info.rpcUrl;
  const forked = await lyingNode(context, honest, async ({ method }, forward) => {
    const answer = await forward();
    return method === 'getBlock' ? { result: { blockhash: walletOf('another hash') } } : answer;
  });
  for (const urls of [
    [honest, forked],
    [forked, honest],
  ]) {
    const adapter = over(world, urls);
    await refuses(adapter.buildFund(built(escrow), soon()), 'sources_disagree', /differ/);
  }
  for (const url of ['http://127.0.0.1:1', await hangingNode(context)]) {
    await over(world, [honest, url]).buildFund(built(escrow), soon());
    await over(world, [url, honest]).buildFund(built(escrow), soon());
  }
});

test('a node that keeps history back hides no status: the account says it', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  await fund(world, escrow);
  await claim(world, escrow);
  await finalize(world);
  const url = await lyingNode(context, world.chain.info.rpcUrl, ({ method }, forward) =>
    method === 'getSignaturesForAddress' ? { result: [] } : forward(),
  );
  const facts = await over(world, [url]).readEscrow(escrow, soon());
  assert.equal(facts.claimed?.deep, true);
  assert.equal(facts.claimed?.txid, 'unknown');
  assert.equal(facts.empty, true);
});

test('a node that no longer knows what was read last is followed on, and its gap is said', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  const funded = await fund(world, escrow);
  await finalize(world);
  let oldest = 0;
  const url = await youngNode(context, world.chain.info.rpcUrl, () => oldest);
  const logged: string[] = [];
  const adapter = adapterOf(world, logged, { rpcUrls: [url] });
  adapter.watch([escrow]);
  await adapter.changes(soon());
  await adapter.readEscrow(escrow, soon());
  const { slot } = await latestBlockhash(adapter.node, 'finalized', soon());
  oldest = slot + 1;
  const claimed = await claim(world, escrow);
  await finalize(world);
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  const facts = await adapter.readEscrow(escrow, soon());
  assert.deepEqual([facts.secret, facts.claimed?.txid], [secret, claimed]);
  assert.equal(facts.funded?.txid, funded, 'what was learnt before stays');
  assert.deepEqual(logged, ['transactions_pruned']);
  // From there on as ever.
  const next = escrowIn(world, { timelock: escrow.terms.timelock + 1 });
  adapter.watch([next]);
  await adapter.changes(soon());
  await fund(world, next);
  assert.deepEqual((await adapter.changes(soon())).touched, [next.address]);
});

test('a transaction that a node lists before it can give it is asked for again', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  let holdsBack = true;
  const url = await lyingNode(context, world.chain.info.rpcUrl, ({ method }, forward) =>
    method === 'getTransaction' && holdsBack ? { result: null } : forward(),
  );
  const adapter = over(world, [url]);
  adapter.watch([escrow]);
  await adapter.changes(soon());
  const txid = await fund(world, escrow);
  await claim(world, escrow);
  await finalize(world);
  await adapter.changes(soon());
  assert.equal((await adapter.readEscrow(escrow, soon())).secret, null);
  holdsBack = false;
  assert.deepEqual((await adapter.changes(soon())).touched, [escrow.address]);
  const facts = await adapter.readEscrow(escrow, soon());
  assert.equal(facts.secret, secret);
  assert.equal(facts.funded?.txid, txid);
});

test('a claim that one node refuses, swallows or is silent about is sent by the other', async (context) => {
  const world = await newWorld(context);
  const honest = world.chain.info.rpcUrl;
  const ways: ((txid: string) => object | Promise<object>)[] = [
    () => ({ error: { code: -32_002, message: 'Transaction simulation failed' } }),
    () => ({ error: { code: -32_005, message: 'Node is unhealthy' } }),
    () => ({ result: null }),
    () => new Promise(() => {}),
  ];
  for (const [at, way] of ways.entries()) {
    const url = await lyingNode(context, honest, ({ method }, forward) =>
      method === 'sendTransaction' ? way('') : forward(),
    );
    const escrow = escrowIn(world, { timelock: world.time.now + 8_000 + at });
    await fund(world, escrow);
    const material = await world.adapter.buildClaim(built(escrow), secret, soon());
    const adapter = over(world, [url, honest]);
    adapter.watch([escrow]);
    const read = await adapter.readSigned(signed(material, 'payee'), soon());
    // Alone it is no refusal where the node may have it, or did not look at it.
    const codes = ['refused_by_node', 'chain_unavailable', 'chain_timeout', 'chain_timeout'];
    await refuses(over(world, [url]).broadcast(read, soon()), codes[at] as RefusalCode);
    assert.equal(await adapter.broadcast(read, soon()), read.txid);
    await adapter.close();
    await world.chain.mine(2);
    assert.notEqual((await world.adapter.readEscrow(escrow, soon())).claimed, null);
  }
});

test('what one node refuses and another may have is not refused; what both refuse is', async (context) => {
  const world = await newWorld(context);
  const { rpcUrl } = world.chain.info;
  const sent = (answer: object | Promise<object>) =>
    lyingNode(context, rpcUrl, ({ method }, forward) =>
      method === 'sendTransaction' ? answer : forward(),
    );
  const refusing = await sent({ error: { code: -32_002, message: 'Blockhash not found' } });
  const escrow = escrowIn(world);
  const material = await world.adapter.buildFund(built(escrow), soon());
  const read = await world.adapter.readSigned(signed(material, 'funder'), soon());
  const silent = await sent(new Promise(() => {}));
  const words = /one may have it; .*Blockhash not found/;
  await refuses(over(world, [refusing, silent]).broadcast(read, soon()), 'chain_timeout', words);
  const both = over(world, [refusing, refusing]).broadcast(read, soon());
  await refuses(both, 'refused_by_node', /Blockhash not found$/);
  // It has heard it, and nobody is let through to ask it what became of it.
  const closed = await lyingNode(context, refusing, ({ method }, forward) =>
    method === 'getSignatureStatuses' ? { status: 401 } : forward(),
  );
  await refuses(over(world, [closed]).broadcast(read, soon()), 'chain_timeout', /may have it$/);
});

test('of each answer no more is read than it has a reason to be', async (context) => {
  const long = 'x'.repeat(20_000);
  const url = await fixedNode(context, JSON.stringify({ jsonrpc: '2.0', id: 1, result: long }));
  const rpc = rpcClient({ chain: 'solana-dev', urls: [url], rounds: 1 });
  const tooLong = /an answer of more than 16384 bytes/;
  for (const ask of [
    slotAt(rpc, 'confirmed', soon()),
    latestBlockhash(rpc, 'confirmed', soon()),
    statusOf(rpc, '1'.repeat(64), soon()),
  ]) {
    await refuses(ask, 'chain_unavailable', tooLong);
  }
  // Two of 10 bytes each, with what is told beside them.
  const two = accountsAt(rpc, [walletOf('payee'), walletOf('funder')], 'confirmed', soon(), 10);
  await refuses(two, 'chain_unavailable', /an answer of more than 18472 bytes/);
  const whole = accountsAt(rpc, [walletOf('payee')], 'confirmed', soon());
  await refuses(whole, 'chain_unavailable', /unexpected shape/);
});
