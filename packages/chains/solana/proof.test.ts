// ed25519 over plain text against RFC 8032, tweetnacl and @solana/kit.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { runs } from '@parley/verify/test/support/runs.ts';
import { base58 } from '@scure/base';
import {
  createKeyPairFromPrivateKeyBytes,
  getAddressFromPublicKey,
  getBase58Decoder,
  getOffchainMessageV0Encoder,
  getOffchainMessageV1Encoder,
  getProgramDerivedAddress,
  address as kitAddress,
  type OffchainMessageSignatory,
  offchainMessageApplicationDomain,
  signBytes,
} from '@solana/kit';
import fc from 'fast-check';
import nacl from 'tweetnacl';
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

test('a signature is 64 bytes in base58, and what else comes is named', () => {
  const bytes = base58.decode(good.signature);
  for (const text of [` ${good.signature}\r\n`, `\u200b${good.signature}\u00a0`]) {
    assert.equal(verifySolanaProof({ ...good, signature: text }), good.address);
  }
  for (const length of [63, 65]) {
    refused({ ...good, signature: base58.encode(new Uint8Array(length).fill(9)) }, /bytes/);
  }
  for (const [signature, why] of [
    ['', /it must be/],
    [bytesToHex(bytes), /it is hex, and base58 is wanted: it must be/],
    [`0x${bytesToHex(bytes)}`, /it is hex, and base58/],
    [Buffer.from(bytes).toString('base64'), /it is base64, and base58/],
    [Buffer.from(bytes).toString('base64url'), /it is base64url or has no padding, and base58/],
    [`${good.signature.slice(0, -1)}0`, /it is (?:base64|not base58)/],
    [`${good.signature.slice(0, 40)}\n${good.signature.slice(40)}`, /it is not base58/],
    ['1'.repeat(63), /it must be/],
    ['z'.repeat(1_000_000), /it must be/],
  ] as const) {
    refused({ ...good, signature }, why);
    refused({ ...good, signature }, /64 bytes in base58/);
  }
  refused({ ...good, signature: '1'.repeat(65) }, /holds 65 bytes/);
});

// A hardware wallet's envelope: https://docs.anza.xyz/proposals/off-chain-message-signing
describe('an off-chain envelope', () => {
  const seed = hexToBytes(rfc8032[1]!.seed);
  const { address } = good;
  const other = hexToBytes(rfc8032[0]!.key);
  const text = 'Parley asks you to sign to link this wallet.\n\nNonce: 1';
  const by = (bytes: Uint8Array, message = text) => {
    return { address, message, signature: base58.encode(ed25519.sign(bytes, seed)) };
  };
  const domain = concatBytes(Uint8Array.of(0xff), utf8ToBytes('solana offchain'));
  const short = (format: number, message = text) => {
    const { length } = utf8ToBytes(message);
    const header = Uint8Array.of(0, format, length & 0xff, length >> 8);
    return concatBytes(domain, header, utf8ToBytes(message));
  };
  const [own, stranger] = [{ address }, { address: base58.encode(other) }] as unknown as [
    OffchainMessageSignatory,
    OffchainMessageSignatory,
  ];
  type How = { readonly of?: string; readonly at?: string; readonly signers?: (typeof own)[] };
  const long = (format: 1 | 2, { of = text, at = '1'.repeat(32), signers = [own] }: How = {}) =>
    Uint8Array.from(
      getOffchainMessageV0Encoder().encode({
        version: 0,
        applicationDomain: offchainMessageApplicationDomain(at),
        content: { format, text: of } as never,
        requiredSignatories: signers,
      }),
    );
  const second = (signers = [own], of = text) =>
    Uint8Array.from(
      getOffchainMessageV1Encoder().encode({
        version: 1,
        content: of,
        requiredSignatories: signers,
      }),
    );
  const ascii = (bytes: Uint8Array) => Uint8Array.from(bytes, (each, at) => (at === 49 ? 0 : each));

  test('the envelope of the published vector is the bytes of version 0', () => {
    // solana-sdk, offchain_message.rs: test_offchain_message_ascii.
    const vector = 'ff736f6c616e61206f6666636861696e00000c0054657374204d657373616765';
    assert.equal(bytesToHex(short(0, 'Test Message')), vector);
    const proof = by(hexToBytes(vector), 'Test Message');
    assert.equal(verifySolanaProof(proof), address);
  });

  test('an envelope of format 0 or 1, with the short or the long header, or of version 1 proves the text', () => {
    for (const bytes of [short(0), short(1), ascii(long(1)), long(1), second()]) {
      assert.equal(verifySolanaProof(by(bytes)), address);
      refused(by(bytes, `${text}.`), /another message/);
      const named = verifySolanaProof.bind(null, { ...by(bytes), address: stranger.address });
      assert.throws(named, { code: 'bad_signature' });
    }
    const accented = 'Grüße 你好';
    assert.equal(verifySolanaProof(by(long(1, { of: accented }), accented)), address);
    for (const bytes of [short(2), long(2), concatBytes(domain, utf8ToBytes(text))]) {
      refused(by(bytes), /another message/);
    }
    // A message for another wallet alone.
    refused(by(long(1, { signers: [stranger] })), /another message/);
  });
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
