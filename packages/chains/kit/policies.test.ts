import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenInequalities } from '@parley/core/deadlines.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import { bitcoinPolicies } from '../bitcoin/policy.ts';
import { evmChains } from '../evm/policy.ts';
import { solanaChains } from '../solana/policy.ts';
import { tronChains, tronDevPolicy } from '../tron/policy.ts';

const evm: readonly ChainPolicy[] = Object.values(evmChains).map(({ policy }) => policy);
const tron = [...Object.values(tronChains).map(({ policy }) => policy), tronDevPolicy];
const solana = Object.values(solanaChains).map(({ policy }) => policy);
const timings = (policy: ChainPolicy) =>
  [policy.normal, policy.high].map((depth) => ({ policy, depth }));

test('each inequality holds for EVM, TRON and Solana, short or long at either depth, and below Bitcoin', () => {
  const shorts = [...evm, ...tron, ...solana];
  const longs = [...shorts, ...Object.values(bitcoinPolicies)];
  for (const short of shorts.flatMap(timings)) {
    for (const long of longs.flatMap(timings)) {
      assert.deepEqual(brokenInequalities(short, long), []);
    }
  }
});

test('more value never means less depth or less time; no chain but Bitcoin needs a day', () => {
  for (const { high, normal, floorSeconds } of evm) {
    for (const field of ['confirmations', 'settleSeconds', 'outageSeconds'] as const) {
      assert.ok(high[field] >= normal[field], field);
    }
    assert.equal(floorSeconds, 4 * 3_600);
  }
});

test('chain ids are unique; of TRON the last four bytes of the first block of each network', () => {
  const ids = Object.values(evmChains).map(({ chainId }) => chainId);
  assert.equal(new Set(ids).size, ids.length);
  // the decimals are what eth_chainId is documented to answer there
  const documented = [728_126_428, 3_448_148_188, 2_494_104_990];
  assert.deepEqual(
    Object.values(tronChains).map(({ chainId }) => chainId),
    documented,
  );
});
