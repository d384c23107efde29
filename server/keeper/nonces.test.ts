// The nonces of a gas key where one of two nodes hangs, is behind or lies, and the other is honest.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { evmAdapter } from '../../chains/evm/adapter.ts';
import { createEvmGasAccount } from '../../chains/evm/gas-account.ts';
import { evmGasPolicies } from '../../chains/evm/gas-policy.ts';
import { evmChains } from '../../chains/evm/policy.ts';
import { parseGasKey } from '../../chains/gas/keys.ts';
import { type Lie, lyingNode, type TestNode } from '../../chains/testing/nodes.ts';
import { ParleyError } from '../../core/errors.ts';
import { evm2, must } from '../settle/testing/world.ts';
import { unknownSeconds, vouchedSeconds } from './bounds.ts';
import {
  attemptsOn,
  baseFee,
  type Deal,
  type Desk,
  deepen,
  fundedDeal,
  gwei,
  hurry,
  jobsOf,
  type Loose,
  relay,
  startDesk,
  swapOf,
} from './testing/desk.ts';

const limits = { timeout: 120_000 };
let desk: Desk;
let gas: Loose;
/** Both stand before the same chain; the key asks the first one first. */
let nodes: readonly TestNode[] = [];
const honest: Lie = (_, forward) => forward();
let lies: { first: Lie; second: Lie };
before(async () => {
  desk = await startDesk();
  gas = desk.deps.gas.get(evm2) as Loose;
  const url = desk.infos.evm2?.rpcUrl ?? '';
  nodes = [
    await lyingNode(url, (...asked) => lies.first(...asked)),
    await lyingNode(url, (...asked) => lies.second(...asked)),
  ];
  const rpcUrls = nodes.map((each) => each.url);
  gas.account = createEvmGasAccount({
    key: parseGasKey('evm', desk.key),
    adapter: evmAdapter({ chain: evm2, ...evmChains[evm2], rpcUrls }),
    policy: evmGasPolicies[evm2] ?? assert.fail(),
  });
}, limits);
beforeEach(() => {
  lies = { first: honest, second: honest };
});
after(async () => {
  await desk?.close();
  await Promise.all(nodes.map((each) => each.stop()));
});

const rpc = (method: string, ...params: unknown[]) => desk.rpc(evm2)(method, params);

async function countOf(at: 'latest' | 'pending'): Promise<number> {
  return Number(await rpc('eth_getTransactionCount', desk.gasAddress, at));
}

async function turn(): Promise<void> {
  await hurry(desk);
  await desk.keeper.pass(evm2);
}

const onShort = async (deal: Deal) => await attemptsOn(desk, deal, evm2);

/** The nonces from there on that are taken by nothing. */
async function freed(from: number): Promise<number[]> {
  const rows = await desk.deps.db.rows<{ nonce: number }>({
    name: '',
    text: `select distinct nonce from keeper_attempts
      where chain = $1 and nonce >= $2 and verb = 'void' order by nonce`,
    values: [evm2, from],
  });
  return rows.map(({ nonce }) => nonce);
}

async function lands(deal: Deal): Promise<void> {
  await deepen(desk);
  await turn();
  await deepen(desk);
  assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
}

/** As what never left. */
async function giveUp(deal: Deal): Promise<void> {
  await desk.deps.db.rows({
    name: 'test_give_up',
    text: `with own as (update keeper_jobs set state = 'dropped', reserve = 0
        where swap_id = $1 returning id)
      update keeper_attempts set fate = 'gone' where job_id in (select id from own)`,
    values: [deal.id],
  });
}

/** Of blocks or with what waits; null: it hangs. */
const counting =
  (count: number | null, afterMs = 0): Lie =>
  async ({ method }, forward) => {
    if (method !== 'eth_getTransactionCount') return forward();
    await sleep(afterMs);
    return count === null ? undefined : { result: `0x${count.toString(16)}` };
  };

