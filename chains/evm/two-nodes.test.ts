// Two nodes that pose as one chain, and what an adapter over both lets through.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ParleyError } from '../../core/errors.ts';
import { type EvmAdapter, evmAdapter } from './adapter.ts';
import { evmChains } from './policy.ts';
import { startAnvil, type TestChain } from './testing/anvil.ts';
import { hangingNode, lyingNode, type TestNode } from './testing/nodes.ts';
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
