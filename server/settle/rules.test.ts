// A swap under which the market's configuration changes: real chains, another process with other
// policies, and all that the swap began with is kept to its end.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { bitcoinAdapter } from '../../chains/bitcoin/adapter.ts';
import { bitcoinPolicies } from '../../chains/bitcoin/policy.ts';
import { evmAdapter } from '../../chains/evm/adapter.ts';
import { evmChains } from '../../chains/evm/policy.ts';
import { brokenPolicy } from '../../core/deadlines.ts';
import type { ChainPolicy, Depth } from '../../core/policy.ts';
import { createSettlement } from './follow.ts';
import {
  agree,
  bitcoin,
  claimLong,
  claimShort,
  type Deal,
  evm,
  fundLong,
  fundShort,
  give,
  look,
  moveTo,
  must,
  refund,
  startWorld,
  swapOf,
  type World,
} from './testing/world.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world?.close());

/** Every number is another one. */
function other(policy: ChainPolicy): ChainPolicy {
  const deeper = ({ confirmations, settleSeconds, outageSeconds }: Depth): Depth => ({
    confirmations: confirmations + 3,
    settleSeconds: settleSeconds + 600,
    outageSeconds: outageSeconds + 600,
  });
  const made = {
    floorSeconds: policy.floorSeconds + 7_200,
    normal: deeper(policy.normal),
    high: deeper(policy.high),
    lateClaimSeconds: policy.lateClaimSeconds + 900,
    driftSeconds: policy.driftSeconds + 300,
    windowSeconds: 1_200,
    reactSeconds: policy.reactSeconds + 600,
    signSeconds: policy.signSeconds + 600,
    detectSeconds: policy.detectSeconds + 600,
  };
  assert.deepEqual(brokenPolicy(made), []);
  return made;
}

/** The market as another process with other policies serves it from now on. */
async function restarted({ deps, infos }: World) {
  const adapters = deps.adapters as Map<string, ChainAdapter>;
  for (const adapter of adapters.values()) await adapter.close();
  const { chainId, policy } = evmChains[evm];
  adapters.set(
    evm,
    evmAdapter({ chain: evm, chainId, rpcUrls: [infos.evm.rpcUrl], policy: other(policy) }),
  );
  adapters.set(
    bitcoin,
    bitcoinAdapter({
      chain: bitcoin,
      network: 'regtest',
      source: { coreUrl: infos.bitcoin.rpcUrl },
      policy: other(bitcoinPolicies.regtest),
      now: () => Math.floor(deps.now() / 1_000),
    }),
  );
  return createSettlement(deps);
}

/** As a formula of another version would have left it. */
async function ofAnotherFormula({ deps }: World, deal: Deal): Promise<void> {
  await deps.db.rows({
    name: 'test_formula',
    text: `update swaps set rules = jsonb_set(rules, '{formula}', '999') where id = $1`,
    values: [deal.id],
  });
}

const kept = ({ rules, deadlines, legs, hashlock, role }: Awaited<ReturnType<typeof swapOf>>) => {
  const leg = ({ long, timelock, escrow, requiredConfirmations, amount }: typeof legs.a) => {
    return { long, timelock, escrow, requiredConfirmations, amount };
  };
  return { rules, deadlines, hashlock, role, a: leg(legs.a), b: leg(legs.b) };
};

test('other policies under open swaps move nothing of them: one settles, one is refunded', async () => {
  const [deal, back] = [await agree(world), await agree(world)];
  const began = [kept(await swapOf(deal)), kept(await swapOf(back))];
  for (const each of [deal, back]) await ofAnotherFormula(world, each);
  for (const each of began) each.rules.formula = 999;
  await give(world, deal);
  await fundLong(world, deal);
  const settlement = await restarted(world);
  const deepen = async (blocks: number) => {
    await world.dev.mine(bitcoin, blocks);
    await world.dev.mine(evm, blocks);
    await look(world, settlement);
  };
  const isKept = async () =>
    assert.deepEqual([kept(await swapOf(deal)), kept(await swapOf(back))], began);
  await isKept();
  // What is agreed now has the rules of now.
  const now = kept(await swapOf(await agree(world)));
  assert.notDeepEqual(now.rules.policies, began[0]?.rules.policies);
  assert.ok(now.b.requiredConfirmations > (began[0]?.b.requiredConfirmations ?? 0));

  await fundLong(world, back);
  await deepen(began[0]?.b.requiredConfirmations ?? 0);
  assert.equal((await swapOf(deal)).status, 'initiator_funded');
  await fundShort(world, deal);
  await deepen(began[0]?.a.requiredConfirmations ?? 0);
  assert.equal((await swapOf(deal)).status, 'counterparty_funded');
  // As late as its own deadline lets, whatever one of today's would be.
  await moveTo(world, began[0]!.deadlines.revealBy - 120);
  await claimShort(world, deal);
  await deepen(1);
  assert.equal((await swapOf(deal)).status, 'initiator_claimed');
  await claimLong(deal);
  await deepen(4);
  assert.equal((await swapOf(deal)).status, 'counterparty_claimed');
  await isKept();

  const path = `/v1/swaps/${back.id}/legs/${back.long}/refund`;
  assert.equal((await back.initiator.post(path)).code, 'too_early_to_refund');
  await moveTo(world, began[1]!.deadlines.refundAt.b);
  await world.dev.mine(bitcoin, 12);
  must(await back.initiator.post(path));
  await refund(world, back, back.long);
  await deepen(4);
  assert.equal((await swapOf(back)).status, 'refunded');
  await isKept();
});
