import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import type { Hex } from 'viem';
import { encodeFunctionData, numberToHex, parseAbi } from 'viem/utils';
import { legStatus } from '../../core/facts.ts';
import { type Lie, lyingNode, untilTested } from '../testing/nodes.ts';
import type { EvmAdapter, EvmAdapterOptions } from './adapter.ts';
import { claimCall, evmDeployment, fundCalls, refundCall } from './plan.ts';
import { accounts, deploy, send, startAnvil, type TestChain } from './testing/anvil.ts';
import { compileTestContracts } from './testing/compile.ts';
import { adapterOn, anyone, fund, funder, type Leg, later, newLeg } from './testing/swap.ts';

const signal = () => AbortSignal.timeout(60_000);
const contracts = compileTestContracts('Zoo.sol');
const chain: TestChain = await startAnvil();
let snapshot: Hex;
beforeEach(async () => {
  snapshot = await chain.client.snapshot();
});
afterEach(async () => {
  await chain.client.revert({ id: snapshot });
  await chain.client.setAutomine(true);
});
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.rpcUrl, lie));

const adapterOf = (over: Partial<EvmAdapterOptions> = {}) => adapterOn(chain, over);

const mine = (blocks = 1) => chain.client.mine({ blocks });
const touched = async (adapter: EvmAdapter) => [...(await adapter.changes(signal())).touched];
const facts = (adapter: EvmAdapter, leg: Leg) => adapter.readEscrow(leg.escrow, signal());
const address = ({ escrow }: Leg) => escrow.address;
const { contract } = evmDeployment(31_337);

async function following(legs: readonly Leg[], over: Partial<EvmAdapterOptions> = {}) {
  const adapter = adapterOf(over);
  adapter.watch(legs.map(({ escrow }) => escrow));
  assert.deepEqual((await touched(adapter)).sort(), legs.map(address).sort());
  assert.deepEqual(await touched(adapter), []);
  return adapter;
}

const post = (
  from: typeof funder,
  call: { to: string; data: string; value?: string },
  gas = 500_000n,
) =>
  chain.client.sendTransaction({
    account: from,
    to: call.to as Hex,
    data: call.data as Hex,
    value: BigInt(call.value ?? 0),
    gas,
  });

test('a reorganisation that moves a funding to another block changes its confirmations', async () => {
  const leg = await newLeg(chain);
  const adapter = await following([leg]);
  const fork = await chain.client.snapshot();
  const nonce = await chain.client.getTransactionCount({ address: funder.address });
  const call = fundCalls(leg.terms, evmDeployment(31_337), 0n)[0]!;
  const raw = await funder.signTransaction({
    to: call.to as Hex,
    data: call.data as Hex,
    value: 1_000n,
    chainId: 31_337,
    nonce,
    gas: 500_000n,
    gasPrice: 10n ** 10n,
  });
  await chain.client.sendRawTransaction({ serializedTransaction: raw });
  await mine(4);
  await touched(adapter);
  assert.equal((await facts(adapter, leg)).funded?.confirmations, 5);
  await chain.client.revert({ id: fork });
  await mine(4);
  await chain.client.sendRawTransaction({ serializedTransaction: raw });
  await mine(1);
  assert.deepEqual(await touched(adapter), [address(leg)]);
  assert.equal((await facts(adapter, leg)).funded?.confirmations, 2);
});

test('the secret of a claim that FAILED is found in its calldata', async () => {
  const [direct, wrapped] = [await newLeg(chain), await newLeg(chain)];
  const adapter = await following([direct, wrapped]);
  // Neither is funded: both claims fail, and show their secrets all the same.
  const wallet = await deploy(chain, contracts.get('Rejecting')!.bytecode);
  await touched(adapter);
  await chain.client.setAutomine(false);
  const { terms, secret } = direct;
  await post(anyone, claimCall({ ...terms, amount: 1n }, evmDeployment(31_337), secret));
  await post(anyone, {
    to: contract,
    data: claimCall(terms, evmDeployment(31_337), secret).data,
  });
  const inner = claimCall(wrapped.terms, evmDeployment(31_337), wrapped.secret).data as Hex;
  const data = encodeFunctionData({
    abi: parseAbi(['function execute(address, bytes)']),
    args: [contract as Hex, inner],
  });
  await post(anyone, { to: wallet, data });
  await mine();
  await chain.client.setAutomine(true);
  assert.deepEqual((await touched(adapter)).sort(), [address(direct), address(wrapped)].sort());
  for (const leg of [direct, wrapped]) {
    const shown = await facts(adapter, leg);
    assert.deepEqual([shown.secret, shown.claimed], [leg.secret, null]);
  }
});

