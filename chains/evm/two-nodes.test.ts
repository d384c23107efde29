// Two nodes that pose as one chain, and what an adapter over both lets through.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import { legStatus, nothingSeen } from '../../core/facts.ts';
import { type EvmAdapter, evmAdapter } from './adapter.ts';
import { evmChains } from './policy.ts';
import { startAnvil, type TestChain } from './testing/anvil.ts';
import { hangingNode, type Lie, lyingNode, type TestNode } from './testing/nodes.ts';
import { claim, deployToken, fund, newLeg } from './testing/swap.ts';

const { policy } = evmChains['evm-dev'];
const signal = () => AbortSignal.timeout(60_000);
let chain: TestChain;
let other: TestChain;
before(async () => {
  [chain, other] = await Promise.all([startAnvil(), startAnvil()]);
  // Two chains of one id for sure, even when both started in the same second.
  await deployToken(other, 'DevDollar');
  await Promise.all([chain, other].map(({ client }) => client.mine({ blocks: 20 })));
});
after(() => Promise.all([chain.stop(), other.stop()]));

function adapterOf(...rpcUrls: string[]): EvmAdapter {
  const rpc = { attemptTimeoutMs: 1_000, rounds: 1 };
  return evmAdapter({ chain: 'evm-dev', chainId: 31_337, rpcUrls, policy, rpc });
}

const disagree = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ParleyError, String(error));
  assert.equal(error.code, 'sources_disagree', error.message);
  assert.match(error.message, words);
  return true;
};

async function fundedLeg() {
  const leg = await newLeg(chain);
  await fund(chain, leg);
  await chain.client.mine({ blocks: 2 });
  return leg;
}

const inputOf = ({ escrow }: Awaited<ReturnType<typeof newLeg>>) => ({
  escrow,
  feeRateSatPerVbyte: null,
  isPublic: false,
});

test('nodes on two chains of one id pause funding and revealing, not refunds', async () => {
  const leg = await fundedLeg();
  for (const longer of [chain, other]) {
    // Whichever is longer: the shorter one is not taken for one that is only behind.
    await longer.client.mine({ blocks: 60 });
    for (const urls of [
      [chain.rpcUrl, other.rpcUrl],
      [other.rpcUrl, chain.rpcUrl],
    ]) {
      const adapter = adapterOf(...urls);
      const differ = disagree(/its nodes differ about block \d+/);
      await assert.rejects(adapter.mustAgree(leg.escrow, signal()), differ);
      await assert.rejects(adapter.buildFund(inputOf(leg), signal()), differ);
      await assert.rejects(adapter.buildClaim(inputOf(leg), leg.secret, signal()), differ);
    }
  }
  const adapter = adapterOf(chain.rpcUrl, other.rpcUrl);
  await adapter.buildRefund(inputOf(leg), signal());
  adapter.watch([leg.escrow]);
  await claim(chain, leg);
  await adapter.readEscrow(leg.escrow, signal());
  const late = adapter.buildClaim(inputOf(leg), leg.secret, signal());
  // The secret is public, so only the empty escrow is in its way.
  await assert.rejects(late, { code: 'nothing_there' });
});

test('nodes of one chain that show an escrow funded otherwise pause it alone', async () => {
  const [leg, quiet] = [await fundedLeg(), await newLeg(chain)];
  const word = (value: number) => value.toString(16).padStart(64, '0');
  for (const [state, words] of [
    [0, 'no funding'],
    [3, 'refunded at 7'],
  ] as const) {
    const lies = await lyingNode(chain.rpcUrl, ({ method, params }, forward) => {
      const isAbout = JSON.stringify(params).includes(leg.terms.hashlock);
      if (method !== 'eth_call' || !isAbout) return forward();
      return { result: `0x${word(state)}${word(7)}` };
    });
    try {
      for (const urls of [
        [chain.rpcUrl, lies.url],
        [lies.url, chain.rpcUrl],
      ]) {
        const adapter = adapterOf(...urls);
        const differs = disagree(new RegExp(`open at \\d+.*${words}|${words}.*open at \\d+`));
        await assert.rejects(adapter.mustAgree(leg.escrow, signal()), differs);
        await assert.rejects(adapter.buildClaim(inputOf(leg), leg.secret, signal()), differs);
        await adapter.mustAgree(quiet.escrow, signal());
      }
    } finally {
      await lies.stop();
    }
  }
});

test('nodes that show the same agree, funded or not, one alone, and one that hangs left out', async () => {
  const [leg, quiet] = [await fundedLeg(), await newLeg(chain)];
  const same: TestNode = await lyingNode(chain.rpcUrl, (_, forward) => forward());
  const hanging = await hangingNode();
  try {
    for (const urls of [[chain.rpcUrl, same.url], [chain.rpcUrl], [hanging.url, chain.rpcUrl]]) {
      const adapter = adapterOf(...urls);
      await adapter.mustAgree(leg.escrow, signal());
      await adapter.mustAgree(quiet.escrow, signal());
      await adapter.buildClaim(inputOf(leg), leg.secret, signal());
    }
    const none = adapterOf(hanging.url, hanging.url);
    await assert.rejects(none.mustAgree(leg.escrow, signal()), { code: 'chain_timeout' });
  } finally {
    await Promise.all([same.stop(), hanging.stop()]);
  }
});

