// The package against its README: what is named there can be imported. The picture of the states is
// that of their text, by which every settlement on paper chains goes (testing/paper-scene.ts).

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { drawStates, pictureFile, readStates } from './testing/states.ts';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

test('every module in the table of the README is exported, and every export is there', () => {
  const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, string> };
  const rows = read('README.md').match(/^\| `.*?` \|/gm) ?? [];
  const named = rows.flatMap((row) => row.match(/[\w/-]+\.ts(?=`)/g) ?? []);
  assert.ok(named.includes('webhooks.ts') && named.length >= 7, named.join());
  for (const file of named) assert.equal(exports[`./${file.replace(/\.ts$/, '')}`], `./${file}`);
  for (const file of Object.values(exports)) {
    assert.ok(existsSync(new URL(file, import.meta.url)), file);
  }
});

test('the picture of the states is drawn from their text, and the README explains each', () => {
  const { places, arrows } = readStates();
  assert.equal(readFileSync(pictureFile, 'utf8'), drawStates());
  assert.ok(read('README.md').includes('](states.svg)'));
  for (const state of places.keys())
    assert.ok(read('README.md').includes(`| \`${state}\` |`), state);
  const named = new Set(arrows.flatMap(({ from, to }) => [from, to]));
  assert.deepEqual([...named].sort(), [...places.keys()].sort());
});
