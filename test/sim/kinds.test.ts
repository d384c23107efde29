// What a run should have met and did not is told, by the number of its seeds.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allDrills, notComeOf } from './drills.ts';
import { fairSeeds, missedIn } from './kinds.ts';

const nothing = { faults: {}, attacks: {}, keeper: {}, ladders: {}, halts: {}, rest: {} };
const [drill] = allDrills;
assert.ok(drill !== undefined);

/** Once each kind that so many seeds want. */
const all = (seeds: number) =>
  Object.fromEntries(missedIn(nothing, seeds).map((each) => [each, 20]));

test('every statement at which a market is struck is one that the server makes', () => {
  const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const root = new URL('../../', import.meta.url);
  const sources = globSync('server/**/*.ts', { cwd: root }).map(read).join('');
  const struck = [read('test/sim/faults.ts'), read('test/sim/moments.ts')].flatMap((text) => [
    ...text.matchAll(/at: '([a-z_]+_[a-z_]+)'/g),
    ...text.matchAll(/^ {2}'([a-z]+_[a-z_]+)',$/gm),
  ]);
  const names = new Set(struck.map(([, name = '']) => name));
  assert.ok(names.size > 15, [...names].join(' '));
  assert.deepEqual(
    [...names].filter((name) => !sources.includes(`name: '${name}'`)),
    [],
  );
});

test('few seeds want nothing, more of them more, and what is there is not missed', () => {
  assert.deepEqual(missedIn(nothing, fairSeeds - 1), []);
  const counts = [fairSeeds, 200, 1_000].map((seeds) => missedIn(nothing, seeds).length);
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
  );
  for (const seeds of [fairSeeds, 200, 1_000]) {
    const met = all(seeds);
    assert.deepEqual(missedIn({ ...nothing, rest: met }, seeds), []);
    for (const kind of Object.keys(met)) {
      const { [kind]: _, ...others } = met;
      assert.deepEqual(missedIn({ ...nothing, rest: others }, seeds), [kind]);
    }
  }
});

test('a drill is wanted of a thousand seeds, and its moment in nine of ten of its own', () => {
  const met = all(1_000);
  assert.ok(`drill ${drill.name}` in met);
  const at = (times: number) =>
    missedIn({ ...nothing, rest: { ...met, [notComeOf(drill)]: times } }, 1_000);
  assert.deepEqual(at(2), []);
  assert.deepEqual(at(3), [notComeOf(drill)]);
});
