import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTraffic, lastWhole, minutesKept, totalsOf } from './traffic.ts';

const of = (ok: number, refused = 0, failed = 0) => ({ ok, refused, failed });
const minute = 60_000;

test('what came in a minute is counted in it, and the totals before the first are not', () => {
  const traffic = createTraffic();
  traffic.note(of(100, 10), 0);
  traffic.note(of(103, 10, 1), 59_999);
  traffic.note(of(104, 12, 1), minute);
  const minutes = traffic.minutes(minute);
  assert.deepEqual(minutes.slice(-2), [
    { minute: 0, ...of(3, 0, 1) },
    { minute: 1, ...of(1, 2, 0) },
  ]);
  assert.deepEqual(lastWhole(minutes), { minute: 0, ...of(3, 0, 1) });
});

test('quiet minutes are shown as such, and old ones are forgotten', () => {
  const traffic = createTraffic();
  traffic.note(of(0), 0);
  traffic.note(of(5), 1);
  traffic.note(of(6), minutesKept * minute);
  const minutes = traffic.minutes(minutesKept * minute);
  assert.equal(minutes.length, minutesKept);
  assert.deepEqual(minutes.at(-1), { minute: minutesKept, ...of(1) });
  assert.ok(minutes.slice(0, -1).every(({ ok }) => ok === 0));
});

test('a counter that began anew counts nothing back', () => {
  const traffic = createTraffic();
  traffic.note(of(50), 0);
  traffic.note(of(3), 1);
  assert.deepEqual(traffic.minutes(1).at(-1), { minute: 0, ...of(0) });
});

test('answers are told apart by class of status', () => {
  const series = ['2xx', '3xx', '4xx', '5xx', '1xx'].map((code, at) => {
    return { labels: { code }, value: 10 ** at };
  });
  assert.deepEqual(totalsOf(series), of(10_011, 100, 1_000));
});
