import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EscrowFacts, holdsPayment, legStatus, nothingSeen } from './facts.ts';
import { swapStatus } from './status.ts';
import { agreedAt, deep, facts, secret, seen, swapOf } from './testing.ts';

const none = nothingSeen;
const funding = facts({ funded: seen() });
const funded = facts({ funded: deep() });
const claiming = facts({ funded: deep(), claimed: seen() });
const claimed = facts({ funded: deep(), claimed: deep() });
const refunding = facts({ funded: deep(), refunded: seen() });
const refunded = facts({ funded: deep(), refunded: deep() });

test('a leg shows a funding from its first sight, claims and refunds only at depth', () => {
  assert.equal(legStatus(none), 'unfunded');
  assert.equal(legStatus(funding), 'seen');
  assert.equal(legStatus(funded), 'funded');
  assert.equal(legStatus(claiming), 'funded');
  assert.equal(legStatus(refunding), 'funded');
  assert.equal(legStatus(claimed), 'claimed');
  assert.equal(legStatus(refunded), 'refunded');
  assert.equal(legStatus(facts({ claimed: seen() })), 'seen');
});

/** long facts, short facts, was the secret seen, the status. */
const table: readonly (readonly [EscrowFacts, EscrowFacts, boolean, string])[] = [
  [none, none, false, 'agreed'],
  [funding, none, false, 'agreed'],
  [none, funding, false, 'agreed'],
  [none, funded, false, 'agreed'],
  [funded, none, false, 'initiator_funded'],
  [funded, funding, false, 'initiator_funded'],
  [funding, funded, false, 'agreed'],
  [funded, funded, false, 'counterparty_funded'],
  [funded, funded, true, 'initiator_claimed'],
  [funded, claiming, true, 'initiator_claimed'],
  [funded, claiming, false, 'counterparty_funded'],
  [funded, claimed, true, 'initiator_claimed'],
  [claiming, claimed, true, 'initiator_claimed'],
  [claimed, claimed, true, 'counterparty_claimed'],
  [claimed, funded, true, 'counterparty_claimed'],
  [claimed, refunding, true, 'counterparty_claimed'],
  [claimed, refunded, true, 'half_settled'],
  [refunded, claimed, true, 'half_settled'],
  [refunded, none, false, 'refunded'],
  [refunded, funded, false, 'refunded'],
  [refunded, claiming, true, 'refunded'],
  [funded, refunded, false, 'refunded'],
  [funded, refunded, true, 'refunded'],
  [none, refunded, false, 'refunded'],
  [refunded, refunded, false, 'refunded'],
  [refunding, refunding, false, 'counterparty_funded'],
  [none, none, true, 'initiator_claimed'],
];

test('the status for every combination of facts', () => {
  for (const [long, short, known, status] of table) {
    for (const longLeg of ['a', 'b'] as const) {
      const swap = swapOf({ long, short, longLeg, secret: known ? secret : null });
      assert.equal(swapStatus(swap, agreedAt), status, JSON.stringify([status, longLeg]));
    }
  }
});

test('a swap expires when nothing was funded and a funding sent in time would be deep', () => {
  const swap = swapOf();
  const { initiatorFundBy, expiresAt } = swap.deadlines;
  assert.equal(expiresAt, initiatorFundBy + 6_720);
  assert.equal(swapStatus(swap, expiresAt), 'agreed');
  assert.equal(swapStatus(swap, expiresAt + 1), 'expired');
  assert.equal(swapStatus(swapOf({ lapsed: true }), agreedAt), 'expired');
  assert.equal(swapStatus(swapOf({ long: funding }), expiresAt + 1), 'agreed');
  assert.equal(swapStatus(swapOf({ short: funded }), expiresAt + 1), 'agreed');
  const late = swapOf({ long: funded, lapsed: true });
  assert.equal(swapStatus(late, expiresAt + 1), 'initiator_funded');
});

test('a reorganisation takes a status back, but never what is known of the secret', () => {
  assert.equal(swapStatus(swapOf({ long: funded, short: none }), agreedAt), 'initiator_funded');
  assert.equal(swapStatus(swapOf({ long: none, short: none }), agreedAt), 'agreed');
  assert.equal(swapStatus(swapOf({ long: funded, secret }), agreedAt), 'initiator_claimed');
});

test('a former escrow holds a payment: whole, or a hundredth; dust and what has left do not', () => {
  const amount = 1_000n;
  assert.ok(holdsPayment(funding, amount));
  assert.ok(holdsPayment(funded, amount));
  assert.ok(holdsPayment(refunding, amount));
  assert.ok(!holdsPayment(refunded, amount));
  assert.ok(!holdsPayment(claimed, amount));
  assert.ok(!holdsPayment(none, amount));
  assert.ok(!holdsPayment(facts({ balance: 9n }), amount));
  assert.ok(holdsPayment(facts({ balance: 10n }), amount));
});
