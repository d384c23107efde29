import assert from 'node:assert/strict';
import test from 'node:test';
import { hashlockOf } from '../core/hashlock.ts';
import { VerificationError } from './errors.ts';
import {
  alterations,
  bitcoinOf,
  honestSwap,
  isHarmless,
  now,
  secret,
  swapId,
  tradeOf,
  views,
} from './testing/honest.ts';
import type { Swap, SwapLeg } from './types.ts';
import { clockToleranceSeconds, verifySwap } from './verify.ts';

const at = { swapId, now };

for (const party of ['maker', 'taker'] as const) {
  test(`an honest swap is accepted by the ${party}`, () => {
    const verified = verifySwap(honestSwap(party), tradeOf(party), views, at);
    assert.equal(verified.role, party === 'taker' ? 'initiator' : 'counterparty');
    assert.equal(verified.hashlock, hashlockOf(secret));
    assert.equal(verified.agreedAt, now - 2);
    assert.equal(verified.legs.b.escrow?.address, honestSwap(party).legs.b.escrow);
  });

  test(`a market that alters any one field is refused by the ${party}, by name`, () => {
    let lies = 0;
    for (const { path, how, value } of alterations(honestSwap(party))) {
      if (path === '' || isHarmless(path, how)) continue;
      lies += 1;
      const verify = () => verifySwap(value as Swap, tradeOf(party), views, at);
      assert.throws(verify, isRefusal, `${path} (${how}) was believed`);
    }
    assert.ok(lies > 150, `only ${lies} lies were told`);
  });

  test(`the ${party} is not bothered by the fields that are listed as harmless`, () => {
    for (const { path, how, value } of alterations(honestSwap(party))) {
      if (path === '' || !isHarmless(path, how)) continue;
      verifySwap(value as Swap, tradeOf(party), views, at);
    }
  });
}

function isRefusal(error: unknown): true {
  assert.ok(error instanceof VerificationError, String(error));
  assert.notEqual(error.field, '');
  assert.notEqual(error.expected, error.got);
  assert.match(error.message, /must be .*; the market says /s);
  return true;
}

function withLeg(swap: Swap, alter: Partial<SwapLeg>): Swap {
  return { ...swap, legs: { ...swap.legs, a: { ...swap.legs.a, ...alter } } };
}

test('a field that is not harmless is refused by its own name', () => {
  const named: [string, (swap: Swap) => Swap][] = [
    ['legs.a.amount', (swap) => withLeg(swap, { amount: '600000001' })],
    ['legs.a.escrow', (swap) => withLeg(swap, { escrow: swap.legs.a.payoutAddress })],
    ['legs.a.payoutAddress', (swap) => withLeg(swap, { payoutAddress: swap.legs.a.escrow })],
    ['deadlines.revealBy', (swap) => ({ ...swap, deadlines: { ...swap.deadlines, revealBy: 1 } })],
    ['role', (swap) => ({ ...swap, role: 'counterparty' })],
  ];
  for (const [field, alter] of named) {
    const lie = alter(honestSwap('taker'));
    assert.throws(
      () => verifySwap(lie, tradeOf('taker'), views, at),
      (error) => error instanceof VerificationError && error.field === field,
      field,
    );
  }
});

test('a consistent lie about the keys of this side is refused', () => {
  const swap = structuredClone(honestSwap('maker'));
  const stranger = bitcoinOf('taker');
  swap.legs.b.payoutPubkey = stranger.pubkey;
  swap.legs.b.payoutAddress = stranger.address;
  assert.throws(
    () => verifySwap(swap, tradeOf('maker'), views, at),
    (error) => error instanceof VerificationError && error.field === 'legs.b.payoutPubkey',
  );
});

test('an agreement dated before the acceptance, or after now, is refused at the tolerance', () => {
  const trade = tradeOf('taker');
  const shifted = (by: number): Swap => {
    const swap = structuredClone(honestSwap('taker'));
    const { initiatorFundBy, expiresAt, counterpartyFundBy, revealBy, refundAt } = swap.deadlines;
    swap.deadlines = {
      initiatorFundBy: initiatorFundBy + by,
      expiresAt: expiresAt + by,
      counterpartyFundBy: counterpartyFundBy + by,
      revealBy: revealBy + by,
      refundAt: { a: refundAt.a + by, b: refundAt.b + by },
    };
    return swap;
  };
  const fieldOf = (by: number) => {
    try {
      verifySwap(shifted(by), trade, views, at);
      return null;
    } catch (error) {
      return error instanceof VerificationError ? error.field : String(error);
    }
  };
  // agreed at now - 2: the upper bound is now + tolerance, the lower acceptedAt - tolerance
  assert.equal(fieldOf(clockToleranceSeconds + 3), 'deadlines.refundAt.a');
  assert.equal(fieldOf(clockToleranceSeconds + 2), 'legs.a.timelock');
  assert.equal(fieldOf(-clockToleranceSeconds - 4), 'deadlines.refundAt.a');
  assert.equal(fieldOf(-clockToleranceSeconds - 3), 'legs.a.timelock');
});
