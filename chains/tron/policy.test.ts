import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenInequalities, type LegTiming } from '../../core/deadlines.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import { bitcoinPolicies } from '../bitcoin/policy.ts';
import { evmChains } from '../evm/policy.ts';
import { tronChains, tronDevPolicy } from './policy.ts';

const own = [...Object.values(tronChains).map(({ policy }) => policy), tronDevPolicy];
const evm: ChainPolicy[] = Object.values(evmChains).map(({ policy }) => policy);

function timings(policy: ChainPolicy): LegTiming[] {
  return [policy.normal, policy.high].map((depth) => ({ policy, depth }));
}

function mustHold(shorts: readonly ChainPolicy[], longs: readonly ChainPolicy[]): void {
  for (const short of shorts.flatMap(timings)) {
    for (const long of longs.flatMap(timings)) {
      assert.deepEqual(brokenInequalities(short, long), []);
    }
  }
}

test('every inequality holds with TRON short or long, beside EVM, and below Bitcoin', () => {
  mustHold(own, evm);
  mustHold(evm, own);
  mustHold(own, own);
  mustHold(own, Object.values(bitcoinPolicies));
});

test('chain ids are the last four bytes of the first block of each network', () => {
  // the decimals are what eth_chainId is documented to answer there
  assert.deepEqual(
    Object.values(tronChains).map(({ chainId }) => chainId),
    [728_126_428, 3_448_148_188, 2_494_104_990],
  );
});
