// BIP-322 simple signatures built by an independent library, bitcoinjs-lib with ecpair and
// @bitcoinerlab/secp256k1: taken when they are as the BIP says, refused with every other sighash.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import * as ecc from '@bitcoinerlab/secp256k1';
import { initEccLib, networks, payments, Transaction } from 'bitcoinjs-lib';
import { ECPairFactory, type ECPairInterface } from 'ecpair';
import fc from 'fast-check';
import { ParleyError } from '../../core/errors.ts';
import { runs } from '../../test/support/runs.ts';
import { bitcoinNetworks } from './networks.ts';
import {
  bip322MessageHash,
  type ProofKind,
  signBip322,
  toSignTransaction,
  toSpendTransaction,
  verifyBitcoinProof,
} from './proof.ts';

initEccLib(ecc);
const pairs = ECPairFactory(ecc);
const kinds: readonly ProofKind[] = ['p2wpkh', 'p2shP2wpkh', 'p2tr'];
const theirs = { mainnet: networks.bitcoin, testnet: networks.testnet, regtest: networks.regtest };
type Name = keyof typeof theirs;
const { ALL, NONE, SINGLE } = { ALL: 1, NONE: 2, SINGLE: 3 };
const message = 'Parley - link this wallet\n\nNonce: 0123456789abcdef';

