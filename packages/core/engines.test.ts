// The stand-ins for newer engines answer as the engines' own do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupBy, withResolvers } from './engines.ts';

test('groups are those of Map.groupBy: by first sight, each in its order', () => {
  const items = [3, 1, 4, 1, 5, 9, 2, 6];
  const isOdd = (item: number) => item % 2 === 1;
  assert.deepEqual([...groupBy(items, isOdd)], [...Map.groupBy(items, isOdd)]);
  assert.deepEqual([...groupBy([], isOdd)], []);
});

test('a promise is settled from outside, once', async () => {
  const good = withResolvers<number>();
  good.resolve(1);
  good.reject(new Error('too late'));
  assert.equal(await good.promise, 1);
  const bad = withResolvers<never>();
  bad.reject(new Error('as told'));
  await assert.rejects(bad.promise, /as told/);
});
