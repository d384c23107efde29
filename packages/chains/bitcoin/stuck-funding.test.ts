import assert from 'node:assert/strict';
import { test } from 'node:test';
import { feeAt } from './fees.ts';
import { fundingPatienceSeconds, stuckFunding, stuckSentence } from './stuck-funding.ts';

const now = 1_900_000_000;
const entry = {
  txid: 'ab'.repeat(32),
  vsize: 200,
  feeSats: 200n,
  withDescendantsFeeSats: 200n,
  since: now - fundingPatienceSeconds,
};
const estimate = { fast: 10, medium: 8, slow: 5, least: 1, at: now };
const waiting = { entry, changeOutputs: [1], estimate, now, sendBy: now + 4 * 3_600 };

test('a funding that waits at too low a rate shows what a child must pay for both', () => {
  const stuck = stuckFunding(waiting);
  assert.deepEqual(stuck, {
    txid: entry.txid,
    feeRateSatPerVbyte: 1,
    wantedFeeRateSatPerVbyte: 10,
    childVsize: 122,
    childFeeSats: '3020',
    changeOutputs: [1],
  });
  assert.equal(3_020n + entry.feeSats, feeAt(322, 10), 'the package pays what is wanted');
  assert.match(stuckSentence(stuck), /output 1\) with a fee of 3020 sats.*cannot be spent for it$/);
  const alone = { ...stuck, changeOutputs: [] };
  assert.match(stuckSentence(alone), /replace it at that rate.*no change that a child could spend/);
});

test('a funding of less than twenty minutes, or with enough paid, bothers nobody', () => {
  const young = { ...entry, since: entry.since + 1 };
  assert.equal(stuckFunding({ ...waiting, entry: young }), null);
  const paid = { ...entry, feeSats: 2_000n, withDescendantsFeeSats: 2_000n };
  assert.equal(stuckFunding({ ...waiting, entry: paid }), null);
  const child = { ...entry, withDescendantsFeeSats: 3_100n, withDescendantsVsize: 310 };
  assert.equal(stuckFunding({ ...waiting, entry: child }), null, 'a child pays for it');
});

test('more is wanted as the time to fund runs out, and for unconfirmed parents too', () => {
  const late = stuckFunding({ ...waiting, sendBy: now });
  assert.equal(late?.wantedFeeRateSatPerVbyte, 20);
  const poor = { ...entry, withAncestorsVsize: 400, withAncestorsFeeSats: 400n };
  assert.equal(stuckFunding({ ...waiting, entry: poor })?.childFeeSats, '4820');
  const rich = { ...entry, withAncestorsVsize: 400, withAncestorsFeeSats: 9_200n };
  assert.equal(stuckFunding({ ...waiting, entry: rich })?.childFeeSats, '3020', 'mined before it');
  assert.ok(late);
  const words = / with a fee of 6240 sats for 122 vbytes \(more where what it spends waits too\); /;
  assert.match(stuckSentence(late, false), words);
});
