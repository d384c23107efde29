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

test('a failure comes in its turn, and whoever stops ends what is read', async () => {
  const ended: number[] = [];
  const read = async (item: number, signal: AbortSignal) => {
    if (item === 2) throw new Error('no second');
    signal.addEventListener('abort', () => ended.push(item));
    return item;
  };
  const found: number[] = [];
  await assert.rejects(async () => {
    for await (const each of readAhead([1, 2, 3, 4], 3, read, never())) found.push(each);
  }, /no second/);
  assert.deepEqual([found, ended], [[1], [1, 3, 4]]);
  for await (const each of readAhead([1, 3, 4], 2, read, never())) {
    ended.length = 0;
    if (each === 1) break;
  }
  assert.deepEqual(ended, [1, 3, 4]);
});
