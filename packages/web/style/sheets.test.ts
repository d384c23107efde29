// A sheet of a screen stays in the page when another screen is opened: two screens that use one class
// for two things look right alone, and wrong one after the other.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function classesIn(pattern: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of globSync(pattern, { cwd: root })) {
    const sheet = readFileSync(`${root}${file}`, 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
    for (const [, selector = ''] of sheet.matchAll(/([^{};]+)\{/g)) {
      // Others are parts or states of the first one.
      for (const each of selector.split(',')) {
        const [, name] = /^\s*\.([a-z][\w-]*)/.exec(each) ?? [];
        if (name !== undefined) found.set(name, (found.get(name) ?? new Set()).add(file));
      }
    }
  }
  return found;
}

test('a class that all screens do not share is in the sheet of one screen alone', () => {
  const shared = classesIn('{style,parts,parts/ways}/*.css');
  const own = classesIn('screens/*/*.css');
  assert.ok(own.size > 100, `${own.size} classes`);
  const twice = [...own]
    .filter(([name, files]) => files.size > 1 && !shared.has(name))
    .map(([name, files]) => `${name}: ${[...files].join(', ')}`);
  assert.deepEqual(twice, []);
});
