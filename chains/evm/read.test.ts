import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import type { Hex } from 'viem';
import { encodeFunctionData } from 'viem/utils';
import { type EscrowFacts, legStatus, nothingSeen } from '../../core/facts.ts';
import { claimedTopic, fundedTopic } from '../escrows/calls.ts';
import type { WatchedEscrow } from '../interface/reading.ts';
import { type Answer, type Lie, lyingNode, untilTested } from '../testing/nodes.ts';
import type { EvmAdapterOptions } from './adapter.ts';
import { evmDeployment, refundCall } from './plan.ts';
import { evmChains } from './policy.ts';
import { accounts, deploy, send, startAnvil } from './testing/anvil.ts';
import { compileTestContracts } from './testing/compile.ts';
import {
  adapterOn,
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

const { policy } = evmChains['evm-dev'];
const signal = () => AbortSignal.timeout(60_000);
const zoo = compileTestContracts('Zoo.sol');
const chain = await startAnvil();
let snapshot: Hex;
beforeEach(async () => {
  snapshot = await chain.client.snapshot();
});
afterEach(() => chain.client.revert({ id: snapshot }));
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.rpcUrl, lie));

const adapterOf = (over: Partial<EvmAdapterOptions> = {}) => adapterOn(chain, over);

const mine = (blocks = 1) => chain.client.mine({ blocks });
const read = (leg: Leg, adapter = adapterOf()) => adapter.readEscrow(leg.escrow, signal());

async function readThrough(leg: Leg, lie: Lie, over: Partial<EvmAdapterOptions> = {}) {
  const node = await lying(lie);
  return await read(leg, adapterOf({ rpcUrls: [node.url], ...over }));
}

const noLogs: Lie = ({ method }, forward) =>
  method === 'eth_getLogs' ? { result: [] } : forward();

function governed(functionName: string, args: readonly unknown[]): string {
  return encodeFunctionData({ abi: zoo.get('Governed')!.abi, functionName, args });
}

const { contract } = evmDeployment(31_337);

const nextIn = ({ terms }: Leg) =>
  newLeg(chain, { lane: { number: terms.lane?.number ?? '', counter: 2 }, amount: 7n });

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

test('an escrow whose lane was used again is told by its logs', async () => {
  const [claimed, refunded] = [await newLeg(chain), await newLeg(chain, { amount: 2n })];
  const fundTx = await fund(chain, claimed);
  await fund(chain, refunded);
  const claimTx = await claim(chain, claimed);
  await later(chain, 7_200);
  const refundTx = await refund(chain, refunded);
  for (const leg of [claimed, refunded]) await fund(chain, await nextIn(leg));
  await mine(3);
  const one = await read(claimed);
  assert.deepEqual([one.funded?.txid, one.claimed?.txid], [fundTx, claimTx]);
  assert.deepEqual([one.claimed?.deep, one.secret, one.balance], [true, claimed.secret, 0n]);
  const other = await read(refunded);
  assert.deepEqual([other.refunded?.txid, other.refunded?.deep], [refundTx, true]);
  assert.deepEqual([other.claimed, other.empty], [null, true]);
});

test('without its logs it is told by what was stored, else it is unknown and never unfunded', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await claim(chain, leg);
  await mine(2);
  const stored = await read(leg);
  await fund(chain, await nextIn(leg));
  const of = (facts?: EscrowFacts) => ({ ...leg, escrow: { ...leg.escrow, stored: facts } }) as Leg;
  const pruned: Lie = ({ method }, forward) =>
    method === 'eth_getLogs' ? { error: { code: -32_000, message: 'pruned' } } : forward();
  for (const node of [noLogs, pruned]) {
    const unknown = await readThrough(leg, node);
    assert.equal(legStatus(unknown), 'seen');
    assert.deepEqual(unknown, { ...nothingSeen, outcome: 'unknown' });
    const kept = await readThrough(of(stored), node);
    assert.deepEqual([kept.claimed, kept.secret], [stored.claimed, leg.secret]);
    assert.equal(kept.outcome, undefined);
    // Not deep when it was stored: it may have been taken back, and stays what it was.
    const claimed = { txid: 'aa', confirmations: 1, deep: false };
    const shallow = await readThrough(of({ ...stored, claimed }), node);
    assert.deepEqual([shallow.claimed, shallow.outcome], [claimed, 'unknown']);
  }
  // What was stored changes by logs alone.
  const refunded = { ...stored, claimed: null, refunded: stored.claimed };
  assert.deepEqual((await readThrough(of(refunded), noLogs)).refunded, stored.claimed);
  const told = await read(of(refunded));
  assert.deepEqual([told.claimed?.txid, told.refunded], [stored.claimed?.txid, null]);
});

