import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  boundedFee,
  defaultFeeBounds as bounds,
  feeAt,
  isStale,
  ladderRate,
  mostFee,
  replacementFee,
} from './fees.ts';

const estimate = { fast: 40, medium: 20, slow: 10, least: 1, at: 1_000 };

describe('the fee bump schedule', () => {
  it('rises as the deadline nears, at each step and not before', () => {
    const hour = 3_600;
    for (const [left, rate] of [
      [Infinity, 10],
      [12 * hour, 10],
      [12 * hour - 1, 20],
      [6 * hour, 20],
      [6 * hour - 1, 40],
      [3 * hour, 40],
      [3 * hour - 1, 60],
      [hour, 60],
      [hour - 1, 80],
      [0, 80],
      [-1, 80],
    ] as const) {
      assert.equal(ladderRate(estimate, left), rate, `${left} s left`);
    }
  });

  it('never bids less with less time, whatever the node estimates', () => {
    const rate = fc.double({ min: 0.1, max: 1_000, noNaN: true });
    const estimates = fc.record({ fast: rate, medium: rate, slow: rate, least: rate });
    const left = fc.integer({ min: -100_000, max: 1_000_000 });
    fc.assert(
      fc.property(estimates, left, left, (each, a, b) => {
        const given = { ...each, at: 0 };
        const [soon, later] = [Math.min(a, b), Math.max(a, b)];
        assert.ok(ladderRate(given, soon) >= ladderRate(given, later));
        assert.ok(ladderRate(given, later) >= each.least);
      }),
    );
  });
});

describe('the bounds of a fee', () => {
  it('hold at both ends, the floor above the share of the value', () => {
    assert.equal(boundedFee(bounds, 150, 1_000_000n, 0.2), 150n);
    assert.equal(boundedFee(bounds, 150, 1_000_000n, 10), 1_500n);
    assert.equal(boundedFee(bounds, 150, 1_000_000n, 9_999), 75_000n);
    assert.equal(boundedFee(bounds, 150, 10_000n, 100), 2_500n);
    assert.equal(boundedFee(bounds, 150, 400n, 100), 150n);
  });

  it('hold for every size, value and rate', () => {
    const rate = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 30_000 }),
        fc.bigInt(0n, 10n ** 15n),
        rate,
        (...all) => {
          const [vsize, value, wanted] = all;
          const fee = boundedFee(bounds, vsize, value, wanted);
          assert.ok(fee >= BigInt(vsize) && fee <= mostFee(bounds, vsize, value));
          assert.ok(fee <= feeAt(vsize, 500));
        },
      ),
    );
  });

  it('call an estimate stale after half an hour, in either direction', () => {
    assert.equal(isStale(bounds, estimate, 2_800), false);
    assert.equal(isStale(bounds, estimate, 2_801), true);
    assert.equal(isStale(bounds, estimate, -800), false);
    assert.equal(isStale(bounds, estimate, -801), true);
  });
});

describe('a replacement', () => {
  const conflict = { txid: 'a', vsize: 150, feeSats: 300n, withDescendantsFeeSats: 300n };

  it('pays for what it evicts and for its own relay (BIP 125 rules 3 and 4)', () => {
    assert.equal(replacementFee(150, []), 0n);
    assert.equal(replacementFee(150, [conflict]), 450n);
    assert.equal(replacementFee(150, [{ ...conflict, withDescendantsFeeSats: 900n }]), 1_050n);
    assert.equal(replacementFee(150, [conflict, { ...conflict, txid: 'b' }]), 750n);
  });

  it('beats the rate of each, even where it is larger', () => {
    const rich = { ...conflict, feeSats: 3_000n, withDescendantsFeeSats: 3_000n };
    const fee = replacementFee(1_500, [rich]);
    assert.equal(fee, 30_001n);
    assert.ok(fee * BigInt(rich.vsize) > rich.feeSats * 1_500n);
  });
});
