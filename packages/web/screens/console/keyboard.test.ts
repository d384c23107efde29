// A key is the console's only where it is nothing else's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOf, type Press } from './keyboard.ts';

const press = (key: string, on: Press['on'] = 'page', isOther = false) =>
  commandOf({ key, on, isOther });

test('each key has its command, and an unknown one none', () => {
  const keys = ['j', 'k', 'Enter', 'e', 'w', '/', '?', 'x', 'constructor'];
  const expected = ['down', 'up', 'quote', 'edit', 'withdraw', 'filter', 'help', null, null];
  assert.deepEqual(
    keys.map((key) => press(key)),
    expected,
  );
});

test('no key fires while somebody types, in a dialog, or with Ctrl', () => {
  for (const key of ['j', 'w', 'Enter', '/', 'ArrowDown']) {
    for (const on of ['field', 'dialog'] as const) assert.equal(press(key, on), null);
    assert.equal(press(key, 'row', true), null);
  }
});

test('Enter presses what has the focus, and arrows scroll but in the list', () => {
  assert.equal(press('Enter', 'control'), null);
  assert.equal(press('Enter', 'row'), null);
  assert.equal(press('ArrowDown'), null);
  assert.equal(press('ArrowUp', 'row'), 'up');
  assert.equal(press('w', 'control'), 'withdraw');
});
