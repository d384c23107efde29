// A gas key's signed transaction is looked at once more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areThese } from './work.ts';

test('calls with another verb, escrow or order, and fewer of them, are not what was asked for', () => {
  const [one, other] = [
    { verb: 'claim', escrow: 'a' },
    { verb: 'refund', escrow: 'b' },
  ] as const;
  assert.ok(areThese([one, other], [one, other]));
  assert.ok(areThese([], []));
  assert.ok(areThese([one, { ...other, escrow: 'c' }, other], [one, other]), 'what reads as one');
  const wrong = [
    [],
    [one],
    [other, one],
    [one, { ...other, verb: 'fund' }],
    [one, { ...other, escrow: 'c' }],
  ] as const;
  for (const calls of wrong) assert.ok(!areThese(calls, [one, other]), JSON.stringify(calls));
});
