import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { legStatus } from '@parley/core/facts.ts';
import type { Hex } from 'viem';
import type { EvmAdapter } from './adapter.ts';
import { claimCall, evmDeployment, fundCalls } from './plan.ts';
import { anyone, fund, funder, type Leg, newLeg } from './testing/swap.ts';
import { evmWorld } from './testing/world.ts';

const { chain, adapterOf, adapterOver, mine, signal, urlOf } = await evmWorld();
let snapshot: Hex;
beforeEach(async () => {
  snapshot = await chain.client.snapshot();
});
afterEach(async () => {
  await chain.client.revert({ id: snapshot });
  await chain.client.setAutomine(true);
});

const touched = async (adapter: EvmAdapter) => [...(await adapter.changes(signal())).touched];
const facts = (adapter: EvmAdapter, leg: Leg) => adapter.readEscrow(leg.escrow, signal());
const address = ({ escrow }: Leg) => escrow.address;
const deployment = evmDeployment(31_337);
const claimOf = ({ terms, secret }: Leg) => claimCall(terms, deployment, secret);
const manual = () => chain.client.setAutomine(false);

async function following(legs: readonly Leg[], adapter = adapterOf()) {
  adapter.watch(legs.map(({ escrow }) => escrow));
  assert.deepEqual((await touched(adapter)).sort(), legs.map(address).sort());
  assert.deepEqual(await touched(adapter), []);
  return adapter;
}

/** Another process reads them: this adapter is far behind. */
async function mineElsewhere(adapter: EvmAdapter, blocks: number) {
  await mine(blocks);
  adapter.resumeFrom?.(Number(await chain.client.getBlockNumber()));
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

test('a funding that waits for its block shows with 0 confirmations, a claim there its secret alone', async () => {
  const leg = await newLeg(chain);
  const adapter = await following([leg]);
  await manual();
  const call = fundCalls(leg.terms, deployment, 0n)[0]!;
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
  await post(anyone, claimOf(leg), 30_000n);
  assert.deepEqual(await touched(adapter), [address(leg)], 'for its secret');
  const shown = await facts(adapter, leg);
  assert.deepEqual([shown.claimed, shown.secret], [null, leg.secret]);
});

type Range = { readonly fromBlock: string; readonly toBlock: string };

function widthOf(params: readonly unknown[]): number {
  const { fromBlock, toBlock } = params[0] as Range;
  return Number(toBlock) - Number(fromBlock) + 1;
}

for (const how of ['413', '502', '504', 'never']) {
  test(`far behind, a gateway that answers a wide question for logs with ${how} blinds nobody`, async () => {
    const leg = await newLeg(chain);
    const asked: number[] = [];
    const gateway = await adapterOver(
      ({ method, params }, forward) => {
        if (method !== 'eth_getLogs') return forward();
        asked.push(widthOf(params));
        if (widthOf(params) <= 50) return forward();
        return how === 'never' ? undefined : { status: Number(how) };
      },
      { rpc: { attemptTimeoutMs: 4_000, rounds: 1 } },
    );
    const adapter = await following([leg], gateway);
    await fund(chain, leg);
    await mineElsewhere(adapter, 400);
    assert.deepEqual(await touched(adapter), [address(leg)]);
    assert.equal(legStatus(await facts(adapter, leg)), 'funded');
    assert.equal(asked.filter((blocks) => blocks > 50).length, 1, 'it learns the limit');
  });
}

test('far behind, what was read before a failure is not read again', async () => {
  const leg = await newLeg(chain);
  const begun = Number(await chain.client.getBlockNumber());
  const asked: number[] = [];
  let isBroken = true;
  const node = await adapterOver(
    ({ method, params }, forward) => {
      if (method !== 'eth_getLogs') return forward();
      const from = Number((params[0] as Range).fromBlock);
      asked.push(from - begun);
      return isBroken && from > begun + 250 ? { status: 502 } : forward();
    },
    { maxLogRange: 100, rpc: { rounds: 1 } },
  );
  const adapter = await following([leg], node);
  await fund(chain, leg);
  await mineElsewhere(adapter, 500);
  asked.splice(0);
  await assert.rejects(adapter.changes(signal()), { code: 'chain_unavailable' });
  assert.deepEqual(asked, [1, 101, 201, 301, 301]);
  isBroken = false;
  asked.splice(0);
  assert.deepEqual(await touched(adapter), [address(leg)]);
  assert.equal(asked[0], 237, 'as far back as blocks may be taken back');
});

test('a block under the number of another one is an error of its node, and is not taken', async () => {
  const leg = await newLeg(chain);
  let isLying = false;
  const adapter = await following(
    [leg],
    await adapterOver(async ({ method, params }, forward) => {
      const said = await forward();
      if (!isLying || method !== 'eth_getBlockByNumber' || params[1] !== true) return said;
      return { result: { ...(said as { result: object }).result, number: '0x7' } };
    }),
  );
  await fund(chain, leg);
  isLying = true;
  const message = /asked for block \d+, it gave block 7$/;
  await assert.rejects(adapter.changes(signal()), { code: 'chain_unavailable', message });
  isLying = false;
  assert.deepEqual(await touched(adapter), [address(leg)]);
});

test('a failure in the middle loses nothing: the next call reports it', async () => {
  const leg = await newLeg(chain);
  let broken = false;
  const flaky = await adapterOver(
    ({ method, params }, forward) =>
      broken && method === 'eth_getBlockByNumber' && params[0] === 'pending'
        ? undefined
        : forward(),
    { rpc: { attemptTimeoutMs: 4_000, rounds: 1 } },
  );
  const adapter = await following([leg], flaky);
  await fund(chain, leg);
  broken = true;
  await assert.rejects(adapter.changes(signal()), { code: 'chain_timeout' });
  broken = false;
  assert.deepEqual(await touched(adapter), [address(leg)]);
});

test('a node that keeps back an old block is told as failing, and another one is asked first', async () => {
  const leg = await newLeg(chain);
  let kept = -1;
  const lacking = await urlOf(({ method, params: [at, isWhole] }, forward) => {
    const isKept = method === 'eth_getBlockByNumber' && isWhole === true && Number(at) === kept;
    return isKept ? { result: null } : forward();
  });
  const adapter = await following([leg], adapterOf({ rpcUrls: [lacking, chain.rpcUrl] }));
  await fund(chain, leg);
  kept = Number(await chain.client.getBlockNumber());
  await mine(16);
  await assert.rejects(adapter.changes(signal()), { code: 'chain_unavailable' });
  assert.deepEqual(await touched(adapter), [address(leg)]);
});
