// Chain sources of the customer's own: what they take from its policy.

import { test } from 'node:test';
import { solanaChains } from '../chains/solana/policy.ts';
import { built, escrowIn, newWorld, refuses, soon } from '../chains/solana/testing/world.ts';
import { solanaSource } from './sources.ts';

test('a clock that is further off than the customer’s own policy holds pauses its funding', async (context) => {
  const world = await newWorld(context);
  const escrow = escrowIn(world);
  const { policy } = solanaChains['solana-dev'];
  const sourceBy = (driftSeconds: number) =>
    solanaSource({
      chain: 'solana-dev',
      rpcUrls: [world.chain.info.rpcUrl],
      policy: { ...policy, driftSeconds },
      now: () => world.time.now,
    }).adapter;
  world.chain.drift(60);
  await world.chain.mine(2);
  const refused = sourceBy(59).buildFund(built(escrow), soon());
  await refuses(refused, 'sources_disagree', /60 s ahead of wall time, and 59 s are allowed/);
  await sourceBy(60).buildFund(built(escrow), soon());
});
