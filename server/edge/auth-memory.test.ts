// How many keys a process remembers.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createKeys } from './auth.ts';
import { startEdge, type TestEdge } from './testing/edge.ts';

const mostRemembered = 20_000;
let edge: TestEdge;
before(async () => {
  edge = await startEdge();
});
after(() => edge.close());

test('twenty thousand keys are remembered; one more, and the others are forgotten', async (context) => {
  // None gets too old to be remembered.
  context.mock.method(performance, 'now', () => 0);
  const row = {
    id: '0193f0a0-0000-7000-8000-000000000001',
    accountId: '0193f0a0-0000-7000-8000-000000000002',
    scopes: ['read'],
    expiresAt: new Date('2100-01-01'),
  };
  const rows = async () => [row] as never;
  const db = { ...edge.deps.db, rows };
  const keys = createKeys({ ...edge.deps, db }, () => true);
  const keyOf = (at: number) => `parley_test_${String(at).padStart(43, 'k')}`;
  for (let at = 0; at < mostRemembered; at += 1) await keys.find(keyOf(at));
  assert.ok(keys.known(keyOf(0)) && keys.known(keyOf(mostRemembered - 1)));
  await keys.find(keyOf(mostRemembered));
  assert.ok(keys.known(keyOf(mostRemembered)));
  assert.equal(keys.known(keyOf(0)), undefined);
});
