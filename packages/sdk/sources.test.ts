// Chain sources of the customer's own: the settings that they take from its policy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evmChains } from '@parley/chains/evm/policy.ts';
import { solanaChains } from '@parley/chains/solana/policy.ts';
import { built, escrowIn, newWorld, refuses, soon } from '@parley/chains/solana/testing/world.ts';
import type { Depth } from '@parley/core/policy.ts';
import { devPolicies, evmSource, solanaSource, tronSource } from './sources.ts';
import { bitcoinView, evmView, pinnedTo, tradeOf } from './testing/honest.ts';
import { ownLegs } from './trade.ts';

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

test('a policy of the customer’s own keeps what a market’s must, by itself and with the other', () => {
  const { policy } = evmChains.base;
  const options = { chain: 'base', chainId: 8_453, rpcUrls: ['http://127.0.0.1:9'] };
  const refused = (own: object, sentence: RegExp) =>
    assert.throws(() => evmSource({ ...options, policy: { ...policy, ...own } }), sentence);
  refused({ driftSeconds: 1_801 }, /"base" refused: lateClaimSeconds is 1800, less than .* 1801/);
  const high = { ...policy.high, outageSeconds: 15 * 86_400 };
  refused({ high, windowSeconds: null }, /timelock \d+ s is more than 2592000 s ahead/);
  refused({ signSeconds: undefined }, /signSeconds must be a whole number, is undefined/);
  // Each sound by itself: two weeks and more of outages one after the other are not.
  const days = (depth: Depth, number: number) => ({ ...depth, outageSeconds: number * 86_400 });
  const long = { ...policy, high: days(policy.high, 14), windowSeconds: 0 };
  const { view } = evmSource({ ...options, policy: long });
  const slow = { ...bitcoinView.policy, normal: days(bitcoinView.policy.normal, 16) };
  const pair = pinnedTo({ ...bitcoinView, policy: slow }, { ...view, chain: 'evm-dev' });
  const trade = tradeOf('taker');
  assert.equal(ownLegs(trade, pair).long, 'b');
  const quote = { ...trade.quote, highValueFrom: trade.quoteAmount };
  assert.throws(
    () => ownLegs({ ...trade, quote }, pair),
    /evm-dev \(short\) and bitcoin-regtest \(long\) refused: .* s is more than 2592000 s ahead/,
  );
});

test('which leg is long follows from the amounts, by the customer’s own policies', () => {
  const { policy } = solanaChains.solana;
  const pair = pinnedTo(
    { ...evmView, policy: evmChains.base.policy },
    { ...evmView, chain: 'bitcoin-regtest', policy },
  );
  const trade = tradeOf('taker');
  const longOf = (highValueFrom: bigint) =>
    ownLegs({ ...trade, base: { ...trade.base, highValueFrom } }, pair).long;
  assert.equal(longOf(trade.baseAmount + 1n), 'a');
  assert.equal(longOf(trade.baseAmount), 'b');
});
