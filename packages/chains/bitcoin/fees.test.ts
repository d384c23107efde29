import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  boundedFee,
  defaultFeeBounds as bounds,
  feeAt,
  feeLadder,
  ladderRate,
  mostBumps,
  mostFee,
  pacesOf,
  publicClaimBounds,
  refundDeadline,
  replacementFee,
  signedLadder,
} from './fees.ts';

describe('estimates', () => {
  it('with holes are no lower than any later one that is known', () => {
    for (const [rates, fast, medium, slow] of [
      [{ 1: 12, 2: 10, 3: 8, 6: 5, 144: 1 }, 10, 8, 5],
      [{ 144: 5.026, 504: 5.026, 1008: 5.026 }, 5.026, 5.026, 5.026],
      [{ 25: 80, 144: 60 }, 80, 80, 80],
      [{ 2: null, 3: 20, 6: 20 }, 20, 20, 20],
      [{ 2: 5, 3: -1, 6: 4, 144: 9 }, 9, 9, 9],
      // Where no later one is known, what a nearer one costs is enough.
      [{ 1: 30, 3: 20 }, 20, 20, 20],
      [{ 1: 30 }, 30, 30, 30],
    ] as const) {
      assert.deepEqual(pacesOf(rates), { fast, medium, slow }, JSON.stringify(rates));
    }
  });

  it('that are none, or no rates, are not known', () => {
    for (const rates of [{}, { 2: -1, 3: 0, 6: '5' }, { 2: Number.NaN, 3: null }]) {
      assert.equal(pacesOf(rates), null);
    }
  });
});

const estimate = { fast: 40, medium: 20, slow: 10, least: 1, at: 1_000 };

const hour = 3_600;
const base = { estimate, bounds, vsize: 150, value: 10_000_000n };

const rate = fc.double({ min: 0.1, max: 600, noNaN: true });
const requests = fc.record({
  estimate: fc.record({
    fast: rate,
    medium: rate,
    slow: rate,
    least: rate,
    increment: fc.double({ min: 0.1, max: 5, noNaN: true }),
    at: fc.constant(0),
  }),
  bounds: fc.constant(bounds),
  vsize: fc.integer({ min: 110, max: 20_000 }),
  value: fc.bigInt(600n, 10n ** 13n),
});

describe('the fee bump schedule', () => {
  it('rises as the deadline nears, at each step and not before', () => {
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
        const soon = Math.min(a, b);
        const later = Math.max(a, b);
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

  it('leave a claim whose secret is public nearly all, down to what an output needs', () => {
    const open = publicClaimBounds(bounds);
    assert.equal(boundedFee(open, 150, 40_000n, 9_999), 38_000n);
    assert.equal(boundedFee(open, 150, 2_000n, 9_999), 1_454n, 'and 546 for the output');
    assert.equal(boundedFee(open, 150, 10n ** 9n, 9_999), 75_000n, 'the rate has its own cap');
    assert.equal(boundedFee(bounds, 150, 40_000n, 9_999), 10_000n);
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

describe('the fee bump schedule of a quote', () => {
  it('begins with what is paid now and rises where the deadline comes nearer', () => {
    const steps = feeLadder({ ...base, now: 0, deadline: 24 * hour, feeSats: 1_500n });
    assert.deepEqual(
      steps.map(({ at, feeRateSatPerVbyte, feeSats }) => [at, feeRateSatPerVbyte, feeSats]),
      [
        [0, 10, 1_500n],
        [12 * hour + 1, 20, 3_000n],
        [18 * hour + 1, 40, 6_000n],
        [21 * hour + 1, 60, 9_000n],
        [23 * hour + 1, 80, 12_000n],
      ],
    );
  });
});

describe('the fee bump schedule of signed refunds', () => {
  it('reaches from the floor to eight times the last hour of now, evenly', () => {
    const fees = signedLadder({ ...base, value: 100_000_000n });
    assert.equal(fees.length, mostBumps);
    assert.deepEqual([fees[0], fees.at(-1)], [150n, 75_000n]);
    const calm = signedLadder({ ...base, estimate: { ...estimate, fast: 2, medium: 2, slow: 2 } });
    assert.equal(calm.at(-1), feeAt(150, 32));
  });

  it('has steps that each replace the one before, within the bounds', () => {
    fc.assert(
      fc.property(requests, (made) => {
        const fees = signedLadder(made);
        assert.ok(fees.length >= 1 && fees.length <= mostBumps);
        const increment = feeAt(made.vsize, Math.max(1, made.estimate.increment));
        for (const [index, fee] of fees.entries()) {
          assert.ok(fee <= mostFee(bounds, made.vsize, made.value));
          const before = fees[index - 1];
          if (before !== undefined) assert.ok(fee >= before + increment);
        }
      }),
    );
  });
});

describe('the time that a refund is given', () => {
  it('is half a day from its timelock, and anew for one that is built later', () => {
    assert.equal(refundDeadline(1_000, 0), 1_000 + 12 * hour);
    assert.equal(refundDeadline(1_000, 1_000 + 12 * hour - 1), 1_000 + 12 * hour);
    assert.equal(refundDeadline(1_000, 1_000 + 12 * hour), 1_000 + 24 * hour);
  });
});
