import assert from 'node:assert/strict';
import test from 'node:test';
import { hashlockOf } from '../core/hashlock.ts';
import type { LegName, Party } from '../core/trade.ts';
import { VerificationError } from './errors.ts';
import {
  alterations,
  bitcoinOf,
  byField,
  honestSwap,
  isHarmless,
  lastOf,
  mustRefuseLies,
  now,
  secret,
  shownLeg,
  swapId,
  termsOf,
  tradeOf,
  views,
} from './testing/honest.ts';
import type { PinnedAsset } from './trade.ts';
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
    mustRefuseLies(honestSwap(party), (lie) => verifySwap(lie, tradeOf(party), views, at));
  });

  test(`the ${party} is not bothered by the fields that are listed as harmless`, () => {
    for (const { path, how, value } of alterations(honestSwap(party))) {
      if (path === '' || !isHarmless(path, how)) continue;
      verifySwap(value as Swap, tradeOf(party), views, at);
    }
  });
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
    assert.throws(() => verifySwap(lie, tradeOf('taker'), views, at), byField(field), field);
  }
});

test('a consistent lie about the keys of this side is refused', () => {
  const swap = structuredClone(honestSwap('maker'));
  const stranger = bitcoinOf('taker');
  swap.legs.b.payoutPubkey = stranger.pubkey;
  swap.legs.b.payoutAddress = stranger.address;
  const verify = () => verifySwap(swap, tradeOf('maker'), views, at);
  assert.throws(verify, byField('legs.b.payoutPubkey'));
});

/** Which field it is refused by; null = it is not. */
const fieldOf = (swap: Swap, trade = tradeOf('taker'), seenAt = now) => {
  try {
    verifySwap(swap, trade, views, { swapId, now: seenAt });
    return null;
  } catch (error) {
    return error instanceof VerificationError ? error.field : String(error);
  }
};

test('an agreement dated before the acceptance, or after now, is refused at the tolerance', () => {
  const { acceptedAt } = tradeOf('taker');
  const [first, last] = [acceptedAt - clockToleranceSeconds, now + clockToleranceSeconds];
  const dated = (agreedAt: number) => fieldOf(honestSwap('taker', agreedAt));
  assert.equal(dated(first - 1), 'deadlines.refundAt.a');
  assert.equal(dated(first), null);
  assert.equal(dated(last), null);
  assert.equal(dated(last + 1), 'deadlines.refundAt.a');
});

test('an agreement after the acceptance lapsed is refused, 168 hours later too', () => {
  for (const acceptTtlSeconds of [undefined, 60, 3_600]) {
    const own = acceptTtlSeconds === undefined ? {} : { acceptTtlSeconds };
    const trade = { ...tradeOf('maker'), ...own };
    const last = trade.acceptedAt + (acceptTtlSeconds ?? 600) + clockToleranceSeconds;
    const dated = (at: number) => fieldOf(honestSwap('maker', at), trade, at + 7_200);
    assert.equal(dated(last), null);
    assert.equal(dated(last + 1), 'deadlines.refundAt.a');
    assert.equal(dated(trade.acceptedAt + 168 * 3_600), 'deadlines.refundAt.a');
  }
});

test('the initiator is bound by no hashlock but its own, however well all else follows from it', () => {
  const hashlock = hashlockOf('77'.repeat(32));
  const lie = (party: Party) => {
    const swap = honestSwap(party);
    const leg = (name: LegName) =>
      shownLeg(name, {
        ...termsOf(name, swap.legs[name].timelock, lastOf(swap.deadlines, name)),
        hashlock,
      });
    return { ...swap, hashlock, legs: { a: leg('a'), b: leg('b') } };
  };
  assert.equal(fieldOf(lie('taker')), 'hashlock');
  assert.equal(fieldOf(lie('taker'), { ...tradeOf('taker'), hashlock: null }), 'hashlock');
  // The other side learns it from the swap, if it named none.
  assert.equal(fieldOf(lie('maker'), tradeOf('maker')), null);
  assert.equal(
    fieldOf(lie('maker'), { ...tradeOf('maker'), hashlock: hashlockOf(secret) }),
    'hashlock',
  );
});

test('an amount of high value wants its depth and its deadlines, on either leg', () => {
  const at = (high: readonly LegName[]) => {
    const { base, quote, ...trade } = tradeOf('taker');
    const pin = (asset: PinnedAsset, leg: LegName, amount: bigint) => ({
      ...asset,
      highValueFrom: high.includes(leg) ? amount : amount + 1n,
    });
    return {
      ...trade,
      base: pin(base, 'b', trade.baseAmount),
      quote: pin(quote, 'a', trade.quoteAmount),
    };
  };
  const all: LegName[][] = [[], ['a'], ['b'], ['a', 'b']];
  for (const high of all) {
    for (const shown of all) {
      const field = fieldOf(honestSwap('taker', now - 2, shown), at(high));
      if (high === shown) assert.equal(field, null);
      else assert.match(field ?? '', /^deadlines\.|requiredConfirmations$/, `${high} ${shown}`);
    }
  }
});
