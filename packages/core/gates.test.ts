import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nothingSeen } from './facts.ts';
import { claimGate, fundGate, mustFund, mustOpen, mustReceive, refundGate } from './gates.ts';
import { agreedAt, clocksAt, deep, facts, secret, seen, swapOf } from './testing.ts';
import type { LegName } from './trade.ts';

const funded = facts({ funded: deep() });
const shallow = facts({ funded: seen() });
const leaving = facts({ funded: deep(), refunded: seen() });
const refunded = facts({ funded: deep(), refunded: deep() });
const claimed = facts({ funded: deep(), claimed: deep() });
const unseen = facts({ outcome: 'unknown' });
const forgotten = { ...funded, balance: 0n, outcome: 'unknown' as const };
const both = { long: funded, short: funded };

type Given = Parameters<typeof swapOf>[0];
const now = clocksAt(agreedAt + 100);
const late = clocksAt(agreedAt + 10_000_000);
const refused = (code: string) => ({ name: 'ParleyError', code });
const gates = { fund: fundGate, claim: claimGate } as const;

/** A step of a leg, the swap, and why it is refused; null: it is not. */
type Row = readonly [`${'fund' | 'claim'} ${LegName}`, Given, string | null, typeof now?];
function mustHold(rows: readonly Row[]): void {
  for (const [step, given, code, clocks = now] of rows) {
    const [verb, leg] = step.split(' ') as ['fund' | 'claim', LegName];
    const pass = () => gates[verb](swapOf(given), leg, clocks);
    if (code === null) pass();
    else assert.throws(pass, refused(code), `${step} ${JSON.stringify(Object.keys(given ?? {}))}`);
  }
}

/** At the last moment, and a second later by all clocks and by each alone. */
function mustEnd(step: Row[0], given: Given, last: number, code: string): void {
  const later = ['wall', 'a', 'b'].map((clock) => ({ ...clocksAt(last), [clock]: last + 1 }));
  mustHold([
    [step, given, null, clocksAt(last)],
    ...[clocksAt(last + 1), ...later].map((clocks) => [step, given, code, clocks] as const),
  ]);
}

test('only the funder funds and only the other side receives', () => {
  const { a } = swapOf().legs;
  mustFund(a, 'maker');
  mustReceive(a, 'taker');
  assert.throws(() => mustFund(a, 'taker'), refused('not_your_leg'));
  assert.throws(() => mustReceive(a, 'maker'), refused('not_your_leg'));
});

test('each funds up to its own deadline and not a second later, by the later clock', () => {
  const { initiatorFundBy, counterpartyFundBy } = swapOf().deadlines;
  mustEnd('fund b', {}, initiatorFundBy, 'too_late_to_fund');
  mustEnd('fund a', { long: funded }, counterpartyFundBy, 'too_late_to_fund');
});

test('the counterparty funds only when the long leg is final', () => {
  mustHold([
    ['fund a', { long: nothingSeen }, 'not_fundable_yet'],
    ['fund a', { long: shallow }, 'not_fundable_yet'],
    ['fund a', { long: refunded }, 'already_refunded'],
  ]);
});

test('no leg is funded twice, without addresses, after a lapse or once the secret is out', () => {
  mustHold([
    ['fund b', { long: shallow }, 'already_funded'],
    ['fund b', { addresses: false }, 'addresses_missing'],
    ['fund b', { lapsed: true }, 'too_late_to_fund'],
    ['fund b', { secret }, 'too_late_to_fund'],
    ['fund b', { short: leaving }, 'already_refunded'],
  ]);
  const swap = swapOf();
  const half = { ...swap, legs: { ...swap.legs, a: { ...swap.legs.a, payoutAddress: null } } };
  assert.throws(() => fundGate(half, 'b', now), refused('addresses_missing'));
});

test('while nobody knows what became of a leg, neither is funded and no secret is shown', () => {
  const message = /^neither fund nor reveal: the outcome of .* would tell/;
  for (const unknown of [unseen, forgotten]) {
    mustHold([
      ['fund a', { long: unknown }, 'outcome_unknown'],
      ['fund a', { short: unknown }, 'outcome_unknown'],
      ['fund b', { short: unknown }, 'outcome_unknown'],
      ['claim a', { long: funded, short: unknown }, 'outcome_unknown'],
      ['claim a', { long: unknown, short: funded }, 'outcome_unknown'],
      ['claim a', { long: unknown, short: funded, secret }, null],
    ]);
    assert.throws(() => fundGate(swapOf({ long: unknown }), 'b', now), { message });
  }
});

test('only the preimage opens', () => {
  mustOpen(swapOf(), secret);
  assert.throws(() => mustOpen(swapOf(), '12'.repeat(32)), refused('wrong_secret'));
});

test('the secret is revealed only with both legs final, up to revealBy by the later clock', () => {
  const { revealBy } = swapOf().deadlines;
  mustEnd('claim a', both, revealBy, 'too_late_to_reveal');
  mustHold([
    ['claim a', { long: funded, short: shallow }, 'not_both_funded'],
    ['claim a', { long: shallow, short: funded }, 'not_both_funded'],
    ['claim a', { long: leaving, short: funded }, 'already_refunded'],
    // The counterparty, who has the secret or nothing, is not held to it.
    ['claim b', both, null, clocksAt(revealBy + 1)],
  ]);
});

test('once the secret is public only the chain may refuse a claim, however late', () => {
  mustHold([
    ['claim a', { ...both, secret }, null, late],
    ['claim b', { long: funded, short: nothingSeen, secret }, null, late],
    ['claim b', { long: shallow, secret }, null, late],
    ['claim a', { long: funded, short: claimed, secret }, null],
    ['claim a', { long: funded, short: refunded, secret }, null],
    ['claim a', { long: funded, short: refunded }, 'already_refunded'],
  ]);
  const spent = facts({ funded: deep(), claimed: deep('c1') });
  const message = 'leg a was claimed by c1';
  assert.throws(() => claimGate(swapOf({ long: funded, short: spent }), 'a', now), { message });
});

test('money in an escrow that a leg moved off stops funding and revealing on either leg', () => {
  for (const stray of [{ longStrayed: true }, { shortStrayed: true }]) {
    mustHold([
      ['fund b', stray, 'former_escrow_funded'],
      ['fund a', { long: funded, ...stray }, 'former_escrow_funded'],
      ['claim a', { ...both, ...stray }, 'former_escrow_funded'],
      ['claim a', { ...both, secret, ...stray }, null],
    ]);
  }
});

test('a refund opens by the clock of the chain: at the timelock, on Bitcoin beyond it', () => {
  const { a, b } = swapOf().legs;
  refundGate(a, a.timelock, { wall: 0, a: a.timelock, b: 0 });
  refundGate(b, b.timelock, { wall: 0, a: 0, b: b.timelock + 1 });
  const early = { wall: a.timelock + 500, a: a.timelock - 1, b: b.timelock };
  const code = 'too_early_to_refund';
  const message = /1 s short and 501 s behind wall time/;
  assert.throws(() => refundGate(a, a.timelock, early), { code, message });
  assert.throws(() => refundGate(b, b.timelock, early), { code, message: /median time past/ });
});
