import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineOf, tallyOf } from './tally.ts';

test('every list of the last line has a name, and one with nothing in it says so', () => {
  const counts = { swaps: 2, 'end refunded': 2, crash: 3, 'checked facts': 40 };
  assert.equal(
    lineOf(tallyOf(new Map(Object.entries(counts)))),
    '2 swaps (2 refunded); faults: 3 crash; attacks: none; gas keys: none; ' +
      'signed refunds: none; operators: none; besides: 40 checked facts',
  );
});
