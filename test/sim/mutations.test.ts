// The table of planted bugs keeps up with the tree; whether the simulation finds them is seen by
// `npm run soak -- planted`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mustFit } from '../support/planted.ts';
import { finders } from './finders.ts';
import { mutations } from './mutations.ts';

test('every planted bug fits the sources as they stand, and changes them', () => {
  for (const [name, edits] of Object.entries(mutations)) {
    assert.doesNotThrow(() => mustFit(edits), name);
  }
});

test('for every planted bug a seed is known that finds it', () => {
  assert.deepEqual(Object.keys(finders).sort(), Object.keys(mutations).sort());
});

test('every room and module that a simulated swap passes through has a bug planted in it', () => {
  const files = new Set(Object.values(mutations).flatMap((edits) => edits.map(({ file }) => file)));
  const rooms = ['chains/bitcoin/', 'server/db/', 'server/edge/', 'server/market/'];
  const core = ['gates', 'facts', 'deadlines', 'status', 'next', 'swap'].map(
    (each) => `core/${each}.ts`,
  );
  const settle = [
    'outcome',
    'reconcile',
    'follow',
    'live',
    'take-up',
    'events',
    'broadcast',
    'create',
  ];
  const wanted = [...rooms, ...core, ...settle.map((each) => `server/settle/${each}.ts`)];
  for (const each of [...wanted, 'server/webhooks/', 'server/keeper/']) {
    assert.ok(
      [...files].some((file) => file.startsWith(each)),
      `nothing is planted in ${each}`,
    );
  }
});
