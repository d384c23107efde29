// What a gas key has signed, looked at once more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doAll } from './gas-work.ts';

test('calls that leave out one of them, or have another verb or escrow, are not what was asked for', () => {
  const [one, other] = [
    { verb: 'claim', escrow: 'a' },
    { verb: 'refund', escrow: 'b' },
  ] as const;
  assert.ok(doAll([one, other], [one, other]));
  assert.ok(doAll([one, other, { ...one, escrow: 'c' }], [one, other]), 'a secret may read as one');
  assert.ok(doAll([], []));
  const wrong = [[], [one], [one, { ...other, verb: 'fund' }], [one, { ...other, escrow: 'c' }]];
  for (const calls of wrong as (typeof one)[][]) {
    assert.ok(!doAll(calls, [one, other]), JSON.stringify(calls));
  }
});
