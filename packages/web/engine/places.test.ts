// Places of a page go to the swaps whose deadlines are nearest.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Begun, type Open, toDrive } from './drive.ts';

const open = (swapId: string, revealBy: number, hasEnded = false): Open => {
  const begun = { swapId, swap: { deadlines: { revealBy } } } as unknown as Begun;
  return { begun, hasEnded };
};

test('an ended swap takes no place of one that may be lost, and the nearest deadline goes first', () => {
  const all = [open('ended', 1, true), open('later', 9), open('soon', 5)];
  const ids = (free: number) => toDrive(all, free).map(({ swapId }) => swapId);
  assert.deepEqual(ids(9), ['soon', 'later', 'ended']);
  assert.deepEqual(ids(1), ['soon']);
  assert.deepEqual(ids(-1), []);
});
