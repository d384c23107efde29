// Solana addresses against @solana/kit.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { numberToBytesLE } from '@noble/curves/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { getAddressDecoder, getAddressEncoder } from '@solana/kit';
import fc from 'fast-check';
import { isOnCurve, parseSolanaAddress, solanaAddressBytes, solanaAddressOf } from './address.ts';

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

/** By the library's whole curve, which takes odd encodings as the runtime does (ZIP 215). */
function isPoint(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes, true);
    return true;
  } catch {
    return false;
  }
}

test('an address is on the curve where the library makes a point of it', () => {
  const seen = new Set<boolean>();
  const same = (bytes: Uint8Array) => {
    const is = isPoint(bytes);
    seen.add(is);
    assert.equal(isOnCurve(bytes), is, Buffer.from(bytes).toString('hex'));
  };
  fc.assert(fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), same), { numRuns: 300 });
  assert.equal(seen.size, 2);
  const { p: order } = ed25519.Point.CURVE();
  // The least y, those that the field has twice, and the largest: each with both signs.
  for (const around of [0n, order]) {
    for (let y = around - 25n; y <= around + 25n; y += 1n) {
      if (y < 0n || y >= 2n ** 255n) continue;
      same(numberToBytesLE(y, 32));
      same(numberToBytesLE(y + 2n ** 255n, 32));
    }
  }
  for (const length of [0, 31, 33]) same(new Uint8Array(length));
});
