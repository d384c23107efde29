// The sentences about a wallet's coins for network fees.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enough, lackOf, noteOf } from './gas.ts';

const all = { claims: true, fundings: true };
const none = { claims: false, fundings: false };
const gives = { fund: 100n, refund: 30n, claim: 0n, holds: null, isSignable: false };
const gets = { fund: 0n, refund: 0n, claim: 50n, holds: null, isSignable: false };

test('a side is told of what it lacks, unless the market sends it', () => {
  for (const [side, look, sends, kind, missing] of [
    ['gives', null, none, 'none', 0n],
    ['gives', { ...gives, has: 130n }, none, 'enough', 0n],
    ['gives', { ...gives, has: 129n }, all, 'refund_short', 1n],
    ['gives', { ...gives, has: 100n }, none, 'refund_short', 30n],
    ['gives', { ...gives, has: 99n }, all, 'fund_short', 31n],
    ['gives', { ...gives, has: 0n, isSignable: true }, all, 'fund_signed', 130n],
    ['gives', { ...gives, has: 0n, isSignable: true }, none, 'fund_short', 130n],
    ['gets', { ...gets, has: 50n }, none, 'enough', 0n],
    ['gets', { ...gets, has: 49n }, all, 'claim_sent', 1n],
    ['gets', { ...gets, has: 0n }, none, 'claim_short', 50n],
  ] as const) {
    const found = noteOf({ side }, look, sends);
    assert.deepEqual([found.kind, found.missing], [kind, missing], `${side} ${look?.has}`);
  }
});

test("a given token's shortage is told where its chain says what there is", () => {
  const lack = (holds: bigint | null) => lackOf({ amount: 640n }, { ...gives, has: 0n, holds });
  assert.deepEqual([null, 640n, 639n, 0n].map(lack), [0n, 0n, 1n, 640n]);
  assert.equal(lackOf({ amount: 640n }, null), 0n);
});

test('the advised balance is rounded up, and never shown as less', () => {
  for (const [units, decimals, shown] of [
    [208_870_000_000_001n, 18, 208_880_000_000_000n],
    [208_880_000_000_000n, 18, 208_880_000_000_000n],
    [1n, 18, 10_000_000_000n],
    [7n, 8, 7n],
    [7n, 6, 7n],
  ] as const) {
    assert.equal(enough(units, { decimals }), shown, `${units}`);
  }
});