/** It stays at a block before which so many were mined; `head`: which one that is. */
const behind =
  (count: number, head?: unknown): Lie =>
  (asked, forward) => {
    const { method, params } = asked;
    const isOfHead = method === 'eth_getBlockByNumber' && params[0] === 'latest';
    if (isOfHead && head !== undefined) return { result: head };
    if (method === 'eth_getTransactionReceipt') return { result: null };
    return counting(count)(asked, forward);
  };

test('with a node that hangs a key that was used before signs in its turn', limits, async () => {
  const deal = await fundedDeal(desk);
  await rpc('anvil_setNonce', desk.gasAddress, '0x64');
  lies.second = counting(null);
  must(await relay(deal));
  const [claim] = await onShort(deal);
  assert.equal(claim?.nonce, 100);
  lies.second = honest;
  await turn();
  await lands(deal);
});

test('a job ends where its replacement is deep, though one node stays behind', limits, async () => {
  const deal = await fundedDeal(desk);
  must(await relay(deal));
  const head = await rpc('eth_getBlockByNumber', 'latest', false);
  lies.second = behind(await countOf('latest'), head);
  await rpc('anvil_mine', '0x80');
  await turn();
  // Blocks take more than it offers from here on.
  await baseFee(desk, evm2, 20n * gwei);
  await rpc('anvil_mine', '0x1');
  desk.deps.advance(900_000);
  await turn();
  await deepen(desk);
  for (let pass = 0; pass < 3; pass += 1) await turn();
  const fates = (await onShort(deal)).map(({ fate }) => fate);
  assert.deepEqual(fates, ['gone', 'deep']);
  const [job] = (await jobsOf(desk, deal)).filter(({ chain }) => chain === evm2);
  assert.deepEqual([job?.state, job?.reserve], ['done', '0']);
});

test('a relay lands though the node that is asked first has stopped', limits, async () => {
  const deal = await fundedDeal(desk);
  const fees = new Map<string, unknown>();
  for (const [method, ...params] of [
    ['eth_getBlockByNumber', 'latest', false],
    ['eth_feeHistory', '0x14', 'latest', [50]],
  ] as const) {
    fees.set(method, await rpc(method, ...params));
  }
  lies.first = ({ method, params }, forward) => {
    const isNow = method === 'eth_feeHistory' || params[0] === 'latest';
    return isNow && fees.has(method) ? { result: fees.get(method) } : forward();
  };
  must(await relay(deal));
  await turn();
  await rpc('anvil_dropAllTransactions');
  await baseFee(desk, evm2, 20n * gwei);
  await rpc('anvil_mine', '0x1');
  await baseFee(desk, evm2, 20n * gwei);
  desk.deps.advance(900_000);
  await turn();
  assert.equal((await onShort(deal)).length, 2);
  await lands(deal);
});

test('a filler that one node alone has is offered to all of them again', limits, async () => {
  const [given, deal] = [await fundedDeal(desk), await fundedDeal(desk)];
  const nonce = await countOf('latest');
  for (const each of [given, deal]) must(await relay(each));
  await giveUp(given);
  await turn();
  const [filler] = await desk.deps.db.rows<{ txid: string }>({
    name: '',
    text: `select txid from keeper_attempts where chain = $1 and nonce = $2 and verb = 'void'`,
    values: [evm2, nonce],
  });
  const adapters = desk.deps.adapters as Map<string, ChainAdapter>;
  const adapter = adapters.get(evm2) as ChainAdapter;
  const offered: string[] = [];
  const broadcast: ChainAdapter['broadcast'] = (transaction, signal) => {
    offered.push(transaction.txid);
    return adapter.broadcast(transaction, signal);
  };
  adapters.set(evm2, { ...adapter, broadcast });
  try {
    await turn();
    assert.ok(filler !== undefined && !offered.includes(filler.txid), 'not at every look');
    desk.deps.advance(21_000);
    await turn();
    assert.ok(offered.includes(filler.txid));
  } finally {
    adapters.set(evm2, adapter);
  }
  await lands(deal);
});

