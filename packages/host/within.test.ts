import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from './within.ts';

test('an answer in time is given, and so is its failure', async () => {
  assert.equal(await within(10_000, Promise.resolve('here'), null), 'here');
  await assert.rejects(within(10_000, Promise.reject(new Error('gone')), null), /gone/);
});

test('work that takes longer is not waited for, and its later failure reaches nobody', async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  assert.equal(await within(1, promise, 'late'), 'late');
  reject(new Error('after the wait'));
  await new Promise((resolve) => setImmediate(resolve));
});
