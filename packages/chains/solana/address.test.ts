// Solana addresses against @solana/kit.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '@parley/core/errors.ts';
import { codePoint } from '@parley/verify/test/support/code-points.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import { getAddressDecoder, getAddressEncoder, isAddress } from '@solana/kit';
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

test('any text is an address where kit says so, and refused otherwise', () => {
  const texts = fc.oneof(
    fc.string({ unit: codePoint, maxLength: 60 }),
    fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{31,45}$/),
    fc.stringMatching(/^1{20,33}[1-9A-HJ-NP-Za-km-z]{0,20}$/),
  );
  fc.assert(
    fc.property(texts, (text) => {
      let reads = true;
      try {
        assert.equal(parseSolanaAddress(text), text);
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        reads = false;
      }
      assert.equal(reads, isAddress(text));
    }),
    { numRuns: runs(500) },
  );
});