test('a node that is quick to lie hides no missing nonce for long', limits, async () => {
  const [given, deal] = [await fundedDeal(desk), await fundedDeal(desk)];
  const nonce = await countOf('latest');
  for (const each of [given, deal]) must(await relay(each));
  await giveUp(given);
  // The honest one is slower than others are usually waited for.
  lies = { first: counting(nonce + 2), second: counting(nonce, 600) };
  await turn();
  desk.deps.advance((unknownSeconds + 1) * 1_000);
  await turn();
  assert.deepEqual(await freed(nonce), [nonce]);
  lies = { first: honest, second: honest };
  await lands(deal);
});

test(
  'what failed in a block keeps its nonce where one node is behind, not where none has it',
  limits,
  async () => {
    const deal = await fundedDeal(desk);
    const nonce = await countOf('latest');
    must(await relay(deal));
    await turn();
    const snapshot = await rpc('evm_snapshot');
    const { address } = deal.taker.evmAccount;
    await rpc('anvil_setCode', address, '0xfe');
    await desk.dev.mine(evm2, 1);
    await rpc('anvil_setCode', address, '0x');
    lies.second = behind(nonce);
    await turn();
    desk.deps.advance(30_000);
    await turn();
    const nonces = (await onShort(deal)).map((each) => each.nonce);
    assert.deepEqual(nonces, [nonce, nonce + 1]);
    assert.deepEqual(await freed(nonce), []);
    // A reorganisation takes its block, and nothing has it any more.
    await rpc('evm_revert', snapshot);
    await rpc('anvil_dropAllTransactions');
    lies.second = honest;
    desk.deps.advance((unknownSeconds + 1) * 1_000);
    await turn();
    assert.deepEqual(await freed(nonce), [nonce]);
    await lands(deal);
  },
);

test(
  'what two nodes say was sent before a restored backup is left for longer',
  limits,
  async () => {
    const [lost, later] = [await fundedDeal(desk), await fundedDeal(desk)];
    const nonce = await countOf('latest');
    must(await relay(lost));
    await turn();
    const run = (text: string) => desk.deps.db.rows({ name: '', text, values: [lost.id] });
    await run(`delete from keeper_attempts where job_id in (
    select id from keeper_jobs where swap_id = $1)`);
    await run('delete from keeper_jobs where swap_id = $1');
    must(await relay(later));
    desk.deps.advance((unknownSeconds + 1) * 1_000);
    await turn();
    assert.deepEqual(await freed(nonce), [], 'two nodes say that it waits');
    desk.deps.advance((vouchedSeconds + 1) * 1_000);
    await turn();
    assert.deepEqual(await freed(nonce), [nonce]);
    await lands(later);
  },
);

test('one nonce that cannot be freed keeps nothing else from being done', limits, async () => {
  const [one, two] = [await fundedDeal(desk), await fundedDeal(desk)];
  const deal = await fundedDeal(desk);
  const nonce = await countOf('latest');
  for (const each of [one, two, deal]) must(await relay(each));
  for (const each of [one, two]) await giveUp(each);
  const adapters = desk.deps.adapters as Map<string, ChainAdapter>;
  const adapter = adapters.get(evm2) as ChainAdapter;
  const { account } = gas;
  let balances = 0;
  const balance: typeof account.balance = (signal) => {
    balances += 1;
    return account.balance(signal);
  };
  try {
    const refused = new ParleyError('refused_by_node', 'of a test', {});
    adapters.set(evm2, { ...adapter, broadcast: () => Promise.reject(refused) });
    await turn();
    assert.deepEqual(await freed(nonce), [nonce, nonce + 1]);
    desk.deps.advance(60_000);
    await turn();
    assert.deepEqual(await freed(nonce), [nonce, nonce + 1], 'those that wait, too');
    const lacking = new ParleyError('chain_unavailable', 'of a test', {});
    gas.account = { ...account, balance, minedNonce: () => Promise.reject(lacking) };
    desk.deps.advance(60_000);
    await desk.keeper.pass(evm2);
    assert.equal(balances, 1, 'for the metric');
  } finally {
    adapters.set(evm2, adapter);
    gas.account = account;
  }
  desk.deps.advance(60_000);
  await turn();
  await turn();
  await lands(deal);
});
