// What a text becomes where a number is wanted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { coercingCheckOf } from './check.ts';

const schema = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  rate: Type.Optional(Type.Number({ minimum: 1, maximum: 10_000 })),
});
const check = coercingCheckOf(schema, 'the query');

test('a text is a number only within its bounds, and never an endless one', () => {
  const query = { limit: '1e2', rate: '1.5' };
  assert.equal(check(query), null);
  assert.deepEqual(query, { limit: 100, rate: 1.5 });
  for (const text of ['101', '0', '1e3', '1e400', '-1e400', 'Infinity', 'NaN', '0x10000', '1.5']) {
    assert.match(String(check({ limit: text })), /"limit"/, text);
  }
  for (const text of ['10001', '0.5', '1e400', '-1e400', 'Infinity', 'NaN']) {
    assert.match(String(check({ rate: text })), /"rate"/, text);
  }
});
