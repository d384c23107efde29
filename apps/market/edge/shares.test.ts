// Counts of what is open, of several shares at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShares } from './shares.ts';

test('each share has so many at once; what one refuses takes nothing of the next', () => {
  const { take } = createShares();
  const network = { name: 'network', most: 3 };
  const from = (name: string) => take([{ name, most: 1 }, network]);
  const first = from('one');
  const refused = [from('one'), from('one'), from('one')];
  assert.deepEqual(
    refused.map(({ over }) => over?.name),
    ['one', 'one', 'one'],
  );
  assert.deepEqual([first.over, from('two').over, from('three').over], [null, null, null]);
  const fourth = from('four');
  assert.equal(fourth.over, network);
  // A refused one counts until it is gone.
  for (const each of [fourth, first, ...refused.slice(1)]) each.release();
  assert.equal(from('one').over?.name, 'one');
  refused[0]?.release();
  assert.equal(from('four').over, null);
});
