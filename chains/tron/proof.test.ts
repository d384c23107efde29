import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { TronWeb, Trx } from 'tronweb';
import { ParleyError } from '../../core/errors.ts';
import { runs } from '../../test/support/runs.ts';
import {
  signTronMessage,
  type TronProof,
  tronAddressOfKey,
  tronMessageHash,
  verifyTronProof,
} from './proof.ts';

// tronweb's own test cases: test/testcases/src/sign-message.ts, "hello world".
const official = {
  privateKey: '0000000000000000000000000000000000000000000000000000000000000001',
  hash: 'cf02daeb2bea196ed5692322a66ed50080ce74ff8cb711199f1b04f3c13bc10d',
  address: 'TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC',
  message: 'hello world',
  signature:
    '0x0dc0b53d525e0103a6013061cf18e60cf158809149f2b8994a545af65a7004cb1eeaff560e801ab51b28df5d42549aa024c2aa7e9d34de1e01294b9afb5e6c7e1c',
};
// An independent implementation in Dart: mrtnetwork/blockchain_utils, test/signer/tron_test.dart.
// Its address is what tronweb derives from the key.
const independent = {
  privateKey: '43985273a3d94eb753fe6acfd7003e88254effce1eb53e2e97b8522558a98038',
  address: 'TCFvmqhxFrEdPbnQzKWaGNdXz7X3za7w5r',
  message: 'message',
  signature:
    'fde00bc33d78109bc61de314c1c0526a047e22a2aaae473ca84b32d8aa35ed3e03720e05d614087e3d8c6fae63879755b32aa08818a2d4de66fee1a617a971671b',
};

const refused = (proof: TronProof, why = /./) =>
  assert.throws(
    () => verifyTronProof(proof),
    (error) =>
      error instanceof ParleyError && error.code === 'bad_signature' && why.test(error.message),
  );
const body = official.signature.slice(2);
const withV = (v: number) => body.slice(0, 128) + v.toString(16).padStart(2, '0');

test('published signatures are accepted and made again', () => {
  assert.equal(bytesToHex(tronMessageHash(official.message)), official.hash);
  for (const vector of [official, independent]) {
    assert.equal(verifyTronProof(vector), vector.address);
    const key = hexToBytes(vector.privateKey);
    assert.equal(tronAddressOfKey(key), vector.address);
    const made = signTronMessage(key, vector.message);
    assert.equal(made, `0x${vector.signature.replace(/^0x/, '')}`);
  }
});

test('the address may be in 41-hex, the signature without 0x and in capitals', () => {
  const address = TronWeb.address.toHex(official.address).toUpperCase();
  for (const signature of [body, `0x${body}`, `0X${body.toUpperCase()}`]) {
    assert.equal(verifyTronProof({ ...official, address, signature }), official.address);
  }
});

test('tronweb signs what is accepted and accepts what is signed here', async () => {
  const keys = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .filter(secp256k1.utils.isValidSecretKey);
  const texts = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ minLength: 0, maxLength: 300 }),
  );
  await fc.assert(
    fc.asyncProperty(keys, texts, async (key, message) => {
      const address = tronAddressOfKey(key);
      assert.equal(TronWeb.address.fromPrivateKey(bytesToHex(key)), address);
      const signature = Trx.signMessageV2(message, bytesToHex(key));
      assert.equal(verifyTronProof({ address, message, signature }), address);
      const own = signTronMessage(key, message);
      assert.equal(own, signature);
      assert.equal(await Trx.verifyMessageV2(message, own), address);
      refused({ address, message: `${message} `, signature }, /made by T/);
    }),
    { numRuns: runs(30) },
  );
});

test('the length in the digest is that of the bytes, not of the characters', () => {
  const message = '東京 🗼 é';
  const signature = Trx.signMessageV2(message, official.privateKey);
  assert.equal(verifyTronProof({ ...official, message, signature }), official.address);
});

test('another digest over the same words proves nothing', async () => {
  // Trust Wallet Core signs the hash of a hash: TestTronMessageSigner.kt.
  const hashed = {
    privateKey: '75065f100e38d3f3b4c5c4235834ba8216de62272a4f03532c44b31a5734360a',
    message: 'Hello World',
    signature:
      '9bb6d11ec8a6a3fb686a8f55b123e7ec4e9746a26157f6f9e854dd72f5683b450397a7b0a9653865658de8f9243f877539882891bad30c7286c3bf5622b900471b',
  };
  const address = tronAddressOfKey(hexToBytes(hashed.privateKey));
  refused({ ...hashed, address }, /made by T/);
  // The older trx.sign of a hex text, under TRON's prefix and under Ethereum's.
  for (const underTron of [true, false]) {
    const hex = Buffer.from(official.message).toString('hex');
    const signature = Trx.signString(hex, official.privateKey, underTron);
    refused({ ...official, signature }, /made by T/);
  }
});

test('an address of another family is refused as an address', () => {
  for (const address of [`0x${'ab'.repeat(20)}`, '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa']) {
    assert.throws(() => verifyTronProof({ ...official, address }), { code: 'bad_address' });
  }
});

test('a message has at most 10 000 bytes', () => {
  for (const [message, holds] of [
    ['é'.repeat(5_000), true],
    [`${'é'.repeat(5_000)}a`, false],
  ] as const) {
    const signature = Trx.signMessageV2(message, official.privateKey);
    if (holds) assert.equal(verifyTronProof({ ...official, message, signature }), official.address);
    else refused({ ...official, message, signature }, /10001 bytes/);
  }
});

test('whatever stands for a signature is accepted or refused in words, never by a failure', () => {
  const signatures = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.stringMatching(/^(0x)?[0-9a-f]{128}(1b|1c|00|01|02)$/),
    fc
      .tuple(fc.nat(129), fc.constantFrom(...'0123456789abcdef'))
      .map(([at, digit]) => body.slice(0, at) + digit + body.slice(at + 1)),
  );
  fc.assert(
    fc.property(signatures, (signature) => {
      try {
        verifyTronProof({ ...official, signature });
        // Only the signature itself holds, with v in either form.
        assert.ok([body, withV(1)].includes(signature.replace(/^0x/, '')), signature);
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
      }
    }),
    { numRuns: runs(300) },
  );
});