test('an unknown outcome is told by the same adapter once its node gives logs', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  const claimTx = await claim(chain, leg);
  await fund(chain, await nextIn(leg));
  await mine(3);
  let keeps = false;
  const node = await lying((call, forward) => (keeps ? forward() : noLogs(call, forward)));
  const adapter = adapterOf({ rpcUrls: [node.url] });
  assert.equal((await read(leg, adapter)).outcome, 'unknown');
  keeps = true;
  const told = await read(leg, adapter);
  assert.deepEqual([told.outcome, told.claimed?.txid], [undefined, claimTx]);
});

test('an escrow whose counter went to another one never looks funded, used again or not', async () => {
  const leg = await newLeg(chain);
  const { lane } = leg.terms;
  assert.ok(lane);
  const other = await newLeg(chain, { lane, amount: 7n });
  await fund(chain, other);
  await claim(chain, other);
  await fund(chain, await nextIn(leg));
  await mine(3);
  const shown = await read(leg);
  assert.deepEqual(shown, { ...nothingSeen, outcome: 'unknown' });
});

test('an escrow whose counter went to another one is not funded', async () => {
  const leg = await newLeg(chain);
  const { lane } = leg.terms;
  assert.ok(lane);
  await fund(chain, await newLeg(chain, { lane, amount: 7n }));
  await mine(2);
  assert.deepEqual(await read(leg), nothingSeen);
});

test('a token that takes its money out of the escrow leaves the leg seen, never funded', async () => {
  const token = await deploy(chain, zoo.get('Governed')!.bytecode);
  const leg = await newLeg(chain, { token });
  await mint(chain, token, funder.address, 1_000n);
  await fund(chain, leg);
  await mine(3);
  assert.equal(legStatus(await read(leg)), 'funded');
  const set = (value: bigint) =>
    send(chain, accounts[9]!, { to: token, data: governed('setBalance', [contract, value]) });
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
  const [funded, claimed, refunded] = [
    await newLeg(chain),
    await newLeg(chain, { amount: 2_000n }),
    await newLeg(chain, { amount: 3_000n }),
  ];
  const fundTx = await fund(chain, funded);
  await fund(chain, claimed);
  await fund(chain, refunded);
  await mine();
  const shown = await readThrough(funded, noLogs);
  assert.deepEqual([shown.funded?.txid, shown.funded?.deep], [fundTx, true]);
  const node = await lying(noLogs);
  const adapter = adapterOf({ rpcUrls: [node.url] });
  adapter.watch([claimed.escrow, refunded.escrow]);
  await adapter.changes(signal());
  const claimTx = await claim(chain, claimed);
  await later(chain, 7_200);
  const refundTx = await refund(chain, refunded);
  await mine(2);
  const { touched } = await adapter.changes(signal());
  const both = [claimed.escrow.address, refunded.escrow.address];
  assert.deepEqual([...touched].sort(), both.sort());
  const byState = await read(claimed, adapter);
  assert.deepEqual([byState.claimed?.txid, byState.secret], [claimTx, claimed.secret]);
  assert.equal((await read(refunded, adapter)).refunded?.txid, refundTx);
});

function forged(leg: Leg, block: { number: bigint | null; hash: Hex | null }) {
  return {
    address: contract,
    topics: [fundedTopic, `0x${leg.escrow.address.split(':')[1]}`],
    data: `0x${leg.terms.hashlock}`,
    transactionHash: `0x${'77'.repeat(32)}`,
    blockNumber: `0x${block.number?.toString(16)}`,
    blockHash: block.hash,
    logIndex: '0x0',
  };
}

function asksState({ method, params }: { method: string; params: readonly unknown[] }): boolean {
  const [call] = params as [{ to?: string } | undefined];
  return method === 'eth_call' && call?.to === contract;
}