const sha256 = (...parts: readonly Uint8Array[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** BIP-322, "Full": the message, tagged as BIP 340 says. */
function messageHash(text: string): Buffer {
  const tag = sha256(Buffer.from('BIP0322-signed-message'));
  return sha256(tag, tag, Buffer.from(text));
}

type Built = { address: string; script: Uint8Array; toSpend: Transaction; toSign: Transaction };

function build(pair: ECPairInterface, kind: ProofKind, text: string, name: Name): Built {
  const network = theirs[name];
  const { publicKey: pubkey } = pair;
  const wpkh = payments.p2wpkh({ pubkey, network });
  const paid = {
    p2wpkh: () => wpkh,
    p2shP2wpkh: () => payments.p2sh({ redeem: wpkh, network }),
    p2tr: () => payments.p2tr({ internalPubkey: pubkey.subarray(1), network }),
  }[kind]();
  const script = paid.output as Uint8Array;
  const toSpend = new Transaction();
  toSpend.version = 0;
  const commitment = Buffer.concat([Uint8Array.of(0, 32), messageHash(text)]);
  toSpend.addInput(new Uint8Array(32), 0xffff_ffff, 0, commitment);
  toSpend.addOutput(script, 0n);
  const toSign = new Transaction();
  toSign.version = 0;
  toSign.addInput(toSpend.getHash(), 0, 0);
  toSign.addOutput(Uint8Array.of(0x6a), 0n);
  return { address: paid.address as string, script, toSpend, toSign };
}

function witnessOf(...items: readonly Uint8Array[]): string {
  const parts = items.map((item) => Buffer.concat([Uint8Array.of(item.length), item]));
  return Buffer.concat([Uint8Array.of(items.length), ...parts]).toString('base64');
}

/** The signature with a sighash type that signs what that type says, and says so. */
function ecdsa(pair: ECPairInterface, kind: ProofKind, built: Built, type: number): string {
  const { output } = payments.p2pkh({ pubkey: pair.publicKey });
  const hash = built.toSign.hashForWitnessV0(0, output as Uint8Array, 0n, type);
  assert.notEqual(kind, 'p2tr');
  return witnessOf(encoded(pair.sign(hash), type), pair.publicKey);
}

/** 64 bytes as DER with a sighash byte; bitcoinjs-lib would refuse to write an unknown one. */
function encoded(compact: Uint8Array, type: number): Uint8Array {
  const integer = (from: number) => {
    const digits = Buffer.from(compact.subarray(from, from + 32));
    const first = digits.findIndex((byte) => byte !== 0);
    const plain = digits.subarray(first);
    const positive = (plain[0] as number) > 127 ? Buffer.concat([Uint8Array.of(0), plain]) : plain;
    return Buffer.concat([Uint8Array.of(2, positive.length), positive]);
  };
  const both = Buffer.concat([integer(0), integer(32)]);
  return Buffer.concat([Uint8Array.of(0x30, both.length), both, Uint8Array.of(type)]);
}

function schnorr(pair: ECPairInterface, built: Built, type: number): Uint8Array {
  const hash = built.toSign.hashForWitnessV1(0, [built.script], [0n], type);
  const tag = sha256(Buffer.from('TapTweak'));
  return pair.tweak(sha256(tag, tag, pair.publicKey.subarray(1))).signSchnorr(hash);
}

const check = (built: Built, signature: string, name: Name = 'regtest', text = message) =>
  verifyBitcoinProof({
    address: built.address,
    message: text,
    signature,
    network: bitcoinNetworks[name],
  });

const refused = (built: Built, signature: string) =>
  assert.throws(
    () => check(built, signature),
    (error) => error instanceof ParleyError && error.code === 'bad_signature',
  );

const good = (pair: ECPairInterface, kind: ProofKind, built: Built) =>
  kind === 'p2tr' ? witnessOf(schnorr(pair, built, 0)) : ecdsa(pair, kind, built, ALL);

const keys = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .filter((key) => ecc.isPrivate(key))
  .map((key) => pairs.fromPrivateKey(key));

test('the two transactions are those of bitcoinjs-lib', () => {
  const names = fc.constantFrom<Name>('mainnet', 'testnet', 'regtest');
  fc.assert(
    fc.property(keys, fc.constantFrom(...kinds), names, fc.string(), (pair, kind, name, text) => {
      const { script, toSpend, toSign } = build(pair, kind, text, name);
      assert.deepEqual(Buffer.from(bip322MessageHash(text)), messageHash(text));
      assert.equal(toSpendTransaction(text, script).id, toSpend.getId());
      assert.equal(toSignTransaction(text, script).id, toSign.getId());
    }),
    { numRuns: runs(60) },
  );
});

test('what bitcoinjs-lib signs is taken, bare and smp; of another text, key or network it is not', () => {
  const names = fc.constantFrom<Name>('mainnet', 'testnet', 'regtest');
  const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string());
  fc.assert(
    fc.property(
      keys,
      keys,
      fc.constantFrom(...kinds),
      names,
      texts,
      (pair, other, kind, name, text) => {
        const built = build(pair, kind, text, name);
        const signature = good(pair, kind, built);
        const pubkey = kind === 'p2tr' ? null : Buffer.from(pair.publicKey).toString('hex');
        assert.deepEqual(check(built, signature, name, text), { pubkey });
        assert.deepEqual(check(built, `smp${signature}`, name, text), { pubkey });
        const foreign = good(other, kind, build(other, kind, text, name));
        for (const [given, words] of [
          [signature, `${text}\n`],
          [foreign, text],
          [`ful${signature}`, text],
        ] as const) {
          assert.throws(() => check(built, given, name, words), /BIP-322 signature refused/);
        }
        const elsewhere = name === 'mainnet' ? 'testnet' : 'mainnet';
        assert.throws(() => check(built, signature, elsewhere, text), /is an address of Bitcoin/);
      },
    ),
    { numRuns: runs(40) },
  );
});

test('both libraries make the same ECDSA signature, and each the same addresses', () => {
  fc.assert(
    fc.property(keys, fc.constantFrom(...kinds), (pair, kind) => {
      const built = build(pair, kind, message, 'regtest');
      const made = signBip322({
        privateKey: pair.privateKey as Uint8Array,
        kind,
        message,
        network: bitcoinNetworks.regtest,
      });
      assert.equal(made.address, built.address);
      if (kind !== 'p2tr') assert.equal(made.signature, good(pair, kind, built));
    }),
    { numRuns: runs(20) },
  );
});

describe('a signature that is sound by itself is refused with the sighash', () => {
  const pair = pairs.fromPrivateKey(new Uint8Array(32).fill(7));
  for (const kind of ['p2wpkh', 'p2shP2wpkh'] as const) {
    const built = build(pair, kind, message, 'regtest');
    test(`of every byte but SIGHASH_ALL: ${kind}`, () => {
      check(built, ecdsa(pair, kind, built, ALL));
      for (let type = 0; type < 256; type += 1) {
        if (type !== ALL) refused(built, ecdsa(pair, kind, built, type));
      }
    });

    test(`of SIGHASH_ALL under every other byte: ${kind}`, () => {
      const { output } = payments.p2pkh({ pubkey: pair.publicKey });
      const hash = built.toSign.hashForWitnessV0(0, output as Uint8Array, 0n, ALL);
      const signature = pair.sign(hash);
      for (let byte = 0; byte < 256; byte += 1) {
        if (byte !== ALL) refused(built, witnessOf(encoded(signature, byte), pair.publicKey));
      }
      refused(built, witnessOf(encoded(signature, ALL).subarray(0, -1), pair.publicKey));
    });

    test(`of one byte and the claim of SIGHASH_ALL: ${kind}`, () => {
      const { output } = payments.p2pkh({ pubkey: pair.publicKey });
      for (const type of [0, NONE, SINGLE, 0x81, 0x82, 0x83]) {
        const hash = built.toSign.hashForWitnessV0(0, output as Uint8Array, 0n, type);
        refused(built, witnessOf(encoded(pair.sign(hash), ALL), pair.publicKey));
      }
    });
  }

  const built = build(pair, 'p2tr', message, 'regtest');
  const typed = (type: number, as = type) =>
    witnessOf(Buffer.concat([schnorr(pair, built, type), Uint8Array.of(as)]));

  test('of Taproot: 64 bytes are SIGHASH_DEFAULT, 65 end in SIGHASH_ALL and nothing else', () => {
    check(built, witnessOf(schnorr(pair, built, 0)));
    check(built, typed(ALL));
    for (const type of [NONE, SINGLE, 0x81, 0x82, 0x83]) {
      refused(built, typed(type));
      refused(built, typed(type, ALL));
      refused(built, witnessOf(schnorr(pair, built, type)));
    }
    for (let byte = 0; byte < 256; byte += 1) {
      if (byte === ALL) continue;
      refused(built, typed(0, byte));
      refused(built, typed(ALL, byte));
    }
    // What was signed is not what is claimed.
    refused(built, typed(0, ALL));
    refused(built, witnessOf(schnorr(pair, built, ALL)));
  });

  test('of Taproot: 63, 66 and 0 bytes', () => {
    const signature = schnorr(pair, built, 0);
    refused(built, witnessOf(signature.subarray(0, 63)));
    refused(built, witnessOf(Buffer.concat([signature, Uint8Array.of(1, 1)])));
    refused(built, witnessOf(new Uint8Array()));
  });

  test('of Taproot: by the inner key, not tweaked', () => {
    const hash = built.toSign.hashForWitnessV1(0, [built.script], [0n], 0);
    refused(built, witnessOf(pair.signSchnorr(hash)));
  });
});
