import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothingSeen } from './facts.ts';
import { claimGate, fundGate, mustFund, mustOpen, mustReceive, refundGate } from './gates.ts';
import { agreedAt, clocksAt, deep, facts, secret, seen, swapOf } from './testing.ts';

const funded = facts({ funded: deep() });
const now = clocksAt(agreedAt + 100);
const refused = (code: string) => ({ name: 'ParleyError', code });

test('only the funder funds and only the other side receives', () => {
  const { a } = swapOf().legs;
  mustFund(a, 'maker');
  mustReceive(a, 'taker');
  assert.throws(() => mustFund(a, 'taker'), refused('not_your_leg'));
  assert.throws(() => mustReceive(a, 'maker'), refused('not_your_leg'));
});

test('the initiator funds up to its deadline and not a second later, by the later clock', () => {
  const swap = swapOf();
  const last = swap.deadlines.initiatorFundBy;
  fundGate(swap, 'b', clocksAt(last));
  assert.throws(() => fundGate(swap, 'b', clocksAt(last + 1)), refused('too_late_to_fund'));
  for (const clock of ['wall', 'a', 'b']) {
    const ahead = { ...clocksAt(last), [clock]: last + 1 };
    assert.throws(() => fundGate(swap, 'b', ahead), refused('too_late_to_fund'), clock);
  }
});

test('the counterparty funds only when the long leg is deep, up to its own deadline', () => {
  const last = swapOf().deadlines.counterpartyFundBy;
  fundGate(swapOf({ long: funded }), 'a', clocksAt(last));
  assert.throws(
    () => fundGate(swapOf({ long: funded }), 'a', clocksAt(last + 1)),
    refused('too_late_to_fund'),
  );
  const notYet = [nothingSeen, facts({ funded: seen() })];
  for (const long of notYet) {
    assert.throws(() => fundGate(swapOf({ long }), 'a', now), refused('not_fundable_yet'));
  }
  const gone = facts({ funded: deep(), refunded: deep() });
  assert.throws(() => fundGate(swapOf({ long: gone }), 'a', now), refused('already_refunded'));
});

test('nothing is funded twice, without addresses, after a lapse or once the secret is out', () => {
  const seenOnce = facts({ funded: seen() });
  assert.throws(() => fundGate(swapOf({ long: seenOnce }), 'b', now), refused('already_funded'));
  assert.throws(
    () => fundGate(swapOf({ addresses: false }), 'b', now),
    refused('addresses_missing'),
  );
  assert.throws(() => fundGate(swapOf({ lapsed: true }), 'b', now), refused('too_late_to_fund'));
  assert.throws(() => fundGate(swapOf({ secret }), 'b', now), refused('too_late_to_fund'));
});

test('while nobody knows what became of a leg, neither is funded and no secret is shown', () => {
  const unknowns = [
    facts({ outcome: 'unknown' }),
    { ...funded, balance: 0n, outcome: 'unknown' as const },
  ];
  for (const unknown of unknowns) {
    for (const swap of [swapOf({ long: unknown }), swapOf({ short: unknown })]) {
      assert.throws(() => fundGate(swap, 'a', now), refused('outcome_unknown'));
      assert.throws(() => fundGate(swap, 'b', now), {
        ...refused('outcome_unknown'),
        message: /^neither fund nor reveal: what became of .* would tell/,
      });
    }
    const short = swapOf({ long: funded, short: unknown });
    assert.throws(() => claimGate(short, 'a', now), refused('outcome_unknown'));
    const long = swapOf({ long: unknown, short: funded });
    assert.throws(() => claimGate(long, 'a', now), refused('outcome_unknown'));
    claimGate(swapOf({ long: unknown, short: funded, secret }), 'a', now);
  }
});

test('a leg is not funded once the other is on its way back', () => {
  const short = facts({ funded: deep(), refunded: seen() });
  assert.throws(() => fundGate(swapOf({ short }), 'b', now), refused('already_refunded'));
});

test('a leg is not funded while the other leg could not be completed', () => {
  const swap = swapOf();
  const half = { ...swap, legs: { ...swap.legs, a: { ...swap.legs.a, payoutAddress: null } } };
  assert.throws(() => fundGate(half, 'b', now), refused('addresses_missing'));
});

