import assert from 'node:assert/strict';
import { test } from 'node:test';
import { legStatus, nothingSeen } from '@parley/core/facts.ts';
import { freshLane } from '@parley/core/testing.ts';
import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { claimedTopic, fundedTopic } from '../escrows/calls.ts';
import { type NodeMethod, rpcClient } from '../nodes/rpc.ts';
import type { Lie, Request } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { receiptOf, txOf } from './node.ts';
import { claimCall, evmDeployment, fundCalls, refundCall } from './plan.ts';
import { evmChains } from './policy.ts';
import { accounts, deploy, send } from './testing/anvil.ts';
import { compileTestContracts } from './testing/compile.ts';
import {
  anyone,
  claim,
  deployToken,
  fund,
  funder,
  type Leg,
  later,
  mint,
  newLeg,
  refund,
} from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const zoo = compileTestContracts('Zoo.sol');
const { chain, adapterOf, adapterOver, mine, signal } = await evmWorld();
const { contract } = evmDeployment(31_337);

const read = (leg: Leg, adapter = adapterOf()) => adapter.readEscrow(leg.escrow, signal());
const readThrough = async (leg: Leg, lie: Lie) => read(leg, await adapterOver(lie));
const noLogs: Lie = ({ method }, forward) =>
  method === 'eth_getLogs' ? { result: [] } : forward();

test('tokens sent by hand to the contract are no part of any escrow', async () => {
  const token = await deployToken(chain, 'DevDollar');
  const leg = await newLeg(chain, { token });
  await mint(chain, token, contract as Hex, 5_000n);
  assert.deepEqual(await read(leg), nothingSeen);
  await mint(chain, token, funder.address, 1_000n);
  await fund(chain, leg);
  await mine();
  const funded = await read(leg);
  assert.deepEqual([legStatus(funded), funded.balance], ['funded', 1_000n]);
  await claim(chain, leg);
  await mine(2);
  const claimed = await read(leg);
  assert.deepEqual([legStatus(claimed), claimed.balance, claimed.empty], ['claimed', 0n, true]);
});

test('a token that takes its money out of the escrow leaves the leg seen, never funded', async () => {
  const governed = zoo.get('Governed')!;
  const token = await deploy(chain, governed.bytecode);
  const leg = await newLeg(chain, { token });
  await mint(chain, token, funder.address, 1_000n);
  await fund(chain, leg);
  await mine(3);
  assert.equal(legStatus(await read(leg)), 'funded');
  const set = async (value: bigint) => {
    const args = [contract, value];
    const data = encodeFunctionData({ abi: governed.abi, functionName: 'setBalance', args });
    await send(chain, accounts[9]!, { to: token, data });
  };
  for (const left of [999n, 0n]) {
    await set(left);
    assert.equal(legStatus(await read(leg)), 'seen', 'at once, not only at depth');
    await mine(3);
    const short = await read(leg);
    assert.deepEqual([legStatus(short), short.balance, short.empty], ['seen', 1_000n, false]);
  }
  await set(1_000n);
  assert.equal(legStatus(await read(leg)), 'seen', 'what came back must get deep as well');
  await mine();
  assert.equal(legStatus(await read(leg)), 'funded');
});

test('a node that keeps back all logs: funding, claim and refund are found by state', async () => {
  const funded = await newLeg(chain);
  const claimed = await newLeg(chain, { amount: 2_000n });
  const refunded = await newLeg(chain, { amount: 3_000n });
  // Blocks of one second are searched up to a bound: this second has none of the tests before.
  await later(chain, 60);
  const fundTx = await fund(chain, funded);
  for (const each of [claimed, refunded]) await fund(chain, each);
  await mine();
  const adapter = await adapterOver(noLogs);
  const shown = await read(funded, adapter);
  assert.deepEqual([shown.funded?.txid, shown.funded?.deep], [fundTx, true]);
  adapter.watch([claimed.escrow, refunded.escrow]);
  await adapter.changes(signal());
  const claimTx = await claim(chain, claimed);
  await later(chain, 7_200);
  const refundTx = await refund(chain, refunded);
  await mine(2);
  const { touched } = await adapter.changes(signal());
  const both = [claimed.escrow.address, refunded.escrow.address];
  assert.deepEqual(touched.toSorted(), both.toSorted());
  const byState = await read(claimed, adapter);
  assert.deepEqual([byState.claimed?.txid, byState.secret], [claimTx, claimed.secret]);
  assert.equal((await read(refunded, adapter)).refunded?.txid, refundTx);
});

