import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { keptSeeds, textOf, withFound } from './kept.ts';

test('what is kept is written as it stands, so that a new seed is one new entry', () => {
  const text = readFileSync(new URL('seeds.json', import.meta.url), 'utf8');
  assert.equal(textOf(keptSeeds()), text);
});

test('a seed that broke is added once, behind those of before', () => {
  const before = [{ seed: 9, why: 'first' }];
  const found = [
    { seed: 7, why: 'late' },
    { seed: 9, why: 'again' },
    { seed: 2, why: 'x'.repeat(90) },
  ];
  const all = withFound(before, found);
  assert.deepEqual(
    all.map(({ seed, why }) => [seed, why.slice(0, 5)]),
    [
      [9, 'first'],
      [2, 'xxxxx'],
      [7, 'late'],
    ],
  );
  assert.deepEqual(JSON.parse(textOf(all)), all);
});
