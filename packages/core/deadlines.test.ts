import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  brokenInequalities,
  brokenPolicy,
  deadlines,
  type LegTiming,
  lateClaim,
  longLeg,
  schedule,
} from './deadlines.ts';
import type { ChainPolicy } from './policy.ts';
import { depthFor } from './policy.ts';
import { agreedAt, policies } from './testing.ts';

const timing = (policy: ChainPolicy): LegTiming => ({ policy, depth: policy.normal });

// With the policies of testing.ts, which core may know; verify/test/timelocks-docs.test.ts does the worked
// examples of docs/timelocks.md with the real ones.
test('an Ethereum leg against a Bitcoin leg comes to the times worked out by hand', () => {
  const s = schedule(timing(policies.ethereum), timing(policies.bitcoin));
  // least = react 1800 + (6720 + 1800) + (600 + 1800) + (600 + 3600 + 600) = 17520 > floor 14400
  assert.deepEqual(s, {
    initiatorFundBy: 1_800,
    expiresAt: 8_520,
    counterpartyFundBy: 10_320,
    revealBy: 12_720,
    shortTimelock: 17_520,
    longTimelock: 86_400,
  });
});

const seconds = (max: number) => fc.integer({ min: 0, max });
const policyOf = fc.record({
  floorSeconds: seconds(200_000),
  normal: fc.record({
    confirmations: fc.integer({ min: 1, max: 200 }),
    settleSeconds: seconds(100_000),
    outageSeconds: seconds(100_000),
  }),
  high: fc.constant(policies.bitcoin.high),
  lateClaimSeconds: seconds(50_000),
  windowSeconds: fc.option(seconds(150_000), { nil: null }),
  driftSeconds: seconds(10_000),
  reactSeconds: seconds(10_000),
  signSeconds: seconds(10_000),
  detectSeconds: seconds(10_000),
});

test('every inequality of the deadline engine holds for every pair of policies', () => {
  fc.assert(
    fc.property(policyOf, policyOf, (sp, lp) => {
      const short = timing(sp);
      const long = timing(lp);
      const s = schedule(short, long);
      const react = Math.max(sp.reactSeconds, lp.reactSeconds);
      const lead = Math.max(sp.driftSeconds, lp.driftSeconds);
      // Even by a clock that is ahead by all that it may be.
      assert.ok(s.initiatorFundBy - lead >= react);
      assert.ok(s.counterpartyFundBy - s.initiatorFundBy >= lp.normal.settleSeconds + react);
      assert.ok(s.revealBy - s.counterpartyFundBy >= sp.normal.settleSeconds + react);
      const { settleSeconds, outageSeconds } = sp.normal;
      const afterReveal = settleSeconds + outageSeconds + sp.signSeconds + sp.driftSeconds;
      assert.ok(s.shortTimelock - s.revealBy >= afterReveal);
      assert.ok(s.shortTimelock >= sp.floorSeconds && s.longTimelock >= lp.floorSeconds);
      const detect = Math.max(sp.detectSeconds, lp.detectSeconds);
      const claimLong = lp.normal.settleSeconds + lp.normal.outageSeconds + lp.driftSeconds;
      const trails = Math.min(outageSeconds, sp.windowSeconds ?? outageSeconds);
      const after = sp.lateClaimSeconds + trails + detect + react + claimLong;
      assert.ok(s.longTimelock - s.shortTimelock >= after);
      const least = s.initiatorFundBy === lead + react;
      assert.ok(s.shortTimelock === sp.floorSeconds || least, 'no longer than it must be');
    }),
  );
});

test('a clock that drifts on the short leg, on the long one and on both: by hand', () => {
  const eth = timing(policies.ethereum);
  const drifting = timing({ ...policies.ethereum, lateClaimSeconds: 1_800, driftSeconds: 1_800 });
  const gaps = (short: LegTiming, long: LegTiming) => {
    const s = schedule(short, long);
    return [s.shortTimelock - s.revealBy, s.longTimelock - s.shortTimelock];
  };
  // 600 + 3600 + 600; 300 + 60 + 1800 + 600 + 3600
  assert.deepEqual(gaps(eth, eth), [4_800, 6_360]);
  assert.deepEqual(gaps(eth, drifting), [4_800, 6_360 + 1_800]);
  // the short leg's counts twice: the timelock may come early, and a claim late
  assert.deepEqual(gaps(drifting, eth), [4_800 + 1_800, 6_360 + 1_500]);
  assert.deepEqual(gaps(drifting, drifting), [4_800 + 1_800, 6_360 + 1_500 + 1_800]);
});

