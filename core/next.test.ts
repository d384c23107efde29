import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../test/support/runs.ts';
import { type EscrowFacts, nothingSeen } from './facts.ts';
import { claimGate, fundGate, refundGate } from './gates.ts';
import { nextSteps } from './next.ts';
import { swapStatus } from './status.ts';
import { longOf, type SwapState, shortOf } from './swap.ts';
import { agreedAt, clocksAt, deep, facts, secret, seen, swapOf } from './testing.ts';

const funded = facts({ funded: deep() });
const claimed = facts({ funded: deep(), claimed: deep() });
const refunded = facts({ funded: deep(), refunded: deep() });

/** `role action leg` of each step. */
function brief(swap: SwapState, now: number): string[] {
  return nextSteps(swap, clocksAt(now)).map((step) => `${step.by} ${step.action} ${step.leg}`);
}

test('the path of a swap that settles', () => {
  const early = agreedAt + 10;
  assert.deepEqual(brief(swapOf({ addresses: false }), early), [
    'initiator set_address b',
    'initiator set_address a',
    'counterparty set_address a',
    'counterparty set_address b',
  ]);
  assert.deepEqual(brief(swapOf(), early), ['initiator fund b', 'counterparty wait b']);
  assert.deepEqual(brief(swapOf({ long: facts({ funded: seen() }) }), early), [
    'initiator wait b',
    'counterparty wait b',
  ]);
  assert.deepEqual(brief(swapOf({ long: funded }), early), [
    'initiator wait a',
    'counterparty fund a',
  ]);
  assert.deepEqual(brief(swapOf({ long: funded, short: funded }), early), [
    'initiator claim a',
    'counterparty wait a',
  ]);
  const revealed = swapOf({ long: funded, short: claimed, secret });
  assert.deepEqual(brief(revealed, early), ['initiator wait b', 'counterparty claim b']);
  assert.deepEqual(brief(swapOf({ long: claimed, short: claimed, secret }), early), []);
});

test('the way back: each funder refunds its own leg from its own timelock on', () => {
  const both = swapOf({ long: funded, short: funded });
  const { a, b } = both.deadlines.refundAt;
  assert.deepEqual(brief(both, both.deadlines.revealBy + 1), [
    'initiator wait b',
    'counterparty wait a',
  ]);
  assert.deepEqual(brief(both, a), ['initiator wait b', 'counterparty refund a']);
  assert.deepEqual(brief(both, b + 1), ['initiator refund b', 'counterparty refund a']);
  assert.deepEqual(brief(swapOf({ long: refunded, short: refunded }), b + 1), []);
});

test('a claim or refund that only waits hides no claim of a public secret; in a block it does', () => {
  const early = agreedAt + 10;
  for (const verb of ['claimed', 'refunded']) {
    const by = (confirmations: number) =>
      facts({ funded: deep(), [verb]: { txid: 'x', confirmations, deep: false } });
    const steps = (long: EscrowFacts) => brief(swapOf({ long, short: claimed, secret }), early);
    assert.deepEqual(steps(by(0)), ['initiator wait b', 'counterparty claim b']);
    assert.deepEqual(steps(by(1)), ['initiator wait b', 'counterparty wait b']);
  }
  const hidden = swapOf({ long: funded, short: facts({ funded: deep(), refunded: seen('r1') }) });
  assert.deepEqual(brief(hidden, early), ['initiator wait a', 'counterparty wait a']);
});

test('while money is in an escrow that a leg moved off, nobody funds or reveals', () => {
  const early = agreedAt + 10;
  assert.deepEqual(brief(swapOf({ longStrayed: true }), early), []);
  const both = swapOf({ long: funded, short: funded, longStrayed: true });
  assert.deepEqual(brief(both, early), ['initiator wait b', 'counterparty wait a']);
  const later = swapOf({ longStrayed: true }).deadlines.refundAt.b + 1;
  assert.deepEqual(brief(both, later), ['initiator refund b', 'counterparty refund a']);
});

test('what is left beside a claimed payment waits for the timelock, not for the other side', () => {
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
  assert.deepEqual(brief(swap, a), ['counterparty refund a']);
});

test('while nobody knows what became of a leg, who has no other step waits, and hears who would tell', () => {
  const forgotten = { ...funded, balance: 0n, outcome: 'unknown' as const };
  const early = agreedAt + 10;
  for (const unknown of [facts({ outcome: 'unknown' }), forgotten]) {
    const nothing = swapOf({ short: unknown });
    assert.deepEqual(brief(nothing, early), ['initiator wait a', 'counterparty wait a']);
    const [{ why = '', before } = {}] = nextSteps(nothing, clocksAt(early));
    assert.match(why, /leg a on ethereum is not known: a later escrow has its lane.*an archive/);
    assert.match(why, /would tell, unless it was never funded/);
    assert.equal(before, null);
    // Neither revealed nor funded on, whatever the other leg shows.
    const half = swapOf({ long: funded, short: unknown });
    assert.deepEqual(brief(half, early), ['initiator wait a', 'counterparty wait a']);
    assert.deepEqual(brief(half, half.deadlines.refundAt.b + 1), [
      'initiator refund b',
      'counterparty wait a',
    ]);
    // What the other leg pays is claimed all the same.
    const open = swapOf({ long: funded, short: unknown, secret });
    assert.deepEqual(brief(open, early), ['initiator wait a', 'counterparty claim b']);
    const gone = swapOf({ long: unknown, short: claimed, secret });
    assert.deepEqual(brief(gone, early), ['initiator wait b', 'counterparty wait b']);
  }
});

test('nothing is asked for once a swap expired unfunded', () => {
  assert.deepEqual(brief(swapOf(), swapOf().deadlines.counterpartyFundBy + 1), []);
  assert.deepEqual(brief(swapOf({ lapsed: true }), agreedAt), []);
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
const states = fc.record({
  long: factsOf,
  short: factsOf,
  longLeg: fc.constantFrom('a' as const, 'b' as const),
  secret: fc.constantFrom(null, secret),
  lapsed: fc.boolean(),
  longStrayed: fc.boolean(),
  shortStrayed: fc.boolean(),
  addresses: fc.boolean(),
  after: fc.integer({ min: 0, max: 200_000 }),
  lag: fc.integer({ min: 0, max: 8_000 }),
});

test('a step that is offered passes its gate; money in escrow has a step; an end funds nothing', () => {
  const check = fc.property(states, ({ after, lag, ...given }) => {
    const swap = swapOf(given);
    const wall = agreedAt + after;
    const clocks = { wall, a: wall - lag, b: wall - lag };
    const steps = nextSteps(swap, clocks);
    for (const { action, leg } of steps) {
      if (leg === null) continue;
      if (action === 'fund') fundGate(swap, leg, clocks);
      if (action === 'claim') claimGate(swap, leg, clocks);
      if (action === 'refund') refundGate(swap.legs[leg], swap.legs[leg].timelock, clocks);
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
