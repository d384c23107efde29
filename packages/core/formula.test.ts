// Each version of the formula, by a digest of what it makes of many drawn policies: the test fails
// if somebody changes the formula and not its version. A version that was released keeps its row
// for ever.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { deadlines, formulaVersion, type LegTiming, longLeg } from './deadlines.ts';
import { type ChainPolicy, depthFor } from './policy.ts';

const pinned: Readonly<Record<number, string>> = {
  1: 'ed3a52305fa0f64356f7a086bbedc26d200bbeb57da715f34a12767582ca17d5',
};

/** The same numbers on every machine: the 32-bit generator of Numerical Recipes. */
function drawing(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Numbers in steps of `step` seconds: in large ones there are ties of every kind. */
function drawnPolicy(below: (limit: number) => number, step: number): ChainPolicy {
  const upTo = (seconds: number) => below(seconds / step) * step;
  const depth = () => ({
    confirmations: 1 + below(200),
    settleSeconds: upTo(9_000),
    outageSeconds: upTo(14_400),
  });
  return {
    floorSeconds: below(3) * 14_400,
    normal: depth(),
    high: depth(),
    lateClaimSeconds: upTo(18_000),
    windowSeconds: [null, 0, 7_200][below(3)] ?? null,
    driftSeconds: upTo(5_400),
    reactSeconds: upTo(5_400),
    signSeconds: upTo(3_600),
    detectSeconds: upTo(3_600),
  };
}

function digestOfFormula(): string {
  const below = drawing(1);
  const hash = createHash('sha256');
  for (let count = 0; count < 5_000; count += 1) {
    const timing = (policy: ChainPolicy): LegTiming => ({
      policy,
      depth: depthFor(policy, BigInt(below(3)), below(2) === 0 ? null : 1n),
    });
    const step = below(2) === 0 ? 1 : 1_800;
    const a = timing(drawnPolicy(below, step));
    const legs = { a, b: below(10) === 0 ? a : timing(drawnPolicy(below, step)) };
    const long = longLeg(legs);
    const { initiatorFundBy, expiresAt, counterpartyFundBy, revealBy, refundAt } = deadlines(
      1_800_000_000,
      legs,
      long,
    );
    const times = [initiatorFundBy, expiresAt, counterpartyFundBy, revealBy];
    hash.update(`${JSON.stringify([long, ...times, refundAt.a, refundAt.b])}\n`);
  }
  return hash.digest('hex');
}

test('the formula is the one of its version: another one takes the next number', () => {
  assert.equal(
    digestOfFormula(),
    pinned[formulaVersion],
    'the formula makes other times: raise formulaVersion and pin its digest in a row of its own',
  );
});

test('no version is the formula of another, and the newest is in force', () => {
  const digests = Object.values(pinned);
  assert.equal(new Set(digests).size, digests.length);
  assert.equal(formulaVersion, Math.max(...Object.keys(pinned).map(Number)));
});
