import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashlockOf, opens, parseHex32 } from './hashlock.ts';

test('the hashlock is SHA-256 over the 32 bytes (vector: NIST CAVS, 32 zero bytes)', () => {
  const zero = '00'.repeat(32);
  const expected = '66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925';
  assert.equal(hashlockOf(zero), expected);
  assert.ok(opens(zero, expected));
  assert.ok(!opens('01'.repeat(32), expected));
});

test('32 bytes of hex are read in any case, with or without 0x, and given without', () => {
  const plain = 'ab'.repeat(32);
  assert.equal(parseHex32(plain, 'secret'), plain);
  assert.equal(parseHex32(`0x${plain.toUpperCase()}`, 'secret'), plain);
});

test('31 and 33 bytes, odd digits, other characters and a second 0x are refused', () => {
  for (const text of ['', '0x', 'ab'.repeat(31), 'ab'.repeat(33), `${'ab'.repeat(31)}a`]) {
    assert.throws(() => parseHex32(text, 'secret'), { code: 'bad_hex' });
  }
  for (const text of [`0x0x${'ab'.repeat(31)}`, `0X${'ab'.repeat(32)}`, 'zz'.repeat(32)]) {
    assert.throws(() => parseHex32(text, 'secret'), { code: 'bad_hex', message: /secret must be/ });
  }
});
