import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { runs } from '@parley/verify/test/support/runs.ts';
import { base58, createBase58check } from '@scure/base';
import fc from 'fast-check';
import { TronWeb, Trx } from 'tronweb';
import { refuses } from '../testing/refusals.ts';
import { parseTronAddress } from './address.ts';
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
  assert.throws(() => verifyTronProof(proof), refuses('bad_signature', why));
const body = official.signature.slice(2);

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
  const texts = [body, `0x${body}`, `0X${body.toUpperCase()}`, `\t0x${body}\r\n`, `\u200b${body}`];
  for (const signature of texts) {
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

test('another digest over the same words proves nothing', async () => {
  // Trust Wallet Core signs the hash of a hash: TestTronMessageSigner.kt.
  const hashed = {
    privateKey: '75065f100e38d3f3b4c5c4235834ba8216de62272a4f03532c44b31a5734360a',
    message: 'Hello World',
    signature:
      '9bb6d11ec8a6a3fb686a8f55b123e7ec4e9746a26157f6f9e854dd72f5683b450397a7b0a9653865658de8f9243f877539882891bad30c7286c3bf5622b900471b',
  };
  const address = tronAddressOfKey(hexToBytes(hashed.privateKey));
  const older = /by signMessage \(v1\) or trx\.sign, and signMessageV2 is wanted/;
  refused({ ...hashed, address }, older);
  // The older trx.sign of a hex text, under TRON's prefix and under Ethereum's.
  for (const underTron of [true, false]) {
    const hex = Buffer.from(official.message).toString('hex');
    const signature = Trx.signString(hex, official.privateKey, underTron);
    refused({ ...official, signature }, older);
    refused({ ...official, address, signature }, /made by T/);
  }
  for (const [text, why] of [
    [Buffer.from(body, 'hex').toString('base64'), /it is base64, and hex is wanted/],
    [base58.encode(hexToBytes(body)), /it is base58, and hex is wanted/],
    ['signed', /it is not hex/],
    ['', /it is not hex/],
    [`0x${body}00`, /65 bytes in hex, and has 132 digits/],
  ] as const) {
    refused({ ...official, signature: text }, why);
  }
});

test('an address of another family is refused as an address', () => {
  for (const address of [`0x${'ab'.repeat(20)}`, '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa']) {
    assert.throws(() => verifyTronProof({ ...official, address }), { code: 'bad_address' });
  }
});

test('a message has at most 10 000 bytes, and bytes are what the digest counts', () => {
  const message = 'é'.repeat(5_000);
  const signed = (text: string) => ({
    ...official,
    message: text,
    signature: Trx.signMessageV2(text, official.privateKey),
  });
  assert.equal(verifyTronProof(signed(message)), official.address);
  refused(signed(`${message}a`), /10001 bytes/);
});

// Both forms of the USDT contract, as published on developers.tron.network (TRC-20).
const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

const usdtHex = '41a614f803b6fd780986a42c78ec9c7f77e6ded13c';

const isNone = (text: string, why: RegExp) =>
  assert.throws(() => parseTronAddress(text), refuses('bad_address', why), text);

test('base58check and 41-hex in any case are one address', () => {
  const mixed = usdtHex.replaceAll('f', 'F');
  for (const text of [usdt, usdtHex, usdtHex.toUpperCase(), mixed]) {
    assert.equal(parseTronAddress(text), usdt);
  }
});

const base58check = createBase58check(sha256);
const leading = (byte: number) =>
  base58check.encode(Uint8Array.of(byte, ...new Uint8Array(20).fill(7)));
const form = /T and 33 base58/;

for (const [what, text, why] of [
  ['another last letter', `${usdt.slice(0, -1)}u`, /wrong checksum/],
  ['a letter less', usdt.slice(0, -1), form],
  ['a digit less', usdtHex.slice(0, -1), form],
  ['0x before', `0x${usdtHex}`, /without 0x/],
  ['an EVM address', `0x${usdtHex.slice(2)}`, /is an EVM address/],
  ['0x40 in front', leading(0x40), /leading byte is 64, not 65/],
  ['a Bitcoin address, as long', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', /leading byte is 0/],
  ['zeros', '1'.repeat(34), /holds 34 bytes, not 25/],
  ['very long', 'T'.repeat(100_000), /100000 characters/],
] as const) {
  test(`no address, and why: ${what}`, () => isNone(text, why));
}
