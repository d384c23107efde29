// The blocks that are kept are the newest, within both limits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recentBlocks } from './recent-blocks.ts';

test('the oldest blocks are let go beyond either limit, and one read again counts once', () => {
  const kept = recentBlocks({ bytes: 10, blocks: 3 });
  const keep = (hash: string, size: number) =>
    kept.keep({ hash, size, previous: '', transactions: async () => [] });
  const held = () => ['a', 'b', 'c', 'd'].filter((hash) => kept.get(hash) !== undefined).join('');
  keep('a', 6);
  keep('a', 6);
  keep('b', 4);
  assert.equal(held(), 'ab');
  keep('c', 1);
  assert.equal(held(), 'bc');
  keep('a', 1);
  keep('d', 1);
  assert.equal(held(), 'acd');
});
