// The depth of a body, and how many values it holds, are told by its text.

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

test('a body of more values than any operation takes is refused before it is parsed', () => {
  const names = (count: number) =>
    JSON.stringify(
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'a,[{'])),
    );
  const lists = (count: number) =>
    JSON.stringify({ lists: Array.from({ length: count }, () => 0) });
  assert.ok(isRead(names(998)));
  assert.ok(isRead(lists(997)));
  for (const body of [names(6_000), `{"a":[${'0,'.repeat(6_000)}`]) {
    const { code, sentence } = parseBody(body) as Malformed;
    assert.equal(code, 'malformed_json');
    assert.match(sentence, /^the body holds 600\d values, and may hold 1000$/);
  }
  assert.ok(!isRead(names(1_001)));
  assert.ok(!isRead(lists(1_000)));
});

test('a body whose last string has no end is not valid JSON', () => {
  for (const body of ['{"a', '"', '"\\"', '["\\']) {
    assert.match((parseBody(body) as Malformed).sentence, /not valid JSON$/, body);
  }
});
