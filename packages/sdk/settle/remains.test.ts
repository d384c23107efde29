// Strangers pay to the own escrow, at any moment and without end: a run ends all the same.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type EscrowFacts, nothingSeen } from '@parley/core/facts.ts';
import { lateWatchSeconds } from '@parley/core/remains.ts';
import type { SwapRecord } from '../stores/store.ts';
import { keptRecord, now, secret } from '../testing/honest.ts';
import { next } from './machine.ts';
import { legWith } from './record.ts';

const seen = (confirmations: number) => ({
  txid: 'own',
  confirmations,
  deep: confirmations > 9,
});
const paid = { ...nothingSeen, balance: 1n, empty: false };
const shows = {
  none: nothingSeen,
  dust: paid,
  'unmined dust': { ...paid, balance: 0n },
  'whole, unmined': { ...paid, balance: 0n, funded: seen(0) },
  funded: { ...paid, funded: seen(10) },
  claimed: { ...nothingSeen, funded: seen(10), claimed: seen(10), secret },
  'claimed, dust': { ...paid, funded: seen(10), claimed: seen(10), secret },
  'claimed, much': { ...paid, funded: seen(10), claimed: seen(10), secret, balance: 10n ** 18n },
  'refunded, dust': { ...paid, funded: seen(10), refunded: seen(10) },
} as const satisfies Record<string, EscrowFacts>;

const kept = { txid: 'own', raw: '00' };
const revealed = { funding: kept, claim: kept, publicSecret: secret };
const byHand = { ...revealed, byHand: true };
const { refundAt, initiatorFundBy } = keptRecord('taker').swap.deadlines;
const late = initiatorFundBy + 1;
const lock = refundAt.b;
const week = lock + lateWatchSeconds;

type Shown = keyof typeof shows;

/** The taker gives leg b, on Bitcoin. */
function answer(own: Shown, other: Shown, record: Partial<SwapRecord>, at: number, tried: boolean) {
  const of = keptRecord('taker', record);
  const leg = (name: 'a' | 'b', shown: Shown) => ({
    ...legWith(of, name, shows[shown]),
    isFresh: true,
  });
  const legs = { a: leg('a', other), b: leg('b', own) };
  const facts = { record: of, legs, isMarketDue: false, isRefundTried: tried };
  const { state, effects } = next('preparing', facts, { wall: at, a: at, b: at });
  return [state, ...effects.map((each) => each.do)].filter((each) => each !== 'schedule_refunds');
}

test('money beside the own funding is refunded once a run, and keeps none open', () => {
  const none = {};
  const funding = { funding: kept, refund: kept };
  const untried = false;
  const tried = true;
  for (const [what, own, other, record, at, isTried, ...expected] of [
    ['beside a claim', 'claimed, dust', 'claimed', revealed, lock, untried, 'settled'],
    ['a later run', 'claimed, dust', 'claimed', revealed, lock + 1, untried, 'refunding', 'refund'],
    ['renewed', 'claimed, dust', 'claimed', revealed, lock + 1, tried, 'settled'],
    ['beside a refund', 'refunded, dust', 'none', funding, lock + 1, tried, 'settled'],
    ['the funding', 'funded', 'none', funding, lock + 1, tried, 'refunding', 'refund'],
    ['never funded', 'dust', 'none', none, late, untried, 'settled'],
    ['past the timelock', 'dust', 'none', none, lock + 1, untried, 'refunding', 'refund'],
    ['and renewed', 'dust', 'none', none, lock + 1, tried, 'settled'],
    ['no block takes it', 'whole, unmined', 'none', none, late - 1, untried, 'funding', 'wait'],
    ['nor ever', 'whole, unmined', 'none', none, late, untried, 'settled'],
    ['in a block', 'funded', 'none', none, late, untried, 'funded', 'wait'],
  ] as const) {
    assert.deepEqual(answer(own, other, record, at, isTried), expected, what);
  }
});

test('a possible payment by hand is waited for, until a week past the timelock', () => {
  const told = { byHand: true };
  const untried = false;
  const tried = true;
  for (const [what, own, other, record, at, isTried, ...expected] of [
    ['twice', 'claimed, much', 'claimed', byHand, now, untried, 'received', 'wait'],
    ['comes back', 'claimed, much', 'claimed', byHand, lock + 1, untried, 'refunding', 'refund'],
    ['and is renewed', 'claimed, much', 'claimed', byHand, lock + 1, tried, 'settled'],
    ['a dust beside it', 'claimed, dust', 'claimed', byHand, now, untried, 'settled'],
    ['unmined', 'whole, unmined', 'none', told, week, untried, 'funding', 'wait'],
    ['nor ever mined', 'whole, unmined', 'none', told, week + 1, untried, 'settled'],
    ['too little, unmined', 'unmined dust', 'none', told, week, untried, 'funding'],
    ['nor ever mined', 'unmined dust', 'none', told, week + 1, untried, 'settled'],
    ['renewed without end', 'dust', 'none', told, week + 1, tried, 'settled'],
  ] as const) {
    assert.deepEqual(answer(own, other, record, at, isTried), expected, what);
  }
});
