// Reading ahead: order, bound, and what a stop ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAhead } from './ahead.ts';

const never = () => new AbortController().signal;

test('pages read ahead come in order, and never more at once than may be', async () => {
  const waiting: (() => void)[] = [];
  let now = 0;
  let most = 0;
  const read = async (item: number) => {
    now += 1;
    most = Math.max(most, now);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    // The last one that was asked for answers first.
    if (waiting.length === 3 || item >= 6) for (const each of waiting.splice(0).reverse()) each();
    await promise;
    now -= 1;
    return item;
  };
  const found: number[] = [];
  for await (const each of readAhead([1, 2, 3, 4, 5, 6, 7], 3, read, never())) found.push(each);
  assert.deepEqual([found, most], [[1, 2, 3, 4, 5, 6, 7], 3]);
});
