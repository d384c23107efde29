// The tables of docs/griefing.md are those of its model, by the policies of the service.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { griefingTables, optionOf } from '../scripts/griefing.ts';
import {
  mostLiveRfqs,
  mostUnfunded,
  placesOfAbandoned,
  rfqsOfSettled,
  settledOfPlace,
} from '../server/market/bounds.ts';

const text = readFileSync(new URL('../docs/griefing.md', import.meta.url), 'utf8');

test('docs/griefing.md shows what `npm run -s node -- scripts/griefing.ts` prints', () => {
  for (const [name, table] of Object.entries(griefingTables())) {
    assert.ok(text.includes(`\n${table}\n`), `${name}:\n${table}`);
  }
});

test('and the rules of places as they are enforced', () => {
  const rules = [
    `places = ${5} + settled / ${settledOfPlace} - ${placesOfAbandoned} × abandoned` +
      `        at least 1, at most ${mostUnfunded}`,
    `live RFQs = ${20} + ${rfqsOfSettled} × settled        at most ${mostLiveRfqs}`,
  ];
  for (const rule of rules) assert.ok(text.includes(rule), rule);
});

test('an option at the money is worth 0.4 of the deviation, and less the further it is away', () => {
  const day = 86_400;
  const deviation = 0.6 * Math.sqrt(1 / 365.25);
  assert.ok(Math.abs(optionOf(day) / deviation - 0.398942) < 1e-5);
  // One deviation away, by the tables of the normal distribution: 0.24197 - 0.15866.
  assert.ok(Math.abs(optionOf(day, deviation) / deviation - 0.08331) < 1e-4);
});
