// Solana's numbers in the deadline formula, with every other family, either way round.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenInequalities, schedule } from '@parley/core/deadlines.ts';
import type { ChainPolicy } from '@parley/core/policy.ts';
import { bitcoinPolicies } from '../bitcoin/policy.ts';
import { evmChains } from '../evm/policy.ts';
import { finalizedConfirmations, solanaChains } from './policy.ts';

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

test('money counts at finality alone, whatever the amount', () => {
  for (const { policy } of Object.values(solanaChains)) {
    for (const { confirmations } of [policy.normal, policy.high]) {
      assert.equal(confirmations, finalizedConfirmations);
    }
  }
});

test('the drift that is allowed comes on top of all else, before both timelocks', () => {
  for (const { policy } of Object.values(solanaChains)) {
    const { lateClaimSeconds, driftSeconds: drift, signSeconds } = policy;
    assert.ok(drift > 0 && lateClaimSeconds >= drift);
    const other = evmChains.ethereum.policy;
    for (const own of timings(policy)) {
      const { settleSeconds, outageSeconds } = own.depth;
      const theirs = { policy: other, depth: other.normal };
      const long = schedule(theirs, own);
      assert.equal(
        long.longTimelock - long.shortTimelock,
        other.lateClaimSeconds + 60 + 1_800 + settleSeconds + outageSeconds + drift,
      );
      const short = schedule(own, theirs);
      const afterReveal = signSeconds + settleSeconds + outageSeconds + drift;
      assert.equal(short.shortTimelock - short.revealBy, afterReveal);
    }
  }
});
