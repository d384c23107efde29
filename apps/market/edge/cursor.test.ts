// Cursors of lists: decisions 1.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './cursor.ts';

const secrets = [new Uint8Array(32).fill(7)];
const refused = (error: unknown) => error instanceof ParleyError && error.code === 'bad_cursor';

test('a cursor gives its position back for the same filters in any order', () => {
  const position = fc.array(fc.string(), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(position, (given) => {
      const cursor = encodeCursor(secrets, { list: 'rfqs', direction: null }, given);
      const found = decodeCursor(secrets, { direction: null, list: 'rfqs' }, cursor);
      assert.deepEqual(found, given);
    }),
  );
});

test('a cursor of another list, other filters or another server is refused', () => {
  const cursor = encodeCursor(secrets, { list: 'rfqs', direction: 'sell_base' }, ['1']);
  const other = [new Uint8Array(32).fill(8)];
  for (const filters of [{ list: 'rfqs' }, { list: 'swaps', direction: 'sell_base' }]) {
    assert.throws(() => decodeCursor(secrets, filters, cursor), refused);
  }
  const own = { list: 'rfqs', direction: 'sell_base' };
  assert.throws(() => decodeCursor(other, own, cursor), refused);
});

test('a cursor altered in any one character is refused', () => {
  const cursor = encodeCursor(secrets, { list: 'a' }, ['0193b5a0-0000-7000-8000-000000000000']);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (let at = 0; at < cursor.length; at += 1) {
    for (const letter of alphabet) {
      if (letter === cursor[at]) continue;
      const altered = cursor.slice(0, at) + letter + cursor.slice(at + 1);
      assert.throws(() => decodeCursor(secrets, { list: 'a' }, altered), refused);
    }
  }
});

test('a malformed cursor is refused', () => {
  for (const text of ['', 'x', '!', 'A'.repeat(30), 'A'.repeat(2_000), `${'A'.repeat(22)}==`]) {
    assert.throws(() => decodeCursor(secrets, {}, text), refused);
  }
});

test('while a key is replaced, what the old one signed goes on; the new one signs', () => {
  const old = new Uint8Array(32).fill(7);
  const fresh = new Uint8Array(32).fill(8);
  const filters = { list: 'a' };
  const cursor = encodeCursor([old], filters, ['1']);
  assert.deepEqual(decodeCursor([fresh, old], filters, cursor), ['1']);
  assert.throws(() => decodeCursor([fresh], filters, cursor), refused);
  const next = encodeCursor([fresh, old], filters, ['2']);
  assert.deepEqual(decodeCursor([fresh], filters, next), ['2']);
  assert.throws(() => decodeCursor([old], filters, next), refused);
});
