// The table of planted bugs keeps up with the tree and with the rows; whether the matrix finds them
// is seen by `npm run soak -- crashes`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mustFit } from '../support/planted.ts';
import { migrations } from './migrations.ts';
import { mutations } from './mutations.ts';
import { rows } from './rows.ts';

test('every planted bug fits the sources as they stand, and changes them', () => {
  for (const [name, { edits }] of Object.entries(mutations)) {
    assert.ok(edits.length > 0, name);
    assert.doesNotThrow(() => mustFit(edits), name);
  }
});

test('every planted bug is looked for in rows that there are', () => {
  const names = [...rows, migrations].map(({ name }) => name);
  for (const [bug, { row }] of Object.entries(mutations)) {
    assert.ok(
      names.some((name) => name.includes(row)),
      `${bug}: no row has "${row}" in its name`,
    );
  }
});

test('what is in the sources twice, or not at all, or is not changed, does not fit', () => {
  const file = 'server/keeper/sealing.ts';
  const only = 'export function sealSecret(';
  mustFit([{ file, find: only, put: 'function sealSecret(' }]);
  const wrong = [
    { file, find: 'keyringOf(', put: '' },
    { file, find: 'not in it', put: '' },
    { file, find: only, put: only },
  ];
  for (const each of wrong) assert.throws(() => mustFit([each]), /not exactly once|nothing/);
});
