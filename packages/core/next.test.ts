import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@parley/verify/test/support/runs.ts';
import fc from 'fast-check';
import { type EscrowFacts, nothingSeen } from './facts.ts';
import { claimGate, fundGate, refundGate, releaseGate } from './gates.ts';
import { nextSteps } from './next.ts';
import { swapStatus } from './status.ts';
import { longOf, type SwapState, shortOf } from './swap.ts';
import { agreedAt, clocksAt, deep, facts, secret, seen, swapOf } from './testing.ts';

const funded = facts({ funded: deep() });
const claimed = facts({ funded: deep(), claimed: deep() });
const refunded = facts({ funded: deep(), refunded: deep() });

/** `role action leg` of each step. */
function brief(swap: SwapState, now: number): string {
  const steps = nextSteps(swap, clocksAt(now));
  return steps.map(({ by, action, leg }) => `${by} ${action} ${leg}`).join(', ');
}

test('the path of a swap that settles', () => {
  for (const [given, steps] of [
    [
      { addresses: false },
      'initiator set_address b, initiator set_address a, ' +
        'counterparty set_address a, counterparty set_address b',
    ],
    [{}, 'initiator fund b, counterparty wait b'],
    [{ long: facts({ funded: seen() }) }, 'initiator wait b, counterparty wait b'],
    [{ long: funded }, 'initiator wait a, counterparty fund a'],
    [{ long: funded, short: funded }, 'initiator claim a, counterparty wait a'],
    [{ long: funded, short: claimed, secret }, 'initiator wait b, counterparty claim b'],
    [{ long: claimed, short: claimed, secret }, ''],
  ] as const) {
    assert.equal(brief(swapOf(given), agreedAt + 10), steps);
  }
});

test('a lane that its payee has yet to sign for is waited for up to a moment, and not longer', () => {
  const until = agreedAt + 15;
  const awaited = (given: Parameters<typeof swapOf>[0] = {}): SwapState => {
    const swap = swapOf(given);
    return { ...swap, legs: { ...swap.legs, b: { ...swap.legs.b, laneAwaitedUntil: until } } };
  };
  assert.equal(brief(awaited(), until - 1), 'initiator wait b, counterparty open_lane b');
  assert.equal(brief(awaited(), until), 'initiator fund b, counterparty open_lane b');
  const early = { code: 'not_fundable_yet', facts: { leg: 'b', left: 1 } };
  assert.throws(() => fundGate(awaited(), 'b', clocksAt(until - 1)), early);
  fundGate(awaited(), 'b', clocksAt(until));
  assert.equal(brief(awaited({ long: funded }), until), 'initiator wait a, counterparty fund a');
  assert.equal(brief(awaited(), awaited().deadlines.initiatorFundBy + 1), '');
});

test('the way back: each funder refunds its own leg from its own timelock on', () => {
  const both = swapOf({ long: funded, short: funded });
  const { a, b } = both.deadlines.refundAt;
  assert.equal(brief(both, both.deadlines.revealBy + 1), 'initiator wait b, counterparty wait a');
  assert.equal(brief(both, a), 'initiator wait b, counterparty refund a');
  assert.equal(brief(both, b + 1), 'initiator refund b, counterparty refund a');
  assert.equal(brief(swapOf({ long: refunded, short: refunded }), b + 1), '');
});

test('a claim or refund that only waits hides no claim of a public secret; in a block it does', () => {
  const early = agreedAt + 10;
  for (const verb of ['claimed', 'refunded']) {
    const by = (confirmations: number) =>
      facts({ funded: deep(), [verb]: { txid: 'x', confirmations, deep: false } });
    const steps = (long: EscrowFacts) => brief(swapOf({ long, short: claimed, secret }), early);
    assert.equal(steps(by(0)), 'initiator wait b, counterparty claim b');
    assert.equal(steps(by(1)), 'initiator wait b, counterparty wait b');
  }
  const hidden = swapOf({ long: funded, short: facts({ funded: deep(), refunded: seen('r1') }) });
  assert.equal(brief(hidden, early), 'initiator wait a, counterparty wait a');
});

test('while money is in an escrow that a leg moved off, nobody funds or reveals', () => {
  const early = agreedAt + 10;
  assert.equal(brief(swapOf({ longStrayed: true }), early), '');
  const both = swapOf({ long: funded, short: funded, longStrayed: true });
  assert.equal(brief(both, early), 'initiator wait b, counterparty wait a');
  const later = swapOf({ longStrayed: true }).deadlines.refundAt.b + 1;
  assert.equal(brief(both, later), 'initiator refund b, counterparty refund a');
});

