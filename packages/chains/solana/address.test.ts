// Solana addresses against @solana/kit.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { getAddressDecoder, getAddressEncoder } from '@solana/kit';
import fc from 'fast-check';
import { parseSolanaAddress, solanaAddressBytes, solanaAddressOf } from './address.ts';

const refused = (text: string, why: RegExp) =>
  assert.throws(
    () => parseSolanaAddress(text),
    (error) =>
      error instanceof ParleyError && error.code === 'bad_address' && why.test(error.message),
    text,
  );

test('32 to 44 characters that hold 32 bytes are read, one byte more or less is refused', () => {
  const of = (length: number, byte: number) => solanaAddressOf(new Uint8Array(length).fill(byte));
  for (const byte of [0, 1, 255]) {
    assert.equal(parseSolanaAddress(of(32, byte)), of(32, byte));
    refused(of(31, byte), /31 bytes|31 characters/);
    refused(of(33, byte), /33 bytes|4[56] characters/);
  }
  assert.deepEqual([of(32, 0).length, of(32, 255).length], [32, 44]);
});

test('kit writes and reads the same addresses', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const address = getAddressDecoder().decode(bytes);
      assert.equal(solanaAddressOf(bytes), address);
      assert.equal(parseSolanaAddress(address), address);
      assert.deepEqual(
        solanaAddressBytes(address),
        new Uint8Array(getAddressEncoder().encode(address)),
      );
    }),
  );
});
