// The spread by size and by what is held at each boundary, and over drawn requests that the guard
// lets every own quote pass.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { pair as usual } from '../testing/stage.ts';
import { guardRefusal } from './decide.ts';
import { parsePrice } from './price.ts';
import { type Lean, leanOf, leastAlike, quoteAt, spreadOf } from './spread.ts';

const rule = {
  spreadBps: 30n,
  tiers: [
    { from: 100n, spreadBps: 50n },
    { from: 1_000n, spreadBps: 20n },
  ],
  leastSpreadBps: 10n,
};
const lean: Lean = { target: 1_000n, per: 100n, bps: 5n, mostBps: 40n };

test('the spread is that of the size, leans with what is held, and never falls below its least', () => {
  for (const [base, gives, tilt, spread] of [
    [99n, 'base', 0n, 30n],
    [100n, 'base', 0n, 50n],
    [999n, 'quote', 0n, 50n],
    [1_000n, 'quote', 0n, 20n],
    [100n, 'base', 15n, 65n],
    [100n, 'quote', 15n, 35n],
    [100n, 'base', -15n, 35n],
    [100n, 'base', -40n, 10n],
    [100n, 'base', -41n, 10n],
    [100n, 'quote', 41n, 10n],
  ] as const) {
    assert.equal(spreadOf(rule, { gives, base }, tilt), spread, `${base} ${gives} ${tilt}`);
  }
});

test('a price leans by each part beyond the target, to a bound on both sides', () => {
  for (const [held, bps] of [
    [1_000n, 0n],
    [1_100n, 5n],
    [900n, -5n],
    [1_019n, 0n],
    [981n, 0n],
    [1_800n, 40n],
    [9_000n, 40n],
    [0n, -40n],
  ] as const) {
    assert.equal(leanOf(held, lean), bps, String(held));
  }
});

test('a level says from which size its price is the worst', () => {
  for (const [size, least] of [
    [99n, 1n],
    [100n, 1n],
    // From 1 to 999 the spread is larger than its own.
    [1_000n, 1_000n],
  ] as const) {
    assert.equal(leastAlike(rule, size, 1n), least);
  }
  const rising = { ...rule, tiers: [{ from: 100n, spreadBps: 50n }] };
  assert.equal(leastAlike(rising, 500n, 7n), 7n);
});

test('a request by its other amount has the smallest spread that its own size allows', () => {
  const pair = { ...usual, ...rule, base: { decimals: 0 }, quote: { decimals: 0 } };
  const one = parsePrice('1');
  const sold = (amount: bigint) =>
    quoteAt({ direction: 'sell_base', flipped: true, amount }, one, pair, 0n);
  // At 30 basis points 99 of it would be given, which is below the tier.
  assert.deepEqual(sold(100n), { gives: 'base', base: 99n, quote: 100n });
  // At 20 it would be 998, at 30 as many: only at 50 it is a size of that tier.
  assert.deepEqual(sold(1_000n), { gives: 'base', base: 995n, quote: 1_000n });
  assert.deepEqual(sold(1_003n), { gives: 'base', base: 1_000n, quote: 1_003n });
});

test('every own quote passes the guard, whatever its size, price and tilt', () => {
  const drawn = fc.record({
    direction: fc.constantFrom('sell_base' as const, 'buy_base' as const),
    flipped: fc.boolean(),
    amount: fc.bigInt({ min: 1n, max: 10n ** 5n }),
    over: fc.bigInt({ min: 1n, max: 10n ** 3n }),
    under: fc.bigInt({ min: 1n, max: 10n ** 3n }),
    tilt: fc.bigInt({ min: -200n, max: 200n }),
    spreads: fc.tuple(fc.nat(100), fc.nat(100), fc.nat(100)),
    least: fc.integer({ min: -300, max: 0 }),
  });
  fc.assert(
    fc.property(drawn, ({ over, under, tilt, spreads, least, ...asked }) => {
      const [spreadBps, ...more] = spreads.map(BigInt) as [bigint, bigint, bigint];
      const tiers = rule.tiers.map(({ from }, at) => ({ from, spreadBps: more[at] ?? 0n }));
      const pair = { ...usual, spreadBps, tiers, leastSpreadBps: BigInt(least) };
      const price = { over, under };
      const terms = quoteAt(asked, price, pair, tilt);
      if (terms === null) return;
      assert.equal(guardRefusal(pair, terms, { price, tilt }, 'quote'), null);
    }),
    { numRuns: runs(200) },
  );
});
