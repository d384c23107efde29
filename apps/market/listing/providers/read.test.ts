// Numbers out of strangers' answers: the accepted ones, the unknown ones, and those that spoil the
// answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ProviderFailure } from './facts.ts';
import { readerOf, secondsSince } from './read.ts';

const it = readerOf('it');
const reading =
  <T>(read: (from: unknown, path: string) => T) =>
  (value: unknown) =>
    read({ some: { value } }, 'some.value');
const readers = {
  usd: reading(it.usd),
  holders: reading(it.holders),
  share: reading(it.share),
  percent: reading(it.percent),
};
const instantOf = (value: unknown, now: number) => it.instant({ value }, 'value', now);
const isUnreadable = (error: unknown) =>
  error instanceof ProviderFailure && error.kind === 'unreadable';

test('an absent value is not known, and never zero', () => {
  for (const read of Object.values(readers)) {
    for (const absent of [undefined, null, '']) assert.equal(read(absent), null);
    assert.equal(read(0), 0);
    assert.equal(read('0'), 0);
  }
});

test('a text that is no plain decimal spoils the answer', () => {
  const texts =
    '1,000|1 000| 1|1 |+1|-1|1e3|1e400|0x10|NaN|Infinity|.5|5.|1.2.3|１|1_000|$1|null|\n1';
  const others = [...texts.split('|'), '9'.repeat(400)];
  for (const text of others) {
    for (const [name, read] of Object.entries(readers)) {
      assert.throws(() => read(text), isUnreadable, `${name} ${JSON.stringify(text)}`);
    }
  }
});

test('a number is finite and within its bounds, or the answer is spoilt, whatever comes', () => {
  const most = { usd: 1e16, holders: 1e11, share: 1, percent: 1 };
  const any = fc.oneof(fc.anything(), fc.double(), fc.stringMatching(/^[-+\d.,eE ]{0,12}$/));
  fc.assert(
    fc.property(any, fc.constantFrom(...Object.keys(most)), (value, key) => {
      const name = key as keyof typeof readers;
      try {
        const number = readers[name](value);
        if (number === null) return;
        assert.ok(Number.isFinite(number) && number >= 0 && number <= most[name]);
        if (name === 'holders') assert.ok(Number.isInteger(number));
      } catch (error) {
        assert.ok(isUnreadable(error), String(error));
      }
    }),
    { numRuns: 2_000 },
  );
});

test('an instant is a text in UTC, not of the future and not of before all chains', () => {
  const now = Date.UTC(2026, 0, 2);
  const iso = (ms: number) => new Date(ms).toISOString();
  assert.equal(instantOf('2026-01-01T00:00:00Z', now), Date.UTC(2026, 0, 1));
  assert.equal(instantOf(iso(now + 600_000), now), now + 600_000);
  for (const unknown of ['1970-01-01T00:00:00Z', null, undefined, '']) {
    assert.equal(instantOf(unknown, now), null);
  }
  const others = [iso(now + 600_001), '2026-01-01', '2026-01-01T00:00:00+02:00', now];
  for (const wrong of [...others, '2026-13-01T00:00:00Z', true, {}]) {
    assert.throws(() => instantOf(wrong, now), isUnreadable, String(wrong));
  }
  assert.equal(secondsSince([null, now - 1_999, now], now), 1);
  assert.equal(secondsSince([now + 5], now), 0);
  assert.equal(secondsSince([null], now), null);
});