test('a funding log without the state for it is not believed', async () => {
  const leg = await newLeg(chain);
  await mine(5);
  const block = await chain.client.getBlock({ blockTag: 'latest' });
  const shown = await readThrough(leg, ({ method }, forward) =>
    method === 'eth_getLogs' ? { result: [forged(leg, block)] } : forward(),
  );
  assert.deepEqual(shown, nothingSeen);
});

test('a funding that logs call deep, but whose state is not there at depth, is not deep', async () => {
  const leg = await newLeg(chain);
  await mine(10);
  const old = await chain.client.getBlock({ blockTag: 'latest' });
  await mine(10);
  await fund(chain, leg);
  const lie: Lie = async ({ method }, forward) => {
    if (method !== 'eth_getLogs') return forward();
    const honest = (await forward()) as { result: unknown[] };
    return { result: [forged(leg, old), ...honest.result] };
  };
  assert.equal(legStatus(await readThrough(leg, lie)), 'seen');
  const high = { ...leg, escrow: { ...leg.escrow, requiredConfirmations: 4 } };
  await claim(chain, leg);
  assert.equal((await readThrough(high, lie)).funded?.deep, false);
});

test('a claim log of an escrow that is open is not believed', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await mine(3);
  const head = await chain.client.getBlockNumber();
  const block = await chain.client.getBlock({ blockNumber: head - 2n });
  const shown = await readThrough(leg, async ({ method }, forward) => {
    if (method !== 'eth_getLogs') return forward();
    const { topics, ...log } = forged(leg, block);
    const claimed = { ...log, topics: [claimedTopic, topics[1]], data: `0x${leg.secret}` };
    const honest = (await forward()) as { result: unknown[] };
    return { result: [...honest.result, claimed] };
  });
  assert.deepEqual([legStatus(shown), shown.claimed], ['funded', null]);
});

test('a node that shows an escrow which no transaction made is not believed', async () => {
  const leg = await newLeg(chain);
  await mine(3);
  const { timestamp } = await chain.client.getBlock();
  const word = (value: bigint) => value.toString(16).padStart(64, '0');
  const lie: Lie = (request, forward) =>
    asksState(request) ? { result: `0x${word(1n)}${word(timestamp)}` } : forward();
  await assert.rejects(readThrough(leg, lie), { code: 'chain_unavailable' });
});

test('where a node keeps no old state, depth is judged by the block of the funding', async () => {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  // The head is asked for by its hash.
  const pruned: Lie = async (request, forward): Promise<Answer> => {
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
  const funded = await chain.client.getBlockNumber();
  let safe = funded - 21n;
  const node = await lying(async (request, forward) => {
    const { method, params } = request;
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'safe') return forward();
    const { hash, parentHash } = await chain.client.getBlock({ blockNumber: safe });
    const number = `0x${safe.toString(16)}`;
    return { result: { hash, parentHash, number, timestamp: '0x1' } };
  });
  const adapter = adapterOf({ rpcUrls: [node.url], depthTag: 'safe' });
  const high: WatchedEscrow = {
    ...leg.escrow,
    requiredConfirmations: policy.high.confirmations,
  };
  assert.equal(legStatus(await adapter.readEscrow(leg.escrow, signal())), 'funded');
  assert.equal(legStatus(await adapter.readEscrow(high, signal())), 'seen');
  safe += 1n;
  assert.equal(legStatus(await adapter.readEscrow(high, signal())), 'funded');
});

test('a claim through another contract is found, and so is a refund', async () => {
  const leg = await newLeg(chain, { amount: 5n });
  await fund(chain, leg);
  const wallet = zoo.get('OwnedWallet')!;
  const address = await deploy(
    chain,
    `${wallet.bytecode}${anyone.address.slice(2).toLowerCase().padStart(64, '0')}`,
  );
  await later(chain, 7_200);
  const call = refundCall(leg.terms, evmDeployment(31_337));
  const data = encodeFunctionData({
    abi: wallet.abi,
    functionName: 'send',
    args: [call.to, 0n, call.data],
  });
  const txid = await send(chain, anyone, { to: address, data });
  assert.equal((await read(leg)).refunded?.txid, txid);
});
