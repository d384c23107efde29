// The table of planted bugs keeps up with the tree; whether the simulation finds them is seen by
// `npm run soak -- planted`.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mustFit } from '../support/planted.ts';
import { finders } from './finders.ts';
import { mutations } from './mutations.ts';
import { brokenIn, crashes, isFinding } from './mutations-found.ts';
import { otherRooms, rooms, without } from './mutations-without.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('every planted bug fits the sources as they stand, and changes them', () => {
  for (const [name, edits] of Object.entries(mutations)) {
    assert.doesNotThrow(() => mustFit(edits), name);
  }
});

test('for every planted bug a seed is known that finds it', () => {
  assert.deepEqual(Object.keys(finders).sort(), Object.keys(mutations).sort());
});

test('every module that a simulated swap passes through has a bug planted in it, or a reason why not', () => {
  const files = new Set(Object.values(mutations).flatMap((edits) => edits.map(({ file }) => file)));
  const modules = rooms.flatMap((room) =>
    globSync(`${room}/*.ts`, { cwd: root }).filter((file) => !file.endsWith('.test.ts')),
  );
  const reasons = without.flatMap(({ files: each }) => each);
  for (const room of rooms) {
    assert.ok(
      [...files].some((file) => dirname(file) === room),
      `nothing is planted in ${room}`,
    );
  }
  assert.deepEqual(
    modules.filter((file) => !files.has(file) && !reasons.includes(file)),
    [],
    'nothing is planted in these, and nobody says why',
  );
  assert.deepEqual(
    reasons.filter((file) => files.has(file) || !modules.includes(file)),
    [],
    'something is planted in these, or they are there no more',
  );
  assert.equal(new Set(reasons).size, reasons.length, 'one reason each');
});

test('every folder of the server is one that a simulated swap passes through, or says why not', () => {
  const folders = globSync('server/*/', { cwd: root }).map((each) => each.replace(/\/$/, ''));
  const known = [...rooms.filter((room) => /^server\/\w+$/.test(room)), ...Object.keys(otherRooms)];
  assert.deepEqual(folders.sort(), known.sort());
});

test('what only threw or ended a process is no finding, whatever else the story tells', () => {
  const errors = `500 of 600 seeds are done
seed 7:
   nothing unheard of happens: Error: it broke
    at run (file:///server/one.ts:3:4)
   never with neither: Ann, the initiator of one, paid 5 and got 0
  1. 0d 00:00:00 it begins
   …
  9. 0d 01:00:00 BROKEN nothing unheard of happens: Error
seed 8:
   a seed comes to its end: its process ended with 1
seed 9:
   nothing unheard of happens: Error: a rule: that it quotes
    at run (file:///server/one.ts:3:4)
  1. 0d 00:00:00 a story: with a colon
`;
  const found = brokenIn(errors);
  assert.deepEqual(found, [
    { seed: 7, rule: 'never with neither' },
    { seed: 8, rule: null },
    { seed: 9, rule: null },
  ]);
  assert.deepEqual(
    found.filter(isFinding).map(({ seed }) => seed),
    [7],
  );
  assert.deepEqual(brokenIn('it could not begin\n'), []);
});

test('what says that something threw or ended is called as the simulation calls it', () => {
  const said = ['crew.ts', 'worker.ts', 'simulate.ts'].map((file) =>
    readFileSync(new URL(file, import.meta.url), 'utf8'),
  );
  for (const rule of crashes) {
    assert.ok(
      said.some((source) => source.includes(`'${rule}'`)),
      rule,
    );
  }
});
