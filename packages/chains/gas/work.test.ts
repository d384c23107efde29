// A gas key's signed transaction is looked at once more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areThese } from './work.ts';

test('calls with another verb or escrow, and none, are not what was asked for', () => {
  const one = { verb: 'claim', escrow: 'a' } as const;
  const other = { verb: 'refund', escrow: 'b' } as const;
  assert.ok(areThese([one], [one]));
  assert.ok(areThese([], []));
  assert.ok(areThese([{ ...one, escrow: 'c' }, one], [one]), 'what reads as one');
  const wrong = [[], [other], [{ ...one, verb: 'fund' }], [{ ...one, escrow: 'c' }]] as const;
  for (const calls of wrong) assert.ok(!areThese(calls, [one]), JSON.stringify(calls));
});
