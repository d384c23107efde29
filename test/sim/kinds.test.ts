// What a run should have met and did not is said.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allDrills, notComeOf } from './drills.ts';
import { fairSeeds, missedIn } from './kinds.ts';

/** Twenty of each kind that so many seeds want. */
const all = (seeds: number) => missedIn(new Map(), seeds).map((kind) => [kind, 20] as const);

test('every statement at which a market is struck is one that the server makes', () => {
  const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const root = new URL('../../', import.meta.url);
  const sources = globSync('{server,watchtower}/**/*.ts', { cwd: root }).map(read).join('');
  const struck = ['faults', 'moments', 'keeper'].flatMap((file) => [
    ...read(`test/sim/${file}.ts`).matchAll(/at: '([a-z_]+_[a-z_]+)'/g),
    ...read(`test/sim/${file}.ts`).matchAll(/^ {2}'([a-z]+_[a-z_]+)',$/gm),
  ]);
  const names = new Set(struck.map(([, name = '']) => name));
  assert.ok(names.size > 15, [...names].join(' '));
  assert.deepEqual(
    [...names].filter((name) => !sources.includes(`'${name}'`)),
    [],
  );
});

test('few seeds want nothing, more of them more, and what is there is not missed', () => {
  assert.deepEqual(missedIn(new Map(), fairSeeds - 1), []);
  assert.ok(all(fairSeeds).length > 0 && all(fairSeeds).length < all(1_000).length);
  for (const seeds of [fairSeeds, 1_000]) {
    const met = all(seeds);
    assert.deepEqual(missedIn(new Map(met), seeds), []);
    for (const [kind] of met) {
      assert.deepEqual(missedIn(new Map(met.filter(([each]) => each !== kind)), seeds), [kind]);
    }
  }
});

test('a drill is wanted of a thousand seeds, and its moment in nine of ten of its own', () => {
  const [drill] = allDrills;
  assert.ok(drill !== undefined);
  const at = (times: number) =>
    missedIn(new Map([...all(1_000), [notComeOf(drill), times]]), 1_000);
  assert.deepEqual(at(2), []);
  assert.deepEqual(at(3), [notComeOf(drill)]);
});
