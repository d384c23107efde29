// Chain sources of the customer's own: what they take from its policy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { solanaChains } from '../chains/solana/policy.ts';
import { built, escrowIn, newWorld, refuses, soon } from '../chains/solana/testing/world.ts';
import { devPolicies, evmSource, solanaSource, tronSource } from './sources.ts';

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

test('a chain that no table knows wants a policy, and says which one a dev network takes', async () => {
  const tron = { chain: 'tron-dev', sources: [{ url: 'http://127.0.0.1:9' }] };
  const contract = 'TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC';
  const deployment = { chainId: 3_437_527_082, contract, creation: '00'.repeat(32) };
  const solana = {
    chain: 'solana-dev',
    rpcUrls: ['http://127.0.0.1:9'],
    genesisHash: '5ibsw7z8yHEfKCkPwRTCyAyBzFkiqSSsRTxYTQWs1VZW',
  };
  assert.throws(
    () => tronSource({ ...tron, deployment }),
    /tron-dev \(chain id 3437527082\).*tron, tron-nile, tron-shasta.*`devPolicies\.tron` of sdk/,
  );
  assert.throws(
    () => solanaSource(solana),
    /solana-dev \(genesis hash 5ibs\w+\).*solana-devnet.*`devPolicies\.solana`/,
  );
  assert.throws(
    () => evmSource({ chain: 'new', chainId: 77, rpcUrls: ['http://127.0.0.1:9'] }),
    /new \(chain id 77\) needs a policy: this package has those of ethereum,.*`policy`/,
  );
  const sources = [
    tronSource({ ...tron, deployment, policy: devPolicies.tron }),
    solanaSource({ ...solana, policy: devPolicies.solana }),
  ];
  for (const { adapter } of sources) await adapter.close();
});
