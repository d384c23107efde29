// Lies about a swap from which all else follows. That each altered field is refused on every family:
// vectors.test.ts.

import assert from 'node:assert/strict';
import test from 'node:test';
import { hashlockOf } from '@parley/core/hashlock.ts';
import type { LegName, Party } from '@parley/core/trade.ts';
import { VerificationError } from './errors.ts';
import {
  bitcoinOf,
  byField,
  honestSwap,
  lastOf,
  now,
  pinned,
  secret,
  shownLeg,
  swapId,
  termsOf,
  tradeOf,
} from './testing/honest.ts';
import { solanaView, tronView } from './testing/materials.ts';
import type { PinnedAsset } from './trade.ts';
import type { Swap } from './types.ts';
import { clockToleranceSeconds, verifyAsset, verifySwap } from './verify.ts';

const { quote } = tradeOf('taker');
const trc: PinnedAsset = { ...quote, chain: 'tron-dev', token: tronView.deployment.contract };
const spl: PinnedAsset = { ...trc, chain: 'solana-dev', token: solanaView.deployment.program };

test('own destinations are compared even where all else follows from the false ones', async () => {
  const swap = structuredClone(honestSwap('maker'));
  const stranger = bitcoinOf('taker');
  swap.legs.b.payoutPubkey = stranger.pubkey;
  swap.legs.b.payoutAddress = stranger.address;
  assert.equal(fieldOf(swap, tradeOf('maker')), 'legs.b.payoutPubkey');
  for (const [party, leg, kind] of [
    ['maker', 'a', 'refund'],
    ['taker', 'a', 'payout'],
  ] as const) {
    const honest = honestSwap(party);
    const terms = termsOf(leg, honest.legs[leg].timelock, lastOf(honest.deadlines, leg));
    const to = { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', pubkey: null };
    const lie = {
      ...honest,
      legs: { ...honest.legs, [leg]: shownLeg(leg, { ...terms, [kind]: to }) },
    };
    assert.equal(fieldOf(lie, tradeOf(party)), `legs.${leg}.${kind}Address`);
  }
});

test('a leg is of Taproot where both sides ask for it, and never where this one does not', () => {
  const honest = honestSwap('maker');
  const plain = tradeOf('maker');
  const asks = { ...plain, payTo: { ...plain.payTo, form: 'p2tr' as const } };
  const shown = (own: boolean, other: boolean, form: 'p2tr' | null) => {
    const terms = termsOf('b', honest.legs.b.timelock, lastOf(honest.deadlines, 'b'));
    const said = (isAsked: boolean) => (isAsked ? { form: 'p2tr' as const } : {});
    const payout = { ...terms.payout, ...said(own) };
    const refund = { ...terms.refund, ...said(other) };
    const leg = shownLeg('b', { ...terms, payout, refund, ...said(form === 'p2tr') });
    const { requiredConfirmations } = honest.legs.b;
    return { ...honest, legs: { ...honest.legs, b: { ...leg, requiredConfirmations } } };
  };
  assert.equal(fieldOf(shown(true, true, 'p2tr'), asks), null);
  assert.equal(fieldOf(shown(true, false, null), asks), null);
  assert.equal(fieldOf(shown(false, true, null), plain), null);
  assert.equal(fieldOf(shown(true, true, 'p2tr'), plain), 'legs.b.payoutForm');
  assert.equal(fieldOf(shown(false, true, 'p2tr'), plain), 'legs.b.redeemScript');
  assert.equal(fieldOf(shown(true, true, null), asks), 'legs.b.redeemScript');
  assert.equal(fieldOf(shown(false, true, null), asks), null, 'asked for too late');
});

test('a mint or token contract of the market’s own choice is refused', () => {
  for (const [pinned, other] of [
    [trc, trc.chain],
    [spl, spl.chain],
  ] as const) {
    const said = { ...pinned, address: pinned.token };
    verifyAsset(said as never, pinned);
    for (const [field, lie] of [
      ['address', other],
      ['address', null],
      ['decimals', 9],
      ['chain', 'evm-dev'],
    ] as const) {
      const lying = { ...said, [field]: lie } as never;
      assert.throws(() => verifyAsset(lying, pinned), byField(`asset.${field}`));
    }
  }
});

/** Which field it is refused by; null = it is not. */
const fieldOf = (swap: Swap, trade = tradeOf('taker'), seenAt = now) => {
  try {
    verifySwap(swap, trade, pinned, { swapId, now: seenAt });
    return null;
  } catch (error) {
    return error instanceof VerificationError ? error.field : String(error);
  }
};

test('an agreement dated before the acceptance, or after now, is refused at the tolerance', () => {
  const { acceptedAt } = tradeOf('taker');
  const first = acceptedAt - clockToleranceSeconds;
  const last = now + clockToleranceSeconds;
  const dated = (agreedAt: number) => fieldOf(honestSwap('taker', agreedAt));
  assert.deepEqual([dated(first), dated(last)], [null, null]);
  for (const far of [first - 1, last + 1]) assert.equal(dated(far), 'deadlines.refundAt.a');
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

test('the initiator is bound by no hashlock but its own, however well all else follows', () => {
  const hashlock = hashlockOf('77'.repeat(32));
  const lie = (party: Party) => {
    const swap = honestSwap(party);
    const leg = (name: LegName) => {
      const terms = termsOf(name, swap.legs[name].timelock, lastOf(swap.deadlines, name));
      return shownLeg(name, { ...terms, hashlock });
    };
    return { ...swap, hashlock, legs: { a: leg('a'), b: leg('b') } };
  };
  for (const [party, own, field] of [
    ['taker', tradeOf('taker').hashlock, 'hashlock'],
    ['taker', null, 'hashlock'],
    // The other side learns it from the swap, if it named none.
    ['maker', null, null],
    ['maker', hashlockOf(secret), 'hashlock'],
  ] as const) {
    assert.equal(fieldOf(lie(party), { ...tradeOf(party), hashlock: own }), field);
  }
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
