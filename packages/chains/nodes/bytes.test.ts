// Both ways to read hex and to hash, which must not differ: which one runs is the runtime's matter.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as node from './bytes-node.ts';
import * as web from './bytes-web.ts';

test('hex is read alike in Node and in browsers, up to what is no hex', () => {
  const texts = [
    '',
    '0',
    '0a',
    '0aF',
    '0aFF',
    'zz',
    '0a zz',
    '0ag1',
    '0a0',
    '0x0a',
    'éé',
    '00'.repeat(9),
  ];
  for (const text of texts) {
    assert.deepEqual([...web.bytesOfHex(text)], [...node.bytesOfHex(text)], text);
  }
  const almostHex = fc.string({
    unit: fc.constantFrom(...'0123456789abcdefABCDEFg '),
    maxLength: 40,
  });
  fc.assert(
    fc.property(almostHex, (text) => {
      assert.deepEqual([...web.bytesOfHex(text)], [...node.bytesOfHex(text)]);
    }),
  );
});

test('hashes are alike in Node and in browsers', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      assert.equal(web.sha256Hex(bytes), node.sha256Hex(bytes));
      assert.deepEqual([...web.sha256Twice(bytes)], [...node.sha256Twice(bytes)]);
    }),
  );
});
