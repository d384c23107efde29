// ed25519 over plain text against RFC 8032, tweetnacl and @solana/kit.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import {
  createKeyPairFromPrivateKeyBytes,
  getAddressFromPublicKey,
  getBase58Decoder,
  getProgramDerivedAddress,
  address as kitAddress,
  signBytes,
} from '@solana/kit';
import fc from 'fast-check';
import nacl from 'tweetnacl';
import { ParleyError } from '../../core/errors.ts';
import { codePoint } from '../../test/support/code-points.ts';
import { runs } from '../../test/support/runs.ts';
import { parseSolanaAddress } from './address.ts';
import {
  type SolanaProof,
  signSolanaMessage,
  solanaAddressOfSeed,
  verifySolanaProof,
} from './proof.ts';

// RFC 8032, section 7.1: TEST 1 and TEST 2, those whose message is text.
const rfc8032 = [
  {
    seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    key: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    key: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: 'r',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
];
const proofOf = ({ key, message, signature }: (typeof rfc8032)[number]): SolanaProof => ({
  address: base58.encode(hexToBytes(key)),
  message,
  signature: base58.encode(hexToBytes(signature)),
});
const good = proofOf(rfc8032[1]!);

const refused = (proof: SolanaProof, why = /./) =>
  assert.throws(
    () => verifySolanaProof(proof),
    (error) =>
      error instanceof ParleyError && error.code === 'bad_signature' && why.test(error.message),
  );

const { p, n } = ed25519.Point.CURVE();
const littleEndian = (value: bigint) => hexToBytes(value.toString(16).padStart(64, '0')).reverse();

test('the signatures of RFC 8032 are accepted and made again', () => {
  for (const vector of rfc8032) {
    const proof = proofOf(vector);
    assert.equal(verifySolanaProof(proof), proof.address);
    const seed = hexToBytes(vector.seed);
    assert.equal(solanaAddressOfSeed(seed), proof.address);
    assert.equal(signSolanaMessage(seed, vector.message), proof.signature);
  }
});

test('tweetnacl and kit sign what is accepted and accept what is signed here', async () => {
  const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('東京 🗼 é\nNonce: 1'));
  await fc.assert(
    fc.asyncProperty(seeds, texts, async (seed, message) => {
      const bytes = utf8ToBytes(message);
      const pair = await createKeyPairFromPrivateKeyBytes(Uint8Array.from(seed));
      const address = await getAddressFromPublicKey(pair.publicKey);
      const byKit = getBase58Decoder().decode(await signBytes(pair.privateKey, bytes));
      const { secretKey, publicKey } = nacl.sign.keyPair.fromSeed(seed);
      const byNacl = base58.encode(nacl.sign.detached(bytes, secretKey));
      for (const signature of [byKit, byNacl]) {
        assert.equal(verifySolanaProof({ address, message, signature }), address);
        refused({ address, message: `${message} `, signature }, /another message/);
        refused({ address: good.address, message, signature }, /another key/);
      }
      const own = signSolanaMessage(seed, message);
      assert.equal(solanaAddressOfSeed(seed), address);
      assert.ok(nacl.sign.detached.verify(bytes, base58.decode(own), publicKey));
    }),
    { numRuns: runs(30) },
  );
});

test('a signature is 64 bytes in base58 and nothing else', () => {
  const bytes = base58.decode(good.signature);
  for (const length of [63, 65]) {
    refused({ ...good, signature: base58.encode(new Uint8Array(length).fill(9)) }, /bytes/);
  }
  for (const signature of [
    '',
    bytesToHex(bytes),
    `0x${bytesToHex(bytes)}`,
    Buffer.from(bytes).toString('base64'),
    ` ${good.signature}`,
    `${good.signature.slice(0, -1)}0`,
    '1'.repeat(63),
    'z'.repeat(89),
    'z'.repeat(1_000_000),
  ]) {
    refused({ ...good, signature }, /64 bytes in base58/);
  }
  refused({ ...good, signature: '1'.repeat(65) }, /holds 65 bytes/);
});