test('a clock trails by what its chain stood still, and by no more than its window: by hand', () => {
  const { ethereum } = policies;
  const late = (windowSeconds: number | null, depth: 'normal' | 'high' = 'normal') => {
    const high = { ...ethereum.high, outageSeconds: 7_200 };
    const policy = { ...ethereum, high, windowSeconds };
    return lateClaim({ policy, depth: policy[depth] });
  };
  assert.deepEqual([late(0), late(0, 'high')], [300, 300]);
  assert.deepEqual([late(3_599), late(3_600), late(3_601)], [3_899, 3_900, 3_900]);
  assert.deepEqual([late(3_601, 'high'), late(7_200, 'high')], [3_901, 7_500]);
  assert.deepEqual([late(null), late(null, 'high')], [3_900, 7_500]);
});

test('the longer floor makes the long leg; on a tie T_long, then T_short, then b', () => {
  const { ethereum, bitcoin } = policies;
  const eth = timing(ethereum);
  const btc = timing(bitcoin);
  const long = (one: LegTiming, other: LegTiming) => {
    const here = longLeg({ a: one, b: other });
    const there = longLeg({ a: other, b: one });
    return here === there ? here : here === 'a' ? one : other;
  };
  assert.equal(long(eth, btc), btc);
  assert.equal(long(eth, eth), 'b');
  // T_long: a trailing clock counts for a short leg only
  const trailing = timing({ ...ethereum, windowSeconds: null });
  assert.equal(long(eth, trailing), trailing);
  // T_short: an outage of 4 h costs it more, of the same T_long, 31 560, before the short timelock
  const outage = { ...ethereum, normal: { ...ethereum.normal, outageSeconds: 14_400 } };
  const even = timing({ ...outage, lateClaimSeconds: 3_300 });
  assert.equal(schedule(even, eth).longTimelock, schedule(eth, even).longTimelock);
  assert.equal(long(eth, even), even);
  assert.equal(long(eth, timing({ ...outage, lateClaimSeconds: 3_299 })), eth);
  // the depth of an amount decides with
  const policy = { ...ethereum, high: { ...outage.normal, confirmations: 64 } };
  assert.equal(long(eth, { policy, depth: policy.normal }), 'b');
  assert.equal(long(eth, { policy, depth: policy.high }), eth);
});

/** The part of the allowed error by which the clocks are off: -1 behind, 1 ahead. */
const off = fc.double({ min: -1, max: 1, noNaN: true });

test('claims have by wall time what they are promised, whatever clocks do within their drift', () => {
  const sound = policyOf.filter((each) => each.lateClaimSeconds >= each.driftSeconds);
  fc.assert(
    fc.property(sound, sound, off, off, off, (sp, lp, then, later, far) => {
      const s = schedule(timing(sp), timing(lp));
      // Revealed as late as the gate lets: by the wall or by the chain's clock, whichever is ahead.
      const revealedAt = s.revealBy - Math.max(0, sp.driftSeconds * then);
      const { settleSeconds, outageSeconds } = sp.normal;
      const deepAt = revealedAt + sp.signSeconds + settleSeconds + outageSeconds;
      assert.ok(deepAt <= s.shortTimelock - sp.driftSeconds * later);
      // Or at the very end of the short leg, past every gate, by whoever wants to do harm: by a
      // clock that is as far behind, and went on from where it stood for a part of its outage.
      const stood = Math.min(outageSeconds, sp.windowSeconds ?? outageSeconds) * Math.abs(then);
      const shownAt = s.shortTimelock - sp.driftSeconds * later + stood;
      const react = Math.max(sp.reactSeconds, lp.reactSeconds);
      const detect = Math.max(sp.detectSeconds, lp.detectSeconds);
      const claimedAt =
        shownAt + detect + react + lp.normal.settleSeconds + lp.normal.outageSeconds;
      assert.ok(claimedAt <= s.longTimelock - lp.driftSeconds * far);
    }),
  );
});

