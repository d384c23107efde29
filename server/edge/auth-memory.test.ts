// How many keys a process remembers, and how many that were none.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { Tx } from '../db/database.ts';
import { createKeys } from './auth.ts';
import { testEdge } from './testing/edge.ts';

const most = 20_000;
const edge = await testEdge();

/** Keys of a market where all those that begin like `keyOf` are live, and no others. */
function live() {
  const keyOf = (at: number) => `parley_test_${String(at).padStart(43, 'k')}`;
  const wrongKeyOf = (at: number) => `parley_test_${String(at).padStart(43, 'w')}`;
  const hashes = new Set(
    Array.from({ length: most + 1 }, (_, at) => hash('sha256', keyOf(at), 'hex')),
  );
  const row = {
    id: '0193f0a0-0000-7000-8000-000000000001',
    accountId: '0193f0a0-0000-7000-8000-000000000002',
    scopes: ['read'],
    expiresAt: new Date('2100-01-01'),
  };
  const rows: Tx['rows'] = async ({ values: [asked] }) =>
    (asked as Buffer[])
      .filter((each) => hashes.has(each.toString('hex')))
      .map((each) => ({ ...row, hash: each })) as never;
  const keys = createKeys({ ...edge.deps, db: { ...edge.deps.db, rows } }, () => true);
  return { keys, keyOf, wrongKeyOf };
}

test('twenty thousand keys are remembered; one more, and the others are forgotten', async (context) => {
  // None gets too old to be remembered.
  context.mock.method(performance, 'now', () => 0);
  const { keys, keyOf } = live();
  for (let at = 0; at < most; at += 1) await keys.find(keyOf(at));
  assert.ok(keys.known(keyOf(0)) && keys.known(keyOf(most - 1)));
  await keys.find(keyOf(most));
  assert.ok(keys.known(keyOf(most)));
  assert.equal(keys.known(keyOf(0)), undefined);
});

test('as many wrong ones are remembered, and drive out no key', async (context) => {
  context.mock.method(performance, 'now', () => 0);
  const { keys, keyOf, wrongKeyOf } = live();
  await keys.find(keyOf(0));
  for (let at = 0; at < most; at += 1) await keys.find(wrongKeyOf(at));
  assert.deepEqual([keys.known(wrongKeyOf(0)), keys.known(wrongKeyOf(most - 1))], [null, null]);
  await keys.find(wrongKeyOf(most));
  assert.equal(keys.known(wrongKeyOf(most)), null);
  assert.equal(keys.known(wrongKeyOf(0)), undefined);
  assert.ok(keys.known(keyOf(0)));
});
