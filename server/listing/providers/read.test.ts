// Numbers out of strangers' answers: what is taken, what is unknown, and what spoils the answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ProviderFailure } from './facts.ts';
import {
  amountOf,
  holdersOf,
  instantOf,
  leastOf,
  listOf,
  objectOf,
  percentOf,
  secondsSince,
  shareOf,
  usdOf,
} from './read.ts';

const readers = { usdOf, holdersOf, shareOf, percentOf, amountOf };
const isUnreadable = (error: unknown) =>
  error instanceof ProviderFailure && error.kind === 'unreadable';

test('what is not there is not known, and never nothing', () => {
  for (const read of Object.values(readers)) {
    for (const absent of [undefined, null, '']) assert.equal(read(absent, 'it'), null);
    assert.equal(read(0, 'it'), 0);
    assert.equal(read('0', 'it'), 0);
  }
});

test('a text that is no plain decimal spoils the answer', () => {
  const others = [
    '1,000',
    '1 000',
    ' 1',
    '1 ',
    '+1',
    '-1',
    '1e3',
    '1e400',
    '0x10',
    'NaN',
    'Infinity',
    '.5',
    '5.',
    '1.2.3',
    '１',
    '1_000',
    '$1',
    '9'.repeat(400),
    'null',
    '\n1',
  ];
  for (const text of others) {
    for (const [name, read] of Object.entries(readers)) {
      assert.throws(() => read(text, 'it'), isUnreadable, `${name} ${JSON.stringify(text)}`);
    }
  }
});

test('so does a value that is no number that can be', () => {
  const others = [-1, -0, Number.NaN, Number.POSITIVE_INFINITY, JSON.parse('1e400'), true, [], {}];
  for (const value of [...others, [1], 1e61]) {
    for (const [name, read] of Object.entries(readers)) {
      assert.throws(() => read(value, 'it'), isUnreadable, `${name} ${String(value)}`);
    }
  }
  assert.throws(() => usdOf(1.1e16, 'it'), isUnreadable);
  assert.throws(() => holdersOf(1.5, 'it'), isUnreadable);
  assert.throws(() => holdersOf('1.5', 'it'), isUnreadable);
  assert.throws(() => shareOf(1.00001, 'it'), isUnreadable);
  assert.throws(() => percentOf('100.1', 'it'), isUnreadable);
});

test('shares that round up a little past all are all', () => {
  assert.equal(shareOf('1.000000000000022463', 'it'), 1);
  assert.equal(percentOf('100.000001', 'it'), 1);
  assert.equal(percentOf('45.5782', 'it'), 0.455782);
});

test('any plain decimal is read as what it says', () => {
  const decimal = fc.tuple(fc.nat(1e9), fc.stringMatching(/^(\.\d{1,40})?$/));
  fc.assert(
    fc.property(decimal, ([whole, part]) => {
      const text = `${whole}${part}`;
      assert.equal(usdOf(text, 'it'), Number(text));
      assert.equal(usdOf(Number(text), 'it'), Number(text));
    }),
  );
});

test('whatever comes, a number is finite and within its bounds, or the answer is spoilt', () => {
  const most = { usdOf: 1e16, holdersOf: 1e11, shareOf: 1, percentOf: 1, amountOf: 1e60 };
  const any = fc.oneof(fc.anything(), fc.double(), fc.stringMatching(/^[-+\d.,eE ]{0,12}$/));
  fc.assert(
    fc.property(any, fc.constantFrom(...Object.keys(most)), (value, key) => {
      const name = key as keyof typeof readers;
      try {
        const number = readers[name](value, 'it');
        if (number === null) return;
        assert.ok(Number.isFinite(number) && number >= 0 && number <= most[name]);
        if (name === 'holdersOf') assert.ok(Number.isInteger(number));
      } catch (error) {
        assert.ok(isUnreadable(error), String(error));
      }
    }),
    { numRuns: 2_000 },
  );
});

test('an instant is milliseconds or a text in UTC, not of the future and not of before all chains', () => {
  const now = Date.UTC(2026, 0, 2);
  assert.equal(instantOf('2026-01-01T00:00:00Z', now, 'it'), Date.UTC(2026, 0, 1));
  assert.equal(instantOf(Date.UTC(2026, 0, 1), now, 'it'), Date.UTC(2026, 0, 1));
  assert.equal(instantOf(now + 600_000, now, 'it'), now + 600_000);
  for (const unknown of [0, 1, '1970-01-01T00:00:00Z', null, undefined, '']) {
    assert.equal(instantOf(unknown, now, 'it'), null);
  }
  // Seconds where milliseconds are documented are of 1970: not known, rather than young.
  assert.equal(instantOf(Math.floor(now / 1_000), now, 'it'), null);
  const others = [now + 600_001, '2026-01-01', '2026-01-01T00:00:00+02:00', '2026-13-01T00:00:00Z'];
  for (const wrong of [...others, '1767225600000', Number.NaN, true, {}]) {
    assert.throws(() => instantOf(wrong, now, 'it'), isUnreadable, String(wrong));
  }
  assert.equal(secondsSince(now - 1_999, now), 1);
  assert.equal(secondsSince(now + 5, now), 0);
  assert.equal(secondsSince(null, now), null);
  assert.equal(leastOf([null, 3, 2]), 2);
  assert.equal(leastOf([null]), null);
});

test('objects and lists are what they are called', () => {
  for (const wrong of [null, undefined, 1, 'x', []]) {
    assert.throws(() => objectOf(wrong, 'it'), isUnreadable);
  }
  for (const wrong of [null, undefined, 1, 'x', {}]) {
    assert.throws(() => listOf(wrong, 'it'), isUnreadable);
  }
});