test('deadlines are the schedule from the agreement on, whichever leg is long', () => {
  const eth = timing(policies.ethereum);
  const btc = timing(policies.bitcoin);
  const b = deadlines(agreedAt, { a: eth, b: btc }, 'b');
  const a = deadlines(agreedAt, { a: btc, b: eth }, 'a');
  assert.equal(b.revealBy, agreedAt + 12_720);
  assert.deepEqual(b.refundAt, { a: agreedAt + 17_520, b: agreedAt + 86_400 });
  assert.deepEqual(a.refundAt, { a: agreedAt + 86_400, b: agreedAt + 17_520 });
  assert.equal(a.initiatorFundBy, b.initiatorFundBy);
});

test('sound policies break nothing; each unsound number is named', () => {
  const eth = timing(policies.ethereum);
  const btc = timing(policies.bitcoin);
  assert.deepEqual(brokenInequalities(eth, btc), []);
  assert.deepEqual(brokenInequalities(eth, eth), []);
  const broken = (short: Partial<ChainPolicy>, long: Partial<ChainPolicy> = {}) =>
    brokenInequalities(
      timing({ ...policies.ethereum, ...short }),
      timing({ ...policies.bitcoin, ...long }),
    ).join('\n');
  assert.match(broken({}, { floorSeconds: 100 }), /floor 100 s is below/);
  assert.match(
    broken({ driftSeconds: 301 }),
    /lateClaimSeconds is 300, less than driftSeconds 301/,
  );
  assert.equal(broken({ driftSeconds: 300 }), '');
  const late = { lateClaimSeconds: 301, driftSeconds: 302 };
  assert.match(broken({}, late), /lateClaimSeconds is 301, less than driftSeconds 302/);
  const far = { floorSeconds: 2_592_000 };
  assert.equal(broken({}, far), '');
  assert.match(broken({}, { ...far, driftSeconds: 1 }), /2592001 s is more than 2592000 s ahead/);
  assert.match(broken({ normal: { ...eth.depth, confirmations: 0 } }), /at least 1 confirmation/);
  assert.match(broken({ reactSeconds: 1.5 }), /reactSeconds must be a whole number, is 1.5/);
  assert.match(broken({ signSeconds: -1 }), /signSeconds must be a whole number, is -1/);
  assert.match(broken({}, { floorSeconds: 2_592_001 }), /more than 2592000 s ahead/);
  const zero = { confirmations: 1, settleSeconds: 0, outageSeconds: 0 };
  const tiny = { normal: zero, reactSeconds: 100, signSeconds: 0, floorSeconds: 0 };
  assert.match(broken(tiny, { reactSeconds: 100 }), /less than 1800 s before the short timelock/);
  const near = (reactSeconds: number) =>
    broken({ ...tiny, reactSeconds, driftSeconds: 300 }, { reactSeconds });
  assert.match(near(1_799), /less than 1800 s before the short timelock/);
  assert.equal(near(1_800), '');
});

test('a policy is sound by itself, with a number in every place', () => {
  const broken = (own: object) =>
    brokenPolicy({ ...policies.ethereum, ...own } as ChainPolicy).join('\n');
  assert.equal(broken({}), '');
  assert.equal(broken({ windowSeconds: null }), '');
  assert.match(broken({ windowSeconds: -1 }), /windowSeconds must be a whole number, is -1/);
  assert.match(broken({ floorSeconds: undefined }), /floorSeconds .*, is undefined/);
  assert.match(broken({ high: undefined }), /high\.outageSeconds .*, is undefined/);
  const high = { ...policies.ethereum.high, outageSeconds: 3_599 };
  assert.match(broken({ high }), /^high.outageSeconds is 3599, less than normal.* 3600$/);
  const far = { ...policies.ethereum.high, outageSeconds: 864_000 };
  assert.equal(broken({ high: far }), '');
  assert.match(broken({ high: far, windowSeconds: null }), /more than 2592000 s ahead/);
});

test('a value at the threshold wants the high depth, one below it does not', () => {
  assert.equal(depthFor(policies.bitcoin, 99n, 100n).confirmations, 3);
  assert.equal(depthFor(policies.bitcoin, 100n, 100n).confirmations, 6);
  assert.equal(depthFor(policies.bitcoin, 10n ** 30n, null).confirmations, 3);
});
