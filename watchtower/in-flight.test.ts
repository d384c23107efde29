// What is in flight where one of two nodes hangs, is behind or lies, where both swallow or refuse
// it, and where fees rise: it lands, and costs no more for what is not its own fault.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter } from '../chains/adapter.ts';
import { evmAdapter } from '../chains/evm/adapter.ts';
import { createEvmGasAccount } from '../chains/evm/gas-account.ts';
import { evmGasPolicies } from '../chains/evm/gas-policy.ts';
import { evmChains } from '../chains/evm/policy.ts';
import { parseGasKey } from '../chains/gas/keys.ts';
import { type Lie, lyingNode, type TestNode } from '../chains/testing/nodes.ts';
import { ParleyError } from '../core/errors.ts';
import { evm2, must } from '../server/settle/testing/world.ts';
import { partsOf } from '../server/start/watchtower.ts';
import { mostReplacements, unknownSeconds } from './bounds.ts';
import { noteWanted } from './db/keys.ts';
import type { Gas } from './port.ts';
import { nextNonce } from './sign.ts';
import {
  attemptsOn,
  baseFee,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  fundedDeal,
  gwei,
  hurry,
  jobsOf,
  type Loose,
  passes,
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
let account: Gas['account'];
let adapter: ChainAdapter;
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
  ({ account } = gas);
  adapter = desk.deps.adapters.get(evm2) as ChainAdapter;
}, limits);
beforeEach(async () => {
  lies = { first: honest, second: honest };
  gas.account = account;
  send(adapter.broadcast);
  await blockAt(gwei);
  await passes(desk);
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

async function relayedDeal(): Promise<Deal> {
  const deal = await fundedDeal(desk);
  must(await relay(deal));
  return deal;
}

function send(broadcast: ChainAdapter['broadcast']): void {
  (desk.deps.adapters as Map<string, ChainAdapter>).set(evm2, { ...adapter, broadcast });
}

async function blockAt(wei: bigint): Promise<void> {
  await baseFee(desk, evm2, wei);
  await desk.dev.mine(evm2, 1);
}

/** Each after what a fee is offered for where something waits behind it. */
async function looks(count: number, between = async () => {}): Promise<void> {
  for (let look = 0; look < count; look += 1) {
    await between();
    desk.deps.advance(21_000);
    await hurry(desk);
    await desk.keeper.pass(evm2);
  }
}

async function reserves(deals: readonly Deal[]): Promise<bigint[]> {
  const jobs = await Promise.all(deals.map((deal) => jobsOf(desk, deal)));
  return jobs.map((all) => BigInt(all.find(({ chain }) => chain === evm2)?.reserve ?? 0));
}

async function land(deals: readonly Deal[]): Promise<void> {
  await deepen(desk);
  await looks(1);
  await deepen(desk);
  for (const deal of deals) assert.equal((await swapOf(deal)).legs.a.claimedBy, 'keeper');
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

test('what is found to be final meanwhile has used its nonce', limits, async () => {
  const deal = await relayedDeal();
  await looks(1);
  const nonce = await countOf('latest');
  await rpc('anvil_mine', '0x80');
  // Those that are asked first are behind.
  gas.account = { ...account, minedNonce: async () => nonce };
  const parts = partsOf(desk.deps, desk.deps);
  const next = await nextNonce(parts, { gas, signal: AbortSignal.timeout(20_000) });
  assert.equal((await onShort(deal))[0]?.fate, 'deep');
  assert.equal(next, nonce + 1);
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

test(
  'what failed in a block keeps its nonce where one node is behind, not where none has it',
  limits,
  async () => {
    const [elsewhere, deal] = [await fundedDeal(desk), await fundedDeal(desk)];
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
    const asked: bigint[] = [];
    const sign: typeof account.sign = (work, slot, signal) => {
      if (work.verb === 'void') asked.push(slot.mostCost);
      return account.sign(work, slot, signal);
    };
    gas.account = { ...account, sign };
    // Its cap is for what nobody was promised.
    const { dailyCap } = gas;
    gas.dailyCap = 0n;
    desk.deps.advance(1_000);
    await turn();
    assert.deepEqual(await freed(nonce), [], 'both nodes may be behind');
    desk.deps.advance(unknownSeconds * 1_000);
    // Not for a relay that waits elsewhere.
    const { db } = desk.deps;
    const become = (purpose: string) =>
      db.rows({
        name: '',
        text: 'update keeper_jobs set purpose = $2 where swap_id = $1 and chain = $3',
        values: [deal.id, purpose, evm2],
      });
    await become('secret');
    await db.rows({
      name: '',
      text: `insert into keeper_jobs (chain, escrow, verb, purpose, swap_id, leg, account_id, state,
          due_at, created_at, reserve)
        select chain, $3, verb, 'relay', swap_id, leg, account_id, 'open', 'infinity',
          created_at, 1 from keeper_jobs where swap_id = $1 and chain = $2`,
      values: [deal.id, evm2, (await swapOf(elsewhere)).legs.a.escrow],
    });
    await desk.keeper.pass(evm2);
    assert.deepEqual(await freed(nonce), []);
    await become('relay');
    await db.rows({
      name: '',
      text: `delete from keeper_jobs where chain = $1 and due_at = 'infinity'`,
      values: [evm2],
    });
    await turn();
    gas.dailyCap = dailyCap;
    assert.deepEqual(await freed(nonce), [nonce]);
    const usual = await account.reserve({ verb: 'void' }, AbortSignal.timeout(10_000));
    assert.ok(asked.length === 1 && (asked[0] ?? 0n) <= usual, `${asked} of ${usual}`);
    await lands(deal);
  },
);

test(
  'what a node swallows pays more so many times, within what is kept for it',
  limits,
  async () => {
    const deals = [await relayedDeal()];
    // A request was refused for it: it would pay more at every look.
    await noteWanted(desk.deps.db, evm2, new Date('2100-01-01'));
    // Where no block comes it is signed once, however long it waits.
    await looks(10);
    assert.equal((await onShort(deals[0] as Deal)).length, 1);
    const held = await reserves(deals);
    const swallowed = async () => {
      await rpc('anvil_dropAllTransactions');
      await rpc('anvil_mine', '0x3');
    };
    await looks(mostReplacements + 2, swallowed);
    const { length } = await onShort(deals[0] as Deal);
    assert.ok(length > 3 && length <= mostReplacements, `${length} versions`);
    assert.deepEqual(await reserves(deals), held);
    await land(deals);
  },
);

test('a relay whose replacement is refused is voided for nobody', limits, async () => {
  const deal = await relayedDeal();
  await looks(1);
  const sign: typeof account.sign = (work, slot, signal) => {
    if (work.verb === 'void') return account.sign(work, slot, signal);
    return Promise.reject(new ParleyError('fee_above_limit', 'of a test', {}));
  };
  gas.account = { ...account, sign };
  await noteWanted(desk.deps.db, evm2, new Date('2100-01-01'));
  await blockAt(40n * gwei);
  await looks(2);
  assert.deepEqual(
    (await onShort(deal)).map(({ verb }) => verb),
    ['claim'],
  );
  gas.account = account;
  await blockAt(gwei);
  await land([deal]);
});

test('what nodes refuse for its fee, whatever it is, is not signed for ever', limits, async () => {
  const deal = await relayedDeal();
  const [held] = await reserves([deal]);
  let refused = 0;
  send(() => {
    refused += 1;
    return Promise.reject(new ParleyError('refused_by_node', 'transaction underpriced', {}));
  });
  await looks(mostReplacements + 2);
  const { length } = await onShort(deal);
  assert.ok(length > 3 && length <= mostReplacements, `${length} versions`);
  assert.deepEqual(await reserves([deal]), [held]);
  assert.ok(refused > mostReplacements + 2, 'it is sent at every look');
  send(adapter.broadcast);
  await looks(1);
  await land([deal]);
});

test(
  'fees that rise far beyond what was reserved are followed, and no further',
  limits,
  async () => {
    const deals = [await relayedDeal()];
    const held = await reserves(deals);
    await looks(1);
    const allowed: bigint[] = [];
    const sign: typeof account.sign = (work, slot, signal) => {
      if (slot.above !== null) allowed.push(slot.mostCost);
      return account.sign(work, slot, signal);
    };
    gas.account = { ...account, sign };
    for (let fee = 4n * gwei; fee <= 256n * gwei; fee *= 4n) {
      await blockAt(fee);
      desk.deps.advance(900_000);
      await looks(1);
    }
    const signal = AbortSignal.timeout(10_000);
    const usual = await account.reserve({ verb: 'void' }, signal);
    const now = await reserves(deals);
    assert.ok(
      now.every((reserve, at) => reserve > (held[at] ?? 0n)),
      `${now} after ${held}`,
    );
    // A claim takes more gas than a payment of nothing, and less than ten times as much.
    assert.ok(allowed.length > 3 && allowed.every((each) => each < 10n * usual), `${allowed}`);
    for (const deal of deals) {
      const { length } = await onShort(deal);
      assert.ok(length > 1 && length < 8, `${length} versions`);
    }
    await land(deals);
  },
);

test('a job does not end while a node owes the word of one that left', limits, async () => {
  const deal = await relayedDeal();
  await looks(1);
  await blockAt(40n * gwei);
  desk.deps.advance(900_000);
  await looks(1);
  const [older, ...newer] = await onShort(deal);
  assert.equal(newer.length, 1);
  // Its receiver refuses what is mined, and claims for itself.
  const { address } = deal.taker.evmAccount;
  await rpc('anvil_setCode', address, '0xfe');
  await desk.dev.mine(evm2, 1);
  await rpc('anvil_setCode', address, '0x');
  await blockAt(gwei);
  await claimOwn(desk, deal);
  await deepen(desk);
  const fate: typeof account.fate = (sent, signal) => {
    if (sent.txid !== older?.txid) return account.fate(sent, signal);
    return Promise.reject(new ParleyError('chain_unavailable', 'of a test', {}));
  };
  gas.account = { ...account, fate };
  await looks(1);
  const state = async () => (await jobsOf(desk, deal)).find(({ chain }) => chain === evm2)?.state;
  assert.deepEqual(
    (await onShort(deal)).map((each) => each.fate),
    ['unknown', 'failed'],
  );
  assert.equal(await state(), 'open');
  gas.account = account;
  await looks(1);
  assert.deepEqual(
    (await onShort(deal)).map((each) => each.fate),
    ['gone', 'failed'],
  );
  assert.equal(await state(), 'done');
});