test('money beside a claimed payment waits for the timelock, not for the other side', () => {
  const rest = { ...claimed, balance: 5n, empty: false };
  const swap = swapOf({ long: claimed, short: rest, secret });
  const { a } = swap.deadlines.refundAt;
  const [step, ...others] = nextSteps(swap, clocksAt(agreedAt + 10));
  assert.deepEqual(others, []);
  assert.deepEqual(step, {
    by: 'counterparty',
    action: 'wait',
    leg: 'a',
    before: a,
    why:
      'leg a was claimed and 5 beside it were not: ' +
      `refund leg a when its chain's clock passes ${a}`,
  });
  assert.equal(brief(swap, a), 'counterparty refund a');
});

test('while nobody knows what became of a leg, who has no other step waits, and hears who would tell', () => {
  const forgotten = { ...funded, balance: 0n, outcome: 'unknown' as const };
  const early = agreedAt + 10;
  for (const unknown of [facts({ outcome: 'unknown' }), forgotten]) {
    const nothing = swapOf({ short: unknown });
    assert.equal(brief(nothing, early), 'initiator wait a, counterparty wait a');
    const [{ why = '', before } = {}] = nextSteps(nothing, clocksAt(early));
    assert.match(why, /leg a on ethereum is not known: a later escrow has its lane.*an archive/);
    assert.match(why, /would tell, unless it was never funded/);
    assert.equal(before, null);
    // Neither revealed nor funded on, whatever the other leg shows.
    const half = swapOf({ long: funded, short: unknown });
    assert.equal(brief(half, early), 'initiator wait a, counterparty wait a');
    assert.equal(
      brief(half, half.deadlines.refundAt.b + 1),
      'initiator refund b, counterparty wait a',
    );
    // The party claims the payment of the other leg all the same.
    const open = swapOf({ long: funded, short: unknown, secret });
    assert.equal(brief(open, early), 'initiator wait a, counterparty claim b');
    const gone = swapOf({ long: unknown, short: claimed, secret });
    assert.equal(brief(gone, early), 'initiator wait b, counterparty wait b');
  }
});

test('an expired unfunded swap asks for nothing', () => {
  assert.equal(brief(swapOf(), swapOf().deadlines.counterpartyFundBy + 1), '');
  assert.equal(brief(swapOf({ lapsed: true }), agreedAt), '');
});

const factsOf: fc.Arbitrary<EscrowFacts> = fc.constantFrom(
  nothingSeen,
  facts({ funded: seen() }),
  funded,
  facts({ funded: deep(), claimed: seen() }),
  claimed,
  facts({ funded: deep(), refunded: seen() }),
  refunded,
  facts({ balance: 5n, empty: false }),
  facts({ outcome: 'unknown' }),
  { ...funded, balance: 0n, outcome: 'unknown' as const },
);
const wish = { askedAt: agreedAt, at: null, signature: null };
const releases = fc.constantFrom(undefined, wish, { ...wish, at: agreedAt, signature: '0x01' });
const handed = fc.constantFrom('nothing' as const, 'unknown' as const, 'sent' as const);
const states = fc.record({
  long: factsOf,
  short: factsOf,
  longLeg: fc.constantFrom('a' as const, 'b' as const),
  secret: fc.constantFrom(null, secret),
  lapsed: fc.boolean(),
  longStrayed: fc.boolean(),
  shortStrayed: fc.boolean(),
  longRelease: releases,
  shortRelease: releases,
  longHanded: handed,
  shortHanded: handed,
  shortShown: fc.boolean(),
  consents: fc.boolean(),
  addresses: fc.boolean(),
  after: fc.integer({ min: 0, max: 200_000 }),
  lag: fc.integer({ min: 0, max: 8_000 }),
});

test('a step that is offered passes its gate; money in escrow has a step; an end funds nothing', () => {
  const check = fc.property(states, ({ after, lag, longRelease, shortRelease, ...given }) => {
    const released = {
      ...(longRelease && { longRelease }),
      ...(shortRelease && { shortRelease }),
    };
    const swap = swapOf({ ...given, ...released });
    const wall = agreedAt + after;
    const clocks = { wall, a: wall - lag, b: wall - lag };
    const steps = nextSteps(swap, clocks);
    for (const { action, leg } of steps) {
      if (leg === null) continue;
      if (action === 'fund') fundGate(swap, leg, clocks);
      if (action === 'claim') claimGate(swap, leg, clocks);
      if (action === 'release') releaseGate(swap, leg, clocks);
      const { release, timelock } = swap.legs[leg];
      const isReleased = (release?.signature ?? null) !== null;
      if (action === 'refund' && !isReleased) refundGate(swap.legs[leg], timelock, clocks);
    }
    const has = (role: string) => steps.some((step) => step.by === role);
    if (longOf(swap).facts.balance > 0n) assert.ok(has('initiator'));
    if (shortOf(swap).facts.balance > 0n) assert.ok(has('counterparty'));
    const over = ['refunded', 'half_settled', 'expired', 'counterparty_claimed'];
    if (!over.includes(swapStatus(swap, wall))) return;
    assert.ok(steps.every(({ action }) => action !== 'fund'));
  });
  fc.assert(check, { numRuns: runs(4_000) });
});
