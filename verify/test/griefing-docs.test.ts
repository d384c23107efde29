// The rules of places in docs/griefing.md are the enforced ones.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  mostLiveRfqs,
  mostUnfunded,
  placesOfAbandoned,
  rfqsOfSettled,
  settledOfPlace,
} from '@parley/market/market/bounds.ts';

const text = readFileSync(new URL('../../docs/griefing.md', import.meta.url), 'utf8');

test('docs/griefing.md has the rules of places as they are enforced', () => {
  const rules = [
    `places = ${5} + settled / ${settledOfPlace} - ${placesOfAbandoned} × abandoned` +
      `        at least 1, at most ${mostUnfunded}`,
    `live RFQs = ${20} + ${rfqsOfSettled} × settled        at most ${mostLiveRfqs}`,
  ];
  for (const rule of rules) assert.ok(text.includes(rule), rule);
});
