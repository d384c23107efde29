// The search can fail: each of these rules with one thing wrong is found out, and by a story that
// ends as it should.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mutations } from './mutations.ts';
import { search } from './search.ts';
import { worldOf } from './world.ts';

for (const { name, rules, where, finds } of mutations) {
  test(`found out: ${name}`, () => {
    const found = search(worldOf(rules, where));
    assert.equal(found.fault?.what, finds);
  });
}
