import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { p2pkh, WIF } from '@scure/btc-signer';
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js';
import { refuses } from '../testing/refusals.ts';
import { addressesOfPubkey } from './keys.ts';
import { bitcoinNetworks, parseBitcoinAddress } from './networks.ts';
import {
  bip322MessageHash,
  type ProofKind,
  signBip322,
  toSignTransaction,
  toSpendTransaction,
  verifyBitcoinProof,
} from './proof.ts';
import vectors from './testing/bip322-vectors.json' with { type: 'json' };

const { invalidVectors, nestedToSpend, transactionVectors, validVectors } = vectors;

const { mainnet: network, regtest } = bitcoinNetworks;

describe('the vectors of BIP-322', () => {
  for (const vector of transactionVectors) {
    it(`hashes "${vector.message}" and its two transactions as the BIP does`, () => {
      const { script } = parseBitcoinAddress(vector.address, network);
      assert.equal(bytesToHex(bip322MessageHash(vector.message)), vector.messageHash);
      assert.equal(toSpendTransaction(vector.message, script).id, vector.toSpend);
      assert.equal(toSignTransaction(vector.message, script).id, vector.toSign);
    });
  }
  it('make the same to_spend of a P2SH-P2WPKH address', () => {
    const { script } = parseBitcoinAddress(nestedToSpend.address, network);
    assert.equal(toSpendTransaction(nestedToSpend.message, script).id, nestedToSpend.toSpend);
  });
  for (const [at, vector] of validVectors.entries()) {
    it(`accepts vector ${at} [${vector.source}] of ${vector.address}, bare and smp`, () => {
      const { address, message, signature, pubkey } = vector;
      const bare = signature.startsWith('smp') ? signature.slice(3) : signature;
      for (const each of [bare, `smp${bare}`]) {
        assert.deepEqual(verifyBitcoinProof({ address, message, signature: each, network }), {
          pubkey,
        });
      }
    });
  }
  for (const vector of validVectors.filter(({ wif }) => wif !== null)) {
    it(`signs "${vector.message}" for ${vector.address} as vector [${vector.source}]`, () => {
      const privateKey = WIF(network).decode(vector.wif ?? '');
      const kinds: Record<string, ProofKind> = { bc1q: 'p2wpkh', bc1p: 'p2tr' };
      const kind = kinds[vector.address.slice(0, 4)] ?? 'p2shP2wpkh';
      const prefixed = vector.signature.startsWith('smp');
      const { message } = vector;
      const made = signBip322({ privateKey, kind, message, network, prefixed });
      assert.equal(made.address, vector.address);
      // Auxiliary randomness of BIP 340 is the signer's own: P2TR signatures are compared by
      // verifying them.
      if (kind !== 'p2tr') assert.equal(made.signature, vector.signature);
      const { address, signature } = made;
      verifyBitcoinProof({ address, message, signature, network });
    });
  }
  for (const vector of invalidVectors) {
    it(`refuses: ${vector.description} [${vector.source}]`, () => {
      const { address, message, signature } = vector;
      assert.throws(
        () => verifyBitcoinProof({ address, message, signature, network }),
        refuses('bad_signature'),
      );
    });
  }
});

const privateKey = new Uint8Array(32).fill(7);
const pubkey = bytesToHex(secp256k1.getPublicKey(privateKey, true));
const message = 'Parley - create an API key';

function stack(...items: Uint8Array[]): string {
  return base64.encode(
    Uint8Array.from([items.length, ...items.flatMap((item) => [item.length, ...item])]),
  );
}

function itemsOf(signature: string): Uint8Array[] {
  const bytes = base64.decode(signature);
  const items: Uint8Array[] = [];
  for (let at = 1; at < bytes.length; at += 1 + (bytes[at] ?? 0)) {
    items.push(bytes.slice(at + 1, at + 1 + (bytes[at] ?? 0)));
  }
  return items;
}

/** The sighash type that is signed, and the one in the signature's last byte. */
const sighashes: readonly (readonly [number, number])[] = [
  ...Array.from({ length: 256 }, (_, said) => [1, said] as const),
  ...[2, 3, 0x81, 0x82, 0x83].flatMap((type) => [[type, type] as const, [type, 1] as const]),
];

function refused(kind: ProofKind, signature: string, why = /./): void {
  const address = addressesOfPubkey(pubkey, regtest)[kind];
  assert.throws(
    () => verifyBitcoinProof({ address, message, signature, network: regtest }),
    refuses('bad_signature', why),
    `${kind} ${signature}`,
  );
}

