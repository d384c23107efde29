import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sighting } from './facts.ts';
import { policies } from './testing.ts';

test('a transaction counts at the depth that its chain wants, and not a block before', () => {
  const { normal } = policies.bitcoin;
  const deepAt = (confirmations: number) => sighting('tx', confirmations, normal).deep;
  assert.deepEqual([deepAt(normal.confirmations - 1), deepAt(normal.confirmations)], [false, true]);
});
