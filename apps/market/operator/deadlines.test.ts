import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deadline, DeadlineStep } from '../db/operator.ts';
import { lanesOf, mostListed, mostOfAStep, placeOf, soonest, ticks } from './deadlines.ts';

const at = (step: DeadlineStep, seconds: number): Deadline => {
  return { step, at: seconds, swapId: `${step} ${seconds}`, leg: 'a' };
};

test('the soonest come first, of whatever step, and only so many', () => {
  const many = Array.from({ length: 20 }, (_, nth) => at('refund', 5_000 + nth));
  const listed = soonest([at('reveal', 900), ...many, at('fund_first', 300)]);
  assert.deepEqual(
    listed.slice(0, 3).map(({ at: seconds }) => seconds),
    [300, 900, 5_000],
  );
  assert.equal(listed.length, mostListed);
});

test('a lane counts what is due, what is due within an hour, and when the first is', () => {
  const now = 1_000;
  const own = [3_601, 3_600, 60, 60].map((left) => at('reveal', now + left));
  const lanes = lanesOf([at('refund', now + 5), ...own], now);
  assert.deepEqual(
    lanes.map(({ step, count }) => [step, count]),
    [
      ['fund_first', 0],
      ['fund_second', 0],
      ['reveal', 4],
      ['refund', 1],
    ],
  );
  const [none, , reveal] = lanes;
  assert.deepEqual([none?.next, none?.bubbles], [null, []]);
  assert.deepEqual([reveal?.withinHour, reveal?.next, reveal?.isMore], [3, 60, false]);
  const counts = reveal?.bubbles.map(({ count }) => count) ?? [];
  assert.deepEqual([counts[0], counts.reduce((sum, each) => sum + each, 0)], [2, 4]);
});

test('a lane that was read to its limit says that there may be more', () => {
  const full = Array.from({ length: mostOfAStep }, () => at('reveal', 100));
  assert.equal(lanesOf(full, 0)[2]?.isMore, true);
  assert.equal(lanesOf(full.slice(1), 0)[2]?.isMore, false);
});

test('places go from now to the horizon in order, and later stays at its edge', () => {
  const places = ticks.map(([seconds]) => placeOf(seconds));
  assert.deepEqual([places[0], places.at(-1)], [0, 1]);
  assert.deepEqual(places, places.toSorted());
  assert.deepEqual([placeOf(-5), placeOf(10 ** 9)], [0, 1]);
});
