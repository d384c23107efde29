// The search can fail: each of these rules with one thing wrong is found out, and by a story that
// ends as it should.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '../support/runs.ts';
import { mutations } from './mutations.ts';
import { search } from './search.ts';
import { worldOf } from './world.ts';

// Of T_long's terms two are taken here, and all in the soak: each takes seconds.
const isWhole = runs(1) > 1;
const longTerms = mutations.filter(({ name }) => name.startsWith('T_long without '));
const left = new Set(isWhole ? [] : longTerms.slice(2));

for (const mutation of mutations.filter((each) => !left.has(each))) {
  const { name, rules, where, finds } = mutation;
  test(`found out: ${name}`, () => {
    const found = search(worldOf(rules, where));
    assert.equal(found.fault?.what, finds);
  });
}