/** A leg whose lane two later escrows have, and whose counter `first` took. */
async function overtaken(settles: 'itself' | 'another') {
  const leg = await newLeg(chain);
  const { lane } = leg.terms;
  assert.ok(lane);
  const first = settles === 'itself' ? leg : await newLeg(chain, { lane, amount: 7n });
  await fund(chain, first);
  await claim(chain, first);
  await fund(chain, await newLeg(chain, { lane: { ...lane, counter: 2 } }));
  await chain.client.mine({ blocks: 3 });
  return leg;
}

const noLogs: Lie = ({ method }, forward) =>
  method === 'eth_getLogs' ? { result: [] } : forward();

test('a lane that went on: two whole scans show that its escrow was never funded, one does not', async () => {
  const leg = await overtaken('another');
  const read = (...urls: string[]) => adapterOf(...urls).readEscrow(leg.escrow, signal());
  const unknown = { ...nothingSeen, outcome: 'unknown' };
  const pruned: Lie = ({ method }, forward) =>
    method === 'eth_getLogs' ? { error: { code: -32_000, message: 'pruned' } } : forward();
  const [same, without] = await Promise.all([
    lyingNode(chain.rpcUrl, (_, forward) => forward()),
    lyingNode(chain.rpcUrl, pruned),
  ]);
  const hanging = await hangingNode();
  try {
    assert.deepEqual(await read(chain.rpcUrl, same.url), nothingSeen);
    assert.deepEqual(await read(chain.rpcUrl, without.url, same.url), nothingSeen);
    for (const urls of [
      [chain.rpcUrl],
      [chain.rpcUrl, without.url],
      [chain.rpcUrl, other.rpcUrl],
    ]) {
      assert.deepEqual(await read(...urls), unknown, urls.join());
    }
    assert.deepEqual(await read(chain.rpcUrl, hanging.url), unknown);
    // Not deep everywhere, it may be taken back.
    const escrow = { ...leg.escrow, requiredConfirmations: 1_000 };
    const shallow = adapterOf(chain.rpcUrl, same.url).readEscrow(escrow, signal());
    assert.deepEqual(await shallow, unknown);
  } finally {
    await Promise.all([same, without, hanging].map((each) => each.stop()));
  }
});

test('a node that keeps logs back makes no escrow unfunded beside an honest one', async () => {
  const leg = await overtaken('itself');
  const since = Number((await chain.client.getBlock()).timestamp);
  // Whoever takes its word for the first block to scan scans none that has the funding.
  const late: Lie = async ({ method, params }, forward) => {
    const answer = await forward();
    if (method === 'eth_getLogs') return { result: [] };
    if (method !== 'eth_getBlockByNumber' || !('result' in answer)) return answer;
    const isOld = Number(params[0]) < Number(await chain.client.getBlockNumber());
    const block = answer.result as object;
    return { result: isOld ? { ...block, timestamp: `0x${(since - 9_999).toString(16)}` } : block };
  };
  for (const lie of [noLogs, late]) {
    const liar = await lyingNode(chain.rpcUrl, lie);
    try {
      const first = await adapterOf(liar.url, chain.rpcUrl).readEscrow(leg.escrow, signal());
      assert.deepEqual([legStatus(first), first.outcome], ['seen', 'unknown']);
      const second = await adapterOf(chain.rpcUrl, liar.url).readEscrow(leg.escrow, signal());
      assert.equal(legStatus(second), 'claimed');
    } finally {
      await liar.stop();
    }
  }
});

test('a node that comes back as another chain is refused, with both ids, until it is right', async () => {
  let stage: 'right' | 'gone' | 'wrong' = 'right';
  const node = await lyingNode(chain.rpcUrl, async ({ method }, forward) => {
    if (stage === 'gone') return { error: { code: 429, message: 'not now' } };
    if (stage === 'wrong' && method === 'eth_chainId') return { result: '0x1' };
    return forward();
  });
  try {
    const adapter = adapterOf(node.url);
    await adapter.heads(signal());
    stage = 'gone';
    await assert.rejects(adapter.heads(signal()));
    stage = 'wrong';
    for (let poll = 0; poll < 2; poll += 1) {
      await assert.rejects(adapter.heads(signal()), {
        code: 'chain_unavailable',
        message: 'evm-dev: the node is of chain id 1, not 31337 as configured',
      });
    }
    stage = 'right';
    await adapter.heads(signal());
  } finally {
    await node.stop();
  }
});