test('a secret anywhere in what is sent to the contract is found, in no form of ours', async () => {
  const leg = await newLeg(chain);
  const adapter = await following([leg]);
  const data = `0x123456789a${leg.secret}77`;
  await send(chain, anyone, { to: contract, data, gas: 100_000n });
  assert.deepEqual(await touched(adapter), [address(leg)]);
  assert.equal((await facts(adapter, leg)).secret, leg.secret);
});

test('a secret in a call of another contract that names ours or the hashlock is found, mined or waiting', async () => {
  const [byAddress, byHashlock, unnamed] = [
    await newLeg(chain),
    await newLeg(chain),
    await newLeg(chain),
  ];
  const adapter = await following([byAddress, byHashlock, unnamed]);
  const { address: wallet } = accounts[7]!;
  const names = [contract.slice(2), byHashlock.terms.hashlock, ''];
  const calls = [byAddress, byHashlock, unnamed].map(({ secret }, at) => ({
    to: wallet,
    data: `0x12345678${'00'.repeat(12)}${names[at]}${secret}`,
  }));
  await send(chain, anyone, calls[0]!);
  assert.deepEqual(await touched(adapter), [address(byAddress)], 'mined');
  await chain.client.setAutomine(false);
  for (const call of calls) await post(anyone, call);
  assert.deepEqual(await touched(adapter), [address(byHashlock)], 'waiting');
  for (const leg of [byAddress, byHashlock]) {
    assert.equal((await facts(adapter, leg)).secret, leg.secret);
  }
  assert.equal((await facts(adapter, unnamed)).secret, null);
});

test('what waits for its block is seen, and when it can succeed it shows with 0 confirmations', async () => {
  const leg = await newLeg(chain);
  const adapter = await following([leg]);
  await chain.client.setAutomine(false);
  const call = fundCalls(leg.terms, evmDeployment(31_337), 0n)[0]!;
  const foreign = await post(anyone, call);
  await touched(adapter);
  assert.equal((await facts(adapter, leg)).funded, null, 'only the funder can fund');
  const txid = await post(funder, call);
  assert.deepEqual(await touched(adapter), [address(leg)]);
  const waiting = await facts(adapter, leg);
  assert.deepEqual(waiting.funded, { txid, confirmations: 0, deep: false });
  assert.equal(waiting.empty, false);
  await chain.client.dropTransaction({ hash: txid });
  await chain.client.dropTransaction({ hash: foreign });
  assert.deepEqual(await touched(adapter), [address(leg)], 'it left the pool');
  const dropped = await facts(adapter, leg);
  assert.deepEqual([dropped.funded, dropped.empty], [null, true]);
});

test('the secret of a claim that waits for its block is known at once', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await mine(2);
  const adapter = await following([leg]);
  await chain.client.setAutomine(false);
  const txid = await post(anyone, claimCall(leg.terms, evmDeployment(31_337), leg.secret));
  assert.deepEqual(await touched(adapter), [address(leg)]);
  const waiting = await facts(adapter, leg);
  assert.deepEqual(waiting.claimed, { txid, confirmations: 0, deep: false });
  assert.equal(waiting.secret, leg.secret);
  assert.equal(legStatus(waiting), 'funded');
});

test('a refund that waits too early, and a claim with a wrong secret, show nothing', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await mine(2);
  const adapter = await following([leg]);
  await chain.client.setAutomine(false);
  const { data } = claimCall(leg.terms, evmDeployment(31_337), 'ab'.repeat(32));
  await post(anyone, { to: contract, data });
  await post(accounts[6]!, refundCall(leg.terms, evmDeployment(31_337)));
  await touched(adapter);
  const shown = await facts(adapter, leg);
  assert.deepEqual([shown.claimed, shown.refunded, shown.secret], [null, null, null]);
});

test('a claim or refund that waits with too little gas shows its secret, and hides nothing', async () => {
  const [leg, old] = [await newLeg(chain), await newLeg(chain)];
  for (const each of [leg, old]) await fund(chain, each);
  await mine(2);
  const adapter = await following([leg, old]);
  await chain.client.setAutomine(false);
  const call = claimCall(leg.terms, evmDeployment(31_337), leg.secret);
  const bad = await post(anyone, call, 30_000n);
  assert.deepEqual(await touched(adapter), [address(leg)], 'for its secret');
  const hidden = await facts(adapter, leg);
  assert.deepEqual([hidden.claimed, hidden.secret], [null, leg.secret]);
  assert.deepEqual(await touched(adapter), [], 'nothing new');
  // Behind the first in the block, one that works is the one that shows.
  const good = await post(accounts[6]!, call);
  assert.deepEqual(await touched(adapter), [address(leg)]);
  const sighted = await facts(adapter, leg);
  assert.deepEqual(sighted.claimed, { txid: good, confirmations: 0, deep: false });
  for (const hash of [bad, good]) await chain.client.dropTransaction({ hash });
  await later(chain, 7_200);
  await touched(adapter);
  await post(anyone, refundCall(old.terms, evmDeployment(31_337)), 30_000n);
  await touched(adapter);
  assert.equal((await facts(adapter, old)).refunded, null);
  const txid = await post(accounts[6]!, refundCall(old.terms, evmDeployment(31_337)));
  await touched(adapter);
  assert.equal((await facts(adapter, old)).refunded?.txid, txid);
});