test('a node without logs tells a claim from a refund whose lane is used again in the same block', async () => {
  for (const verb of ['claim', 'refund'] as const) {
    const { number } = freshLane();
    const leg = await newLeg(chain, { lane: { number, counter: 1 } });
    await fund(chain, leg);
    if (verb === 'refund') await later(chain, 7_200);
    const next = await newLeg(chain, { lane: { number, counter: 2 } });
    const deployment = evmDeployment(31_337);
    const settling =
      verb === 'claim'
        ? claimCall(leg.terms, deployment, leg.secret)
        : refundCall(leg.terms, deployment);
    const [funding] = fundCalls(next.terms, deployment, 0n);
    await chain.client.setAutomine(false);
    const sent: Hex[] = [];
    for (const call of [settling, funding]) {
      const { to, data, value } = call as { to: Hex; data: Hex; value: Hex };
      const tx = { account: funder, to, data, value: BigInt(value), gas: 200_000n };
      sent.push(await chain.client.sendTransaction(tx));
    }
    await mine();
    await chain.client.setAutomine(true);
    await mine(2);
    const shown = await read(leg, await adapterOver(noLogs));
    assert.equal((verb === 'claim' ? shown.claimed : shown.refunded)?.txid, sent[0]);
    assert.equal(shown.secret, verb === 'claim' ? leg.secret : null);
    const hidden = await readThrough(leg, (request, forward) => {
      const isIt = request.method === 'eth_getTransactionReceipt' && request.params[0] === sent[0];
      return isIt ? { result: null } : noLogs(request, forward);
    });
    assert.deepEqual([hidden.outcome, hidden.secret], ['unknown', shown.secret]);
  }
});

test('an escrow whose counter another one took and left in one block reads as unfunded', async () => {
  const { number } = freshLane();
  const legIn = (counter: number, amount: bigint) =>
    newLeg(chain, { lane: { number, counter }, amount });
  const leg = await legIn(1, 9n);
  const other = await legIn(1, 1n);
  const next = await legIn(2, 1n);
  const deployment = evmDeployment(31_337);
  await later(chain, 60);
  await chain.client.setAutomine(false);
  for (const call of [
    ...fundCalls(other.terms, deployment, 0n),
    claimCall(other.terms, deployment, other.secret),
    ...fundCalls(next.terms, deployment, 0n),
  ]) {
    const { to, data, value } = call as { to: Hex; data: Hex; value: Hex };
    const tx = { account: funder, to, data, value: BigInt(value), gas: 200_000n };
    await chain.client.sendTransaction(tx);
  }
  await mine();
  await chain.client.setAutomine(true);
  await mine(2);
  for (const lie of [noLogs, (_: Request, forward: () => Promise<unknown>) => forward()]) {
    assert.deepEqual(await readThrough(leg, lie as Lie), nothingSeen);
  }
  assert.equal(legStatus(await readThrough(other, noLogs)), 'claimed');
});

test('in a crowd a look for a withheld claim asks for 300 receipts at most, and for none twice', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  const crowd = new Set<string>();
  const asked: string[] = [];
  let hidden = '';
  const adapter = await adapterOver(({ method, params }, forward) => {
    if (method === 'eth_getLogs') return { result: [] };
    if (method !== 'eth_getTransactionReceipt') return forward();
    const txid = String(params[0]);
    if (txid === hidden) return { result: null };
    if (crowd.has(txid)) asked.push(txid);
    return forward();
  });
  adapter.watch([leg.escrow]);
  await later(chain, 60);
  await chain.client.setAutomine(false);
  const transfer = { account: anyone, to: funder.address, value: 1n, gas: 21_000n };
  while (crowd.size < 320) crowd.add(await chain.client.sendTransaction(transfer));
  const call = claimCall(leg.terms, evmDeployment(31_337), leg.secret);
  const { to, data } = call as { to: Hex; data: Hex };
  hidden = await chain.client.sendTransaction({ account: funder, to, data, gas: 200_000n });
  await mine();
  await chain.client.setAutomine(true);
  await mine(2);
  for (const most of [300, 320]) {
    await assert.rejects(read(leg, adapter), { code: 'chain_unavailable' });
    assert.ok(asked.length > most - 10 && asked.length <= most, `${asked.length}`);
    assert.equal(new Set(asked).size, asked.length);
  }
  const txid = hidden;
  hidden = '';
  assert.equal((await read(leg, adapter)).claimed?.txid, txid);
});

type At = { readonly number: bigint | null; readonly hash: Hex | null };

/** The node's logs, and one of a funding, or of a claim, in this block. */
const forging =
  ({ escrow, terms, secret }: Leg, { number, hash: blockHash }: At, isClaim = false): Lie =>
  async ({ method }, forward) => {
    const answer = await forward();
    if (method !== 'eth_getLogs' || !('result' in answer)) return answer;
    const forged = {
      address: contract,
      topics: [isClaim ? claimedTopic : fundedTopic, `0x${escrow.address.split(':')[1]}`],
      data: `0x${isClaim ? secret : terms.hashlock}`,
      transactionHash: `0x${'77'.repeat(32)}`,
      blockNumber: `0x${number?.toString(16)}`,
      blockHash,
      logIndex: '0x0',
    };
    return { result: [forged, ...(answer.result as unknown[])] };
  };

