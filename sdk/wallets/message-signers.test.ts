// The signers of TRON and Solana texts against the libraries that wallets use.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { base58 } from '@scure/base';
import { TronWeb, Trx } from 'tronweb';
import nacl from 'tweetnacl';
import { solanaMessageSigner } from './solana.ts';
import { tronMessageSigner } from './tron.ts';

const text = 'Parley asks you to sign.\n\nAddress: é 東京\nNonce: 1';

test('a TRON key signs as tronweb does, with or without 0x', async () => {
  const privateKey = randomBytes(32).toString('hex');
  for (const written of [privateKey, `0x${privateKey}`, privateKey.toUpperCase()]) {
    const signer = tronMessageSigner({ privateKey: written });
    assert.equal(signer.address, TronWeb.address.fromPrivateKey(privateKey));
    assert.equal(await signer.signMessage(text), Trx.signMessageV2(text, privateKey));
  }
});

test('a Solana key signs as tweetnacl does, given as bytes, in base58 or as a seed', async () => {
  const { publicKey, secretKey } = nacl.sign.keyPair();
  const expected = base58.encode(nacl.sign.detached(Buffer.from(text), secretKey));
  for (const written of [secretKey, base58.encode(secretKey), secretKey.slice(0, 32)]) {
    const signer = solanaMessageSigner({ secretKey: written });
    assert.equal(signer.address, base58.encode(publicKey));
    assert.equal(await signer.signMessage(text), expected);
  }
});

test('what is no key is refused', () => {
  for (const privateKey of [
    '',
    '00'.repeat(32),
    'ff'.repeat(32),
    '11'.repeat(31),
    'zz'.repeat(32),
  ]) {
    assert.throws(() => tronMessageSigner({ privateKey }));
  }
  for (const length of [0, 31, 33, 63, 65]) {
    assert.throws(() => solanaMessageSigner({ secretKey: new Uint8Array(length) }), /64 bytes/);
  }
  assert.throws(() => solanaMessageSigner({ secretKey: '0OIl' }));
  const mixed = Uint8Array.from(nacl.sign.keyPair().secretKey);
  mixed[40] = (mixed[40] as number) ^ 1;
  assert.throws(() => solanaMessageSigner({ secretKey: mixed }), /not that of its seed/);
});