test('what a waiting claim pays for besides the claim counts against its gas', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await mine(2);
  const adapter = await following([leg]);
  const { to, data } = claimCall(leg.terms, evmDeployment(31_337), leg.secret);
  const call = { account: anyone, to: to as Hex, data: data as Hex };
  // EIP-2930: 2 400 for the address and 1 900 for each key.
  const listGas = 2_400n + 100n * 1_900n;
  const gas = (await chain.client.estimateGas(call)) + listGas - 15_000n;
  const storageKeys = Array.from({ length: 100 }, (_, at) => numberToHex(at, { size: 32 }));
  const accessList = [{ address: to as Hex, storageKeys }];
  await chain.client.setAutomine(false);
  const hash = await chain.client.sendTransaction({ ...call, gas, accessList });
  await touched(adapter);
  const shown = await facts(adapter, leg);
  assert.deepEqual([shown.claimed, shown.secret], [null, leg.secret]);
  await mine();
  const { status } = await chain.client.getTransactionReceipt({ hash });
  assert.equal(status, 'reverted', 'it was bound to fail');
});

test('a flood of claims that are bound to fail is tried a few at a time, each once a block', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await mine(2);
  let trials = 0;
  const counting = await lying(({ method, params }, forward) => {
    if (method === 'eth_call' && (params[0] as { gas?: string }).gas !== undefined) trials += 1;
    return forward();
  });
  const adapter = await following([leg], { rpcUrls: [counting.url] });
  await chain.client.setAutomine(false);
  const call = claimCall(leg.terms, evmDeployment(31_337), leg.secret);
  for (let sent = 0; sent < 40; sent += 1) await post(anyone, call, 30_000n);
  const counts: number[] = [];
  for (let pass = 0; pass < 3; pass += 1) {
    await touched(adapter);
    counts.push(trials);
  }
  assert.deepEqual(counts, [32, 40, 40]);
  assert.equal((await facts(adapter, leg)).claimed, null);
});

test('far behind, events are found by logs in ranges as small as the provider allows', async () => {
  const [leg, failed] = [await newLeg(chain), await newLeg(chain)];
  const asked: number[] = [];
  const strict = await lying(async ({ method, params }, forward) => {
    if (method !== 'eth_getLogs') return forward();
    const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
    const blocks = Number(toBlock) - Number(fromBlock) + 1;
    asked.push(blocks);
    const message = 'query exceeds max block range 50';
    return blocks > 50 ? { error: { code: -32_602, message } } : forward();
  });
  const adapter = await following([leg, failed], { rpcUrls: [strict.url], maxLogRange: 1_000 });
  await fund(chain, leg);
  await mine(400);
  assert.deepEqual(await touched(adapter), [address(leg)]);
  assert.equal(legStatus(await facts(adapter, leg)), 'funded');
  assert.ok(asked.filter((blocks) => blocks > 50).length < 20, 'it learns the limit');
});

test('a failure in the middle loses nothing: the next call reports it', async () => {
  const leg = await newLeg(chain);
  let broken = false;
  const flaky = await lying(async ({ method, params }, forward) =>
    broken && method === 'eth_getBlockByNumber' && params[0] === 'pending' ? undefined : forward(),
  );
  const rpc = { attemptTimeoutMs: 1_000, rounds: 1 };
  const adapter = await following([leg], { rpcUrls: [flaky.url], rpc });
  await fund(chain, leg);
  broken = true;
  await assert.rejects(adapter.changes(signal()), { code: 'chain_timeout' });
  broken = false;
  assert.deepEqual(await touched(adapter), [address(leg)]);
});

test('following ten thousand escrows asks the node no more than following one', async () => {
  const leg = await newLeg(chain);
  const counts: number[] = [];
  for (const others of [0, 10_000]) {
    let asked = 0;
    const counting = await lying((_request, forward) => {
      asked += 1;
      return forward();
    });
    const adapter = adapterOf({ rpcUrls: [counting.url] });
    const many = Array.from({ length: others }, (_, at) => {
      const hex = at.toString(16).padStart(40, '0');
      return { ...leg.escrow, address: `0x${hex}` };
    });
    adapter.watch([leg.escrow, ...many]);
    assert.equal((await touched(adapter)).length, others + 1);
    asked = 0;
    await mine(2);
    assert.deepEqual(await touched(adapter), []);
    counts.push(asked);
  }
  assert.equal(counts[0], counts[1]);
  assert.ok((counts[0] ?? 99) < 10, `${counts[0]} requests`);
});