test('s beyond the group order is refused, though it satisfies the equation', () => {
  const bytes = base58.decode(good.signature);
  const s = BigInt(`0x${bytesToHex(bytes.slice(32).reverse())}`);
  const beyond = Uint8Array.of(...bytes.subarray(0, 32), ...littleEndian(s + n));
  // tweetnacl lets it pass, which shows that nothing but the rule refuses it.
  const key = base58.decode(good.address);
  assert.ok(nacl.sign.detached.verify(utf8ToBytes(good.message), beyond, key));
  refused({ ...good, signature: base58.encode(beyond) });
});

test('a point r that is not written canonically is refused, though the equation holds', () => {
  const { key, seed, message } = rfc8032[1]!;
  // r = 0, whose point has y = 1, written as y = p + 1; s = k a by whoever holds the key.
  const r = littleEndian(p + 1n);
  const text = utf8ToBytes(message);
  const hash = sha512(concatBytes(r, hexToBytes(key), text)).reverse();
  const k = BigInt(`0x${bytesToHex(hash)}`);
  const s = littleEndian((k * ed25519.utils.getExtendedPublicKey(hexToBytes(seed)).scalar) % n);
  const signature = concatBytes(r, s);
  assert.ok(ed25519.verify(signature, text, hexToBytes(key), { zip215: true }));
  refused({ ...good, signature: base58.encode(signature) });
  const canonical = concatBytes(littleEndian(1n), s);
  refused({ ...good, signature: base58.encode(canonical) });
});

test('a key of small order signs nothing, though its equation holds for every text', () => {
  // All eight: orders 1, 2, 4, 4, 8, 8, 8, 8.
  const eighth = 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a';
  const small = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
    eighth,
    `${eighth.slice(0, -2)}fa`,
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  ].map(hexToBytes);
  const identity = ed25519.Point.ZERO.toBytes();
  const signature = base58.encode(Uint8Array.of(...identity, ...new Uint8Array(32)));
  for (const key of small) {
    const address = parseSolanaAddress(base58.encode(key));
    const bytes = base58.decode(signature);
    assert.ok(ed25519.verify(bytes, utf8ToBytes('any text'), key, { zip215: true }));
    refused({ address, message: 'any text', signature }, /small order/);
  }
});

test('a key that is not written canonically is refused', () => {
  // y = p + 1 stands for the point with y = 1.
  const key = littleEndian(p + 1n);
  const signature = base58.encode(new Uint8Array(64));
  refused({ address: base58.encode(key), message: 'x', signature }, /no key of the curve/);
});

test("a program's address is off the curve and cannot sign", async () => {
  const programAddress = kitAddress('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
  const [address] = await getProgramDerivedAddress({ programAddress, seeds: ['vault'] });
  refused({ ...good, address }, /no key of the curve/);
});

test('an address of another family is refused as an address', () => {
  for (const address of ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', `0x${'ab'.repeat(20)}`]) {
    assert.throws(() => verifySolanaProof({ ...good, address }), { code: 'bad_address' });
  }
});

test('a message has at most 10 000 bytes', () => {
  const seed = hexToBytes(rfc8032[1]!.seed);
  for (const [message, holds] of [
    ['é'.repeat(5_000), true],
    [`${'é'.repeat(5_000)}a`, false],
  ] as const) {
    const proof = { ...good, message, signature: signSolanaMessage(seed, message) };
    if (holds) assert.equal(verifySolanaProof(proof), good.address);
    else refused(proof, /10001 bytes/);
  }
});

test('whatever stands for a signature is refused in words, never by a failure', () => {
  const signatures = fc.oneof(
    fc.string({ unit: codePoint, maxLength: 200 }),
    fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => base58.encode(bytes)),
    fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{63,89}$/),
    fc.tuple(fc.nat(63), fc.integer({ min: 1, max: 255 })).map(([at, flip]) => {
      const bytes = base58.decode(good.signature);
      bytes[at] = (bytes[at] as number) ^ flip;
      return base58.encode(bytes);
    }),
  );
  const keys = fc.oneof(
    fc.constant(good.address),
    fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes)),
  );
  fc.assert(
    fc.property(keys, signatures, (address, signature) => refused({ ...good, address, signature })),
    { numRuns: runs(300) },
  );
});
