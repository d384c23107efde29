// The modules loaded with the budgets: a file of its own, since a module that any test of a process
// has loaded stays loaded.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { testEdge } from './testing/edge.ts';

await testEdge();

test('without VALKEY_URL its client is not loaded: it would cost reads their speed', () => {
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  assert.ok(
    loaded.some((file) => file.includes('/fastify/')),
    'modules are seen at all',
  );
  assert.deepEqual(
    loaded.filter((file) => file.includes('iovalkey')),
    [],
  );
});
