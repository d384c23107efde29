// The pages of limits and of errors, which are made of the sources: no limit or error is missing
// from them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSteps, statusOfCode } from '@parley/scripts/site/errors.ts';
import { limitsIn } from '@parley/scripts/site/limits.ts';
import { generatedPages, limitSources, textOf } from '@parley/scripts/site/pages.ts';

const pages = generatedPages();

test('the page of errors has each code once, with its status and a next step', () => {
  const rows = [...(pages['errors.md'] ?? '').matchAll(/^\| `(\w+)` \| (\d+) \| (\S.+) \|$/gm)];
  const shown = rows.map(([, code, status]) => [code, Number(status)]);
  assert.deepEqual(shown.sort(), [...statusOfCode()].sort());
});

test('codes below one comment share it, and a code without one has none', () => {
  const text =
    "const codes = {\n  a: [\n    // One\n    // step.\n    'x',\n    'y',\n  ],\n  b: ['z'],\n} as const;";
  assert.deepEqual(
    [...nextSteps(text)],
    [
      ['x', 'One step.'],
      ['y', 'One step.'],
      ['z', ''],
    ],
  );
});

test('the page of limits has each `most`, `least` and `longest` that the product declares', () => {
  const page = pages['limits.md'] ?? '';
  const missing: string[] = [];
  let found = 0;
  for (const path of limitSources()) {
    const [, section = ''] = page.split(`### ${path}\n`);
    const [own = ''] = section.split('\n#');
    const names = textOf(path).matchAll(
      /^(?:export )?const ((?:most|least|longest)\w*) = [\d_]+n?;/gm,
    );
    for (const [, name] of names) {
      found += 1;
      if (!own.includes(`| \`${name}\` |`)) missing.push(`${path}: ${name}`);
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(found > 300, `${found} limits`);
});

test('a limit has its value and the comment at it, which the ones below it share', () => {
  const text = [
    '/** Rows of a page. */',
    'export const mostRows = 1_000;',
    'const leastRows = 1;',
    '',
    'const waitMs = 2 * 60_000;',
    '',
    'const longestWait = 9;',
    'const dayMs = 86_400_000;',
    "const mostly = 'no quantity';",
    '',
  ].join('\n');
  assert.deepEqual(limitsIn(text), [
    { name: 'mostRows', value: '1 000', reason: 'Rows of a page.' },
    { name: 'leastRows', value: '1', reason: 'as above' },
    { name: 'longestWait', value: '9', reason: '' },
  ]);
});
