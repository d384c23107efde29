// Solana's numbers in the deadline formula, with every other family, either way round.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenInequalities } from '@parley/core/deadlines.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import { bitcoinPolicies } from '../bitcoin/policy.ts';
import { evmChains } from '../evm/policy.ts';
import { solanaChains } from './policy.ts';

const others: Readonly<Record<string, ChainPolicy>> = {
  ...Object.fromEntries(Object.entries(evmChains).map(([name, { policy }]) => [name, policy])),
  ...bitcoinPolicies,
};

const timings = (policy: ChainPolicy) =>
  [policy.normal, policy.high].map((depth) => ({ policy, depth }));

test('no inequality is broken with any chain, as the short leg and as the long one', () => {
  for (const [name, { policy }] of Object.entries(solanaChains)) {
    for (const [otherName, other] of Object.entries(others)) {
      const isLong = other.floorSeconds >= policy.floorSeconds;
      for (const own of timings(policy)) {
        for (const theirs of timings(other)) {
          const pairs = isLong ? [[own, theirs] as const] : [];
          if (other.floorSeconds <= policy.floorSeconds) pairs.push([theirs, own] as const);
          for (const [short, long] of pairs) {
            assert.deepEqual(brokenInequalities(short, long), [], `${name} with ${otherName}`);
          }
        }
      }
    }
  }
});
