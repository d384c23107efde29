// The bar of steps and the line of deadlines, in every state.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spoken } from '../../texts/texts.ts';
import { clockText, leftText, lineOf, stepsOf, tookSeconds } from './progress.ts';
import { type Seen, situationOf } from './situation.ts';
import { agreedAt, deadlines, type Given, happened, seen, states } from './testing/views.ts';
import '../../texts/testing.ts';

const drawn = (each: Seen) => lineOf(each, situationOf(each));
const barOf = (name: string) => {
  const [, is, { swap }] = states.find(([each]) => each === name) ?? assert.fail(name);
  return stepsOf(swap, is).map((step) => `${step.is} ${step.state}`);
};

test('the bar has the order of its side, and one step at work until the end', () => {
  for (const [name, is, { swap }] of states) {
    const steps = stepsOf(swap, is);
    const now = steps.filter(({ state }) => state === 'now').length;
    const isOver = swap.phase === 'ended' || is === 'received';
    assert.equal(now, isOver ? 0 : 1, name);
  }
  assert.deepEqual(barOf('pay'), ['agreed done', 'pay now', 'other_locks later', 'receive later']);
  const waits = ['agreed done', 'other_locks now', 'pay later', 'receive later'];
  assert.deepEqual(barOf('waits to fund'), waits);
  const receives = ['agreed done', 'other_locks done', 'pay done', 'receive now'];
  assert.deepEqual(barOf('other one collects'), receives);
  assert.deepEqual(barOf('done').at(-1), 'receive done');
});

test('coins that come back have steps of their own, and a payment that never was is none of them', () => {
  const back = ['agreed done', 'pay done', 'stopped done'];
  assert.deepEqual(barOf('refunds'), [...back, 'back now']);
  assert.deepEqual(barOf('refunded'), [...back, 'back done']);
  assert.deepEqual(barOf('gives up')[2], 'given_up done');
  assert.deepEqual(barOf('nothing'), ['agreed done', 'ended done']);
  assert.deepEqual(barOf('cancels'), ['agreed done', 'ended now']);
  assert.deepEqual(barOf('lost').at(-1), 'lost bad');
  const { swap } = seen({ gives: 'USDX', state: 'giving_up', isGivenUp: true, btc: 'final' });
  assert.deepEqual(
    stepsOf(swap, 'giving_up').map(({ is }) => is),
    ['agreed', 'given_up', 'ended'],
  );
});

test('the line has the deadlines in order, and now stands between those that are past and to come', () => {
  const { initiatorFundBy, counterpartyFundBy, refundAt } = deadlines;
  const at = (now: number, given: Given = {}) => drawn(seen({ ...given, at: now }));
  assert.deepEqual(at(agreedAt)?.now, 0);
  assert.deepEqual(at((agreedAt + initiatorFundBy) / 2)?.now, 12.5);
  assert.deepEqual(
    at(initiatorFundBy - 1)?.marks.map(({ is, isPast, isNear }) => [is, isPast, isNear]),
    [
      ['pay', false, true],
      ['other_locks', false, false],
      ['receive', false, false],
      ['refund', false, true],
    ],
  );
  // A side that is locked already has no deadline left: the next one is the other side's.
  const near = (given: Given) =>
    at(agreedAt + 60, given)?.marks.flatMap(({ is, isNear }) => (isNear ? [is] : []));
  assert.deepEqual(near({ btc: 'final' }), ['other_locks', 'refund']);
  assert.deepEqual(near({ btc: 'final', usd: 'final' }), ['receive', 'refund']);
  assert.deepEqual(near({ btc: 'final', state: 'giving_up' }), ['refund']);
  const restored = at(agreedAt + 60, { isRestored: true, state: 'waiting_to_fund' });
  assert.deepEqual(
    restored?.marks.map(({ is }) => is),
    ['other_locks', 'receive', 'refund'],
  );
  assert.equal(at(initiatorFundBy)?.marks[0]?.isPast, true);
  assert.equal(at(initiatorFundBy)?.now, 25);
  assert.equal(at((initiatorFundBy + counterpartyFundBy) / 2)?.now, 37.5);
  assert.equal(at(refundAt.b)?.now, 100);
  for (const [name, , each] of states) {
    const line = drawn(each);
    assert.equal(
      line === null,
      each.swap.phase === 'ended' || each.swap.state === 'received',
      name,
    );
    const times = line?.marks.map((mark) => mark.at) ?? [];
    assert.deepEqual(
      times.toSorted((one, other) => one - other),
      times,
      name,
    );
  }
});

test('once the secret is public, the line ends where the other side could take its coins back', () => {
  const public_ = { state: 'claiming', btc: 'final', usd: 'claimMined' } as const;
  const last = (given: Given) => {
    const { is, at } = drawn(seen(given))?.marks.at(-1) ?? assert.fail();
    return [is, at];
  };
  assert.deepEqual(last({}), ['refund', deadlines.refundAt.b]);
  assert.deepEqual(last(public_), ['receive', deadlines.refundAt.a]);
  const counterparty = { ...public_, gives: 'USDX', usd: 'claimed' } as const;
  assert.deepEqual(last(counterparty), ['receive', deadlines.refundAt.b]);
});

test('no more time is promised than there is, and a label names the day that is not today', (t) => {
  const before = spoken.now();
  t.after(() => spoken.set(before));
  spoken.set({ ...before, locale: 'en-GB' });
  const hour = 3_600;
  const said = [59.9, 60, 119, hour - 1, hour, 106 * 60 + 59, 48 * hour].map((each) =>
    leftText(each),
  );
  const minutes = (count: number) => leftText(count * 60);
  assert.deepEqual(said, [
    leftText(59),
    minutes(1),
    minutes(1),
    minutes(59),
    minutes(60),
    minutes(106),
    leftText(48 * hour),
  ]);
  assert.match(leftText(106 * 60), /^1 \D+46 \D+$/);
  assert.match(leftText(48 * hour), /^2 days$/);
  const noon = Date.UTC(2026, 10, 30, 12) / 1_000;
  const clock = (at: number) => clockText(at, noon, 'UTC');
  assert.equal(clock(noon + hour), '13:00');
  assert.equal(clock(noon + 12 * hour), 'tomorrow 00:00');
  assert.match(clock(noon + 36 * hour), /^2 Dec.*00:00$/);
});

test('the time that a swap took is known only where its end was seen', () => {
  const { swap } = seen({ history: [{ ...happened('ended'), at: agreedAt + 90 }] });
  assert.equal(tookSeconds(swap), 90);
  assert.equal(tookSeconds(seen().swap), null);
});