describe('a proof', () => {
  it('is refused with a high S, which any third party can make', () => {
    const { signature } = signBip322({ privateKey, kind: 'p2wpkh', message, network: regtest });
    const [ecdsa = new Uint8Array(), key = new Uint8Array()] = itemsOf(signature);
    const low = secp256k1.Signature.fromBytes(ecdsa.slice(0, -1), 'der');
    const high = new secp256k1.Signature(low.r, secp256k1.Point.CURVE().n - low.s);
    const mirrored = stack(Uint8Array.from([...high.toBytes('der'), 1]), key);
    refused('p2wpkh', mirrored);
    const { p2wpkh: address } = addressesOfPubkey(pubkey, regtest);
    const proof = { address, message, signature: mirrored, network: regtest };
    assert.throws(() => verifyBitcoinProof(proof), /high S/);
  });

  it('is refused with any witness but the exact one', () => {
    const { signature } = signBip322({ privateKey, kind: 'p2wpkh', message, network: regtest });
    const [ecdsa = new Uint8Array(), key = new Uint8Array()] = itemsOf(signature);
    const other = secp256k1.getPublicKey(new Uint8Array(32).fill(9), true);
    const uncompressed = secp256k1.getPublicKey(privateKey, false);
    const flipped = Uint8Array.from(key);
    flipped[0] = key[0] === 2 ? 3 : 2;
    const empty = new Uint8Array();
    for (const items of [
      [key, ecdsa],
      [ecdsa],
      [ecdsa, key, empty],
      [empty, ecdsa, key],
      [ecdsa, other],
      [ecdsa, uncompressed],
      [ecdsa, flipped],
      [empty, key],
    ]) {
      refused('p2wpkh', stack(...items));
    }
    refused('p2wpkh', base64.encode(Uint8Array.from([...base64.decode(signature), 0])));
    refused('p2wpkh', base64.encode(base64.decode(signature).slice(0, -1)));
    refused('p2wpkh', `smpsmp${signature}`);
    refused('p2wpkh', 'A'.repeat(100_000));
  });

  it('a proof of a Taproot address is refused with an annex or a script path', () => {
    const { signature } = signBip322({ privateKey, kind: 'p2tr', message, network: regtest });
    const [schnorr = new Uint8Array()] = itemsOf(signature);
    refused('p2tr', stack(schnorr, Uint8Array.of(0x50)));
    refused('p2tr', stack(schnorr, Uint8Array.of(0x51), new Uint8Array(33).fill(0xc0)));
  });

  it('signs with SIGHASH_ALL and says so: any other byte, or what it says, is refused', () => {
    for (const kind of ['p2wpkh', 'p2shP2wpkh'] as const) {
      const { address, signature } = signBip322({ privateKey, kind, message, network: regtest });
      const [, key = new Uint8Array()] = itemsOf(signature);
      const { script } = parseBitcoinAddress(address, regtest);
      const tx = toSignTransaction(message, script);
      const code = p2pkh(key, regtest).script;
      for (const [signed, said] of sighashes) {
        const hash = tx.preimageWitnessV0(0, code, signed, 0n);
        const der = secp256k1.sign(hash, privateKey, { prehash: false, format: 'der' });
        const made = stack(Uint8Array.from([...der, said]), key);
        if (signed !== 1 || said !== 1) refused(kind, made);
        else verifyBitcoinProof({ address, message, signature: made, network: regtest });
      }
    }
  });

  it('a proof of Taproot is 64 bytes of SIGHASH_DEFAULT, or 65 that end in SIGHASH_ALL, by the tweaked key', () => {
    const { address } = signBip322({ privateKey, kind: 'p2tr', message, network: regtest });
    const { script } = parseBitcoinAddress(address, regtest);
    const tx = toSignTransaction(message, script);
    const tweaked = taprootTweakPrivKey(privateKey, new Uint8Array());
    const by = (type: number, key = tweaked) =>
      schnorr.sign(tx.preimageWitnessV1(0, [script], type, [0n]), key);
    const good = (signature: string) =>
      verifyBitcoinProof({ address, message, signature, network: regtest });
    good(stack(by(0)));
    good(stack(Uint8Array.from([...by(1), 1])));
    refused('p2tr', stack(by(0, privateKey)));
    refused('p2tr', stack(by(1)));
    for (const [signed, said] of [...sighashes, [0, 1] as const]) {
      if (signed !== 1 || said !== 1)
        refused('p2tr', stack(Uint8Array.from([...by(signed), said])));
    }
    for (const bytes of [new Uint8Array(), by(0).subarray(0, 63), [...by(0), 1, 1]]) {
      refused('p2tr', stack(Uint8Array.from(bytes)));
    }
  });

  it('in another form of a wallet is refused with the way out', () => {
    const { signature } = signBip322({ privateKey, kind: 'p2wpkh', message, network: regtest });
    const bytes = base64.decode(signature);
    const [ecdsa = new Uint8Array()] = itemsOf(signature);
    for (const [text, why] of [
      [base64.encode(Uint8Array.of(39, ...new Uint8Array(64).fill(7))), /not one witness stack/],
      [base64.encode(ecdsa), /not one witness stack/],
      [bytesToHex(bytes), /it is hex, and base64 is wanted/],
      [signature.replace(/=*$/, '').slice(0, -1), /base64url or has no padding/],
      [`${signature.slice(0, 64)}\n${signature.slice(64)}`, /it is not base64/],
      ['not a signature', /it is not base64/],
    ] as const) {
      refused('p2wpkh', text, why);
      refused('p2wpkh', text, /: choose BIP-322 simple in the wallet, or trade by the app/);
    }
  });

  it('a proof of an address that cannot prove itself is refused by the kinds that can', () => {
    const address = p2pkh(hexToBytes(pubkey), regtest).address as string;
    const signature = base64.encode(Uint8Array.of(31, ...new Uint8Array(64)));
    assert.throws(
      () => verifyBitcoinProof({ address, message, signature, network: regtest }),
      refuses('bad_signature', /a P2PKH address cannot .* P2WPKH, P2SH-P2WPKH or P2TR/),
    );
  });
});