test('only the preimage opens', () => {
  mustOpen(swapOf(), secret);
  assert.throws(() => mustOpen(swapOf(), '12'.repeat(32)), refused('wrong_secret'));
});

test('the secret is revealed only with both legs deep, up to revealBy by the later clock', () => {
  const both = swapOf({ long: funded, short: funded });
  const last = both.deadlines.revealBy;
  claimGate(both, 'a', clocksAt(last));
  for (const clock of ['wall', 'a', 'b']) {
    const ahead = { ...clocksAt(last), [clock]: last + 1 };
    assert.throws(() => claimGate(both, 'a', ahead), refused('too_late_to_reveal'), clock);
  }
  const shallow = facts({ funded: seen() });
  for (const given of [
    { long: funded, short: shallow },
    { long: shallow, short: funded },
  ]) {
    assert.throws(() => claimGate(swapOf(given), 'a', now), refused('not_both_funded'));
  }
});

test('the secret is not revealed while the long leg is being refunded', () => {
  const leaving = facts({ funded: deep(), refunded: seen() });
  const swap = swapOf({ long: leaving, short: funded });
  assert.throws(() => claimGate(swap, 'a', now), refused('already_refunded'));
});

test('once the secret is public no gate of ours refuses a claim, however late', () => {
  const late = clocksAt(agreedAt + 10_000_000);
  claimGate(swapOf({ long: funded, short: funded, secret }), 'a', late);
  claimGate(swapOf({ long: funded, short: nothingSeen, secret }), 'b', late);
  claimGate(swapOf({ long: facts({ funded: seen() }), secret }), 'b', late);
});

test('with the secret public only the chain may refuse a claim, claimed or refunded as it shows', () => {
  const claimed = facts({ funded: deep(), claimed: deep() });
  const refunded = facts({ funded: deep(), refunded: deep() });
  for (const short of [claimed, refunded]) {
    claimGate(swapOf({ long: funded, short, secret }), 'a', now);
  }
  const gone = swapOf({ long: funded, short: refunded });
  assert.throws(() => claimGate(gone, 'a', now), refused('already_refunded'));
  const spent = facts({ funded: deep(), claimed: deep('c1') });
  const message = 'leg a was claimed by c1';
  assert.throws(() => claimGate(swapOf({ long: funded, short: spent }), 'a', now), { message });
});

test('the counterparty, who has the secret or nothing, is not held to revealBy', () => {
  const both = swapOf({ long: funded, short: funded });
  const late = clocksAt(both.deadlines.revealBy + 1);
  claimGate(both, 'b', late);
  assert.throws(() => claimGate(both, 'a', late), refused('too_late_to_reveal'));
});

test('money in an escrow that a leg moved off stops funding and revealing on either leg', () => {
  for (const stray of [{ longStrayed: true }, { shortStrayed: true }]) {
    assert.throws(() => fundGate(swapOf(stray), 'b', now), refused('former_escrow_funded'));
    const half = swapOf({ long: funded, ...stray });
    assert.throws(() => fundGate(half, 'a', now), refused('former_escrow_funded'));
    const both = swapOf({ long: funded, short: funded, ...stray });
    assert.throws(() => claimGate(both, 'a', now), refused('former_escrow_funded'));
    claimGate(swapOf({ long: funded, short: funded, secret, ...stray }), 'a', now);
  }
});

test('a refund opens by the clock of the chain: at the timelock, on Bitcoin beyond it', () => {
  const { a, b } = swapOf().legs;
  refundGate(a, a.timelock, { wall: 0, a: a.timelock, b: 0 });
  refundGate(b, b.timelock, { wall: 0, a: 0, b: b.timelock + 1 });
  const early = { wall: a.timelock + 500, a: a.timelock - 1, b: b.timelock };
  assert.throws(() => refundGate(a, a.timelock, early), {
    code: 'too_early_to_refund',
    message: /1 s short and 501 s behind wall time/,
  });
  assert.throws(() => refundGate(b, b.timelock, early), {
    code: 'too_early_to_refund',
    message: /median time past/,
  });
});
