import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksAfterActivity, idleSeconds, pace } from './pace.ts';

test('a block is due at once when a transaction waits, and until it is final', () => {
  const rhythm = pace();
  rhythm.mined(0);
  assert.equal(rhythm.isDue(100, false, 1), false);
  assert.equal(rhythm.isDue(100, true, 1), true);
  rhythm.wake(100);
  assert.equal(rhythm.isDue(100 + blocksAfterActivity - 1, false, 1), true);
  assert.equal(rhythm.isDue(100 + blocksAfterActivity, false, 1), false);
});

test('an idle chain makes a block every half minute, and not before', () => {
  const rhythm = pace();
  rhythm.mined(5);
  assert.equal(rhythm.isDue(9, false, 5 + idleSeconds * 1_000 - 1), false);
  assert.equal(rhythm.isDue(9, false, 5 + idleSeconds * 1_000), true);
});

test('an earlier height does not take back how long the chain stays awake', () => {
  const rhythm = pace();
  rhythm.mined(0);
  rhythm.wake(100);
  rhythm.wake(3);
  assert.equal(rhythm.isDue(100, false, 1), true);
});
