// The reminders to a person who looks elsewhere: once, in time, and without an amount.

import assert from 'node:assert/strict';
import test from 'node:test';
import { text } from '../../texts/texts.ts';
import { reminderOf } from './reminders.ts';
import { deadlines, type Given, payAsk, seen, states } from './testing/views.ts';
import '../../texts/testing.ts';

const told = (given: Given, wasOpen = true) => {
  const { what, at } = reminderOf(seen(given), wasOpen) ?? { what: null, at: null };
  return [what, at];
};
const stateOf = (name: string) => states.find(([each]) => each === name)?.[2] ?? assert.fail(name);
const { initiatorFundBy, counterpartyFundBy, revealBy } = deadlines;
const pay: Given = { isByHand: true, asks: [payAsk] };

test("a swap's step is told at once, and the deadline when half an hour is left", () => {
  assert.deepEqual(told({ ...pay, at: initiatorFundBy - 1_801 }), ['pay', initiatorFundBy]);
  assert.deepEqual(told({ ...pay, at: initiatorFundBy - 1_800 }), ['soon', initiatorFundBy]);
  assert.deepEqual(told({ ...pay, at: initiatorFundBy - 1 }), ['soon', initiatorFundBy]);
  assert.deepEqual(told({ isByHand: true, at: initiatorFundBy + 1 }), [null, null]);
});

test('where the time is short it is told at its half', () => {
  const short = { ...pay, agreedAt: initiatorFundBy - 600 };
  assert.deepEqual(told({ ...short, at: initiatorFundBy - 301 }), ['pay', initiatorFundBy]);
  assert.deepEqual(told({ ...short, at: initiatorFundBy - 300 }), ['soon', initiatorFundBy]);
});

test('only what the person has to do is told', () => {
  const sign = (verb: 'fund' | 'claim' | 'refund') =>
    [{ kind: 'sign', leg: 'a', chain: 'evm-dev', family: 'evm', verb }] as const;
  const usd = { gives: 'USDX', btc: 'final' } as const;
  for (const [given, wanted] of [
    [{ ...usd, asks: sign('fund') }, ['sign', counterpartyFundBy]],
    [{ state: 'funded', btc: 'final', at: counterpartyFundBy - 60 }, [null, null]],
    [{ state: 'revealing', btc: 'final', usd: 'final', asks: sign('claim') }, ['sign', revealBy]],
    [{ state: 'revealing', btc: 'final', usd: 'final', at: revealBy - 60 }, ['soon', revealBy]],
    [{ gives: 'USDX', state: 'waiting_to_fund', btc: 'mined' }, [null, null]],
    [{ phase: 'stopped', btc: 'silent' }, ['stopped', null]],
    [
      {
        ...({ state: 'refunding', gives: 'USDX', usd: 'final' } as const),
        asks: sign('refund'),
        at: deadlines.refundAt.a + 1,
      },
      ['sign', null],
    ],
  ] as const satisfies readonly (readonly [Given, readonly unknown[]])[]) {
    assert.deepEqual(told(given), wanted, String(wanted));
  }
  const missing = reminderOf(stateOf('wallet is missing'), true);
  assert.deepEqual([missing?.what, missing?.at], ['connect', counterpartyFundBy]);
  assert.equal(reminderOf(stateOf('paid twice'), true)?.what, 'decide');
  assert.equal(reminderOf(stateOf('wallet sent'), true), null);
});

test('a fee that a wallet cannot pay is told at once, not half an hour before the claim is lost', () => {
  const gas = { kind: 'gas', leg: 'a', code: 'claim_unpayable', sentence: 'has 0 wei' } as const;
  const claiming = { state: 'claiming', btc: 'final', usd: 'final', problems: [gas] } as const;
  const { a: timelock } = deadlines.refundAt;
  assert.deepEqual(told({ ...claiming, at: revealBy - 60 }), ['gas', timelock]);
  assert.deepEqual(told({ ...claiming, at: timelock - 60 }), ['soon', timelock]);
});

test('an end is news to who saw the swap open', () => {
  assert.equal(reminderOf(stateOf('done'), true)?.what, 'ended');
  assert.equal(reminderOf(stateOf('done'), false), null);
});

test('no message holds an amount', () => {
  for (const what of [
    'pay',
    'sign',
    'gas',
    'connect',
    'decide',
    'stopped',
    'soon',
    'ended',
  ] as const) {
    for (const key of [`tell.${what}`, `tell.${what}.why`, `tell.${what}.why_open`] as const) {
      assert.doesNotMatch(text(key, { at: '' }), /\d|\{|undefined/, key);
    }
  }
});
