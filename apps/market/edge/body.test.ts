// The depth of a body is told by its text.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Malformed, parseBody } from './body.ts';

const isRead = (text: string) => !(parseBody(text) instanceof Malformed);
const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;

test('a body nests 64 levels and no more, whatever its strings hold', () => {
  assert.ok(isRead(nested(64)));
  assert.ok(!isRead(nested(66)));
  assert.ok(isRead(JSON.stringify(Array(99).fill([{}]))), 'side by side');
  const marks = ['['.repeat(99), '\\"{'.repeat(99), `\\${'"'}[`.repeat(99), '\\'];
  assert.ok(isRead(JSON.stringify({ ...marks, [marks.join()]: marks })));
  assert.ok(!isRead(`["\\\\",${nested(64)}]`), 'a string that ends behind an escape');
});
