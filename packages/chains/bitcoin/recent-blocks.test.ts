// The blocks that are kept are the newest, within both limits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recentBlocks } from './recent-blocks.ts';

test('the oldest blocks are let go beyond either limit, and one read again counts once', () => {
  const kept = recentBlocks({ bytes: 10, blocks: 3 });
  const held = () => ['a', 'b', 'c', 'd'].filter((hash) => kept.get(hash) !== undefined).join('');
  kept.keep('a', new Uint8Array(6));
  kept.keep('a', new Uint8Array(6));
  kept.keep('b', new Uint8Array(4));
  assert.equal(held(), 'ab');
  kept.keep('c', new Uint8Array(1));
  assert.equal(held(), 'bc');
  kept.keep('a', new Uint8Array(1));
  kept.keep('d', new Uint8Array(1));
  assert.equal(held(), 'acd');
});
