// Each version of the formula, by a digest of what it makes of many drawn policies: who changes the
// formula and not its version is told here. A version that was released keeps its row for ever.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { deadlines, formulaVersion, type LegTiming, longLeg } from './deadlines.ts';
import { type ChainPolicy, depthFor } from './policy.ts';

const pinned: Readonly<Record<number, string>> = {
  1: '04df3ee145c903db1bf31430a1c0a8103f734ae3ea6730bb3d338f46c37931fd',
};

/** The same numbers on every machine: the 32-bit generator of Numerical Recipes. */
function drawing(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Few floors, windows and drifts, so that there are ties. */
function drawnPolicy(below: (limit: number) => number): ChainPolicy {
  const depth = () => ({
    confirmations: 1 + below(200),
    settleSeconds: below(10_000),
    outageSeconds: below(4) * 3_600,
  });
  return {
    floorSeconds: below(3) * 14_400,
    normal: depth(),
    high: depth(),
    lateClaimSeconds: below(20_000),
    windowSeconds: [null, 0, 7_200][below(3)] ?? null,
    driftSeconds: below(3) * 1_800,
    reactSeconds: below(4_000),
    signSeconds: below(1_000),
    detectSeconds: below(1_000),
  };
}

function digestOfFormula(): { digest: string; longs: Set<string>; ties: number } {
  const below = drawing(1);
  const hash = createHash('sha256');
  const longs = new Set<string>();
  let ties = 0;
  for (let count = 0; count < 5_000; count += 1) {
    const timing = (policy: ChainPolicy): LegTiming => ({
      policy,
      depth: depthFor(policy, BigInt(below(3)), below(2) === 0 ? null : 1n),
    });
    const a = timing(drawnPolicy(below));
    const legs = { a, b: below(10) === 0 ? a : timing(drawnPolicy(below)) };
    const long = longLeg(legs);
    longs.add(long);
    if (legs.a.policy.floorSeconds === legs.b.policy.floorSeconds) ties += 1;
    const { initiatorFundBy, expiresAt, counterpartyFundBy, revealBy, refundAt } = deadlines(
      1_800_000_000,
      legs,
      long,
    );
    const times = [initiatorFundBy, expiresAt, counterpartyFundBy, revealBy];
    hash.update(`${JSON.stringify([long, ...times, refundAt.a, refundAt.b])}\n`);
  }
  return { digest: hash.digest('hex'), longs, ties };
}

test('the formula is the one of its version: another one takes the next number', () => {
  const { digest, longs, ties } = digestOfFormula();
  assert.deepEqual([...longs].sort(), ['a', 'b']);
  assert.ok(ties > 1_000);
  assert.equal(
    digest,
    pinned[formulaVersion],
    'the formula makes other times: raise formulaVersion and pin its digest in a row of its own',
  );
});

test('no version is the formula of another, and the newest is in force', () => {
  const digests = Object.values(pinned);
  assert.equal(new Set(digests).size, digests.length);
  assert.equal(formulaVersion, Math.max(...Object.keys(pinned).map(Number)));
});