test('a log of a funding without its state, or of a claim of what is open, is not believed', async () => {
  const leg = await newLeg(chain);
  await mine(10);
  const old = await chain.client.getBlock();
  await mine(10);
  assert.deepEqual(await readThrough(leg, forging(leg, old)), nothingSeen);
  await fund(chain, leg);
  // Logs call it deep, and at depth its state is not there.
  assert.equal(legStatus(await readThrough(leg, forging(leg, old))), 'seen');
  await mine(3);
  const since = await chain.client.getBlock({ blockNumber: (old.number ?? 0n) + 11n });
  const shown = await readThrough(leg, forging(leg, since, true));
  assert.deepEqual([legStatus(shown), shown.claimed], ['funded', null]);
  const high = { ...leg, escrow: { ...leg.escrow, requiredConfirmations: 6 } };
  await claim(chain, leg);
  assert.equal((await readThrough(high, forging(leg, old))).funded?.deep, false);
});

const asksState = ({ method, params }: Request): boolean => {
  const [call] = params as [{ to?: string } | undefined];
  return method === 'eth_call' && call?.to === contract;
};

test('a node that shows an escrow which no transaction made is not believed', async () => {
  const leg = await newLeg(chain);
  await mine(3);
  const { timestamp } = await chain.client.getBlock();
  const words = [1n, timestamp].map((value) => value.toString(16).padStart(64, '0'));
  const lie: Lie = (request, forward) =>
    asksState(request) ? { result: `0x${words.join('')}` } : forward();
  await assert.rejects(readThrough(leg, lie), { code: 'chain_unavailable' });
});

test('where a node keeps no old state, depth is judged by the block of the funding', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  // The head is asked for by its hash.
  const pruned: Lie = (request, forward) => {
    const [, at] = request.params;
    const isOld = asksState(request) && typeof at === 'string' && at !== 'latest';
    return isOld ? { error: { code: -32_000, message: 'missing trie node' } } : forward();
  };
  assert.equal(legStatus(await readThrough(leg, pruned)), 'seen');
  await mine();
  assert.equal(legStatus(await readThrough(leg, pruned)), 'funded');
});

test('a leg of high value waits for the tagged head as well, a normal one does not', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await mine(20);
  let safe = (await chain.client.getBlockNumber()) - 21n;
  const lie: Lie = async ({ method, params }, forward) => {
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'safe') return forward();
    const { hash, parentHash } = await chain.client.getBlock({ blockNumber: safe });
    return { result: { hash, parentHash, number: `0x${safe.toString(16)}`, timestamp: '0x1' } };
  };
  const adapter = await adapterOver(lie, { depthTag: 'safe' });
  const requiredConfirmations = evmChains['evm-dev'].policy.high.confirmations;
  const high = { ...leg, escrow: { ...leg.escrow, requiredConfirmations } };
  assert.equal(legStatus(await read(leg, adapter)), 'funded');
  assert.equal(legStatus(await read(high, adapter)), 'seen');
  safe += 1n;
  assert.equal(legStatus(await read(high, adapter)), 'funded');
});

test('a settlement through another contract is found', async () => {
  const leg = await newLeg(chain, { amount: 5n });
  await fund(chain, leg);
  const { abi, bytecode } = zoo.get('OwnedWallet')!;
  const owner = anyone.address.slice(2).toLowerCase().padStart(64, '0');
  const address = await deploy(chain, `${bytecode}${owner}`);
  await later(chain, 7_200);
  const call = refundCall(leg.terms, evmDeployment(31_337));
  const args = [call.to, 0n, call.data];
  const data = encodeFunctionData({ abi, functionName: 'send', args });
  const txid = await send(chain, anyone, { to: address, data });
  assert.equal((await read(leg)).refunded?.txid, txid);
});

test('an answer about another transaction than was asked for is an error', async () => {
  const hash = await fund(chain, await newLeg(chain));
  const rpc = rpcClient({ chain: 'evm-dev', urls: [chain.rpcUrl] });
  const other = { ...rpc, call: (method: NodeMethod) => rpc.call(method, [hash], signal()) };
  const words = /asked for transaction 0x(ab)+, it gave transaction 0x[0-9a-f]{64}$/;
  for (const ask of [receiptOf, txOf]) {
    const asking = ask(other, `0x${'ab'.repeat(32)}`, signal());
    await assert.rejects(asking, refuses('chain_unavailable', words));
    assert.notEqual(await ask(rpc, hash.toUpperCase().replace('X', 'x'), signal()), null);
  }
});
