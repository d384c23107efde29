// In what forms keys of TRON and Solana are taken. That their signatures are those of the libraries
// of wallets: packages/chains/tron/proof.test.ts and packages/chains/solana/proof.test.ts.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { solanaAddressOfSeed } from '@parley/chains/solana/proof.ts';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { base58 } from '@scure/base';
import { solanaMessageSigner } from './solana.ts';
import { tronMessageSigner } from './tron.ts';

const seed = Uint8Array.from(randomBytes(32));
const hex = Buffer.from(seed).toString('hex');
const secretKey = Uint8Array.of(...seed, ...ed25519.getPublicKey(seed));

test('a key is taken in each of its forms', () => {
  for (const privateKey of [hex, `0x${hex}`, hex.toUpperCase()]) {
    assert.equal(tronMessageSigner({ privateKey }).address, tronAddressOfKey(seed));
  }
  for (const written of [secretKey, base58.encode(secretKey), seed]) {
    const { address } = solanaMessageSigner({ secretKey: written });
    assert.equal(address, solanaAddressOfSeed(seed));
  }
});

test('a malformed key is refused', () => {
  for (const each of ['', '00'.repeat(32), 'ff'.repeat(32), '11'.repeat(31), 'zz'.repeat(32)]) {
    assert.throws(() => tronMessageSigner({ privateKey: each }));
  }
  for (const length of [0, 31, 33, 63, 65]) {
    assert.throws(() => solanaMessageSigner({ secretKey: new Uint8Array(length) }), /64 bytes/);
  }
  assert.throws(() => solanaMessageSigner({ secretKey: '0OIl' }));
  const mixed = Uint8Array.from(secretKey);
  mixed[40] = (mixed[40] as number) ^ 1;
  assert.throws(() => solanaMessageSigner({ secretKey: mixed }), /not that of its seed/);
});
