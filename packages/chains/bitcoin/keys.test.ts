import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base64 } from '@scure/base';
import { WIF } from '@scure/btc-signer';
import { refuses } from '../testing/refusals.ts';
import {
  addressesOfPubkey,
  parsePublicKey,
  signedMessageHash,
  verifyKeySignature,
} from './keys.ts';
import { bitcoinNetworks } from './networks.ts';
import { keyOf, signKeySignature } from './testing/swaps.ts';

const generator = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';

describe('parsePublicKey', () => {
  it('takes a compressed key in any case and gives lower case', () => {
    assert.equal(parsePublicKey(generator.toUpperCase()), generator);
    assert.equal(parsePublicKey(generator.replace('02', '03')), generator.replace('02', '03'));
  });

  it('refuses everything else as bad_public_key', () => {
    const x = generator.slice(2);
    for (const text of [
      '',
      x,
      `04${x}`,
      `02${x}00`,
      `0x02${x}`,
      `02${x.slice(2)}`,
      // 5 is not the x of any point: 5^3 + 7 has no square root mod p.
      `02${'00'.repeat(31)}05`,
      `02${'ff'.repeat(32)}`,
    ]) {
      assert.throws(() => parsePublicKey(text), refuses('bad_public_key'), text);
    }
  });
});

describe('addressesOfPubkey', () => {
  it('gives the addresses of BIP 84 and BIP 86', () => {
    // BIP 84 test vector, first receiving address.
    const bip84 = '0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c';
    assert.equal(
      addressesOfPubkey(bip84, bitcoinNetworks.mainnet).p2wpkh,
      'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    );
    // BIP 86 test vector, first receiving address: its internal key, with either parity.
    const x = 'cc8a4bc64d897bddc5fbc2f670f7a8ba0b386779106cf1223c6fc5d7cd6fc115';
    for (const parity of ['02', '03']) {
      assert.equal(
        addressesOfPubkey(parity + x, bitcoinNetworks.mainnet).p2tr,
        'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr',
      );
    }
    // BIP 49 test vector (testnet), first receiving address.
    const bip49 = '03a1af804ac108a8a51782198c2d034b28bf90c8803f5a53f76276fa69a4eae77f';
    assert.equal(
      addressesOfPubkey(bip49, bitcoinNetworks.testnet).p2shP2wpkh,
      '2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2',
    );
  });
});

describe('a key signature', () => {
  const { privateKey, pubkey } = keyOf('taproot wallet');
  const about = { productName: 'Parley', pubkey, swapId: 'swap-1' };
  const signature = signKeySignature(about, privateKey);

  it('hashes as signmessage does', () => {
    // Vector of bitcoinjs-message, README: made by another implementation.
    const key = WIF().decode('L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1');
    const made = base64.decode(
      'H9L5yLFjti0QTHhPyFrZCT1V/MMnBtXKmoiKDZ78NDBjERki6ZTQZdSMCtkgoNmp17By9ItJr8o7ChX0XxY91nk=',
    );
    const hash = signedMessageHash('This is an example of a signed message.');
    const by = secp256k1.getPublicKey(key, true);
    assert.ok(secp256k1.verify(made.slice(1), hash, by, { prehash: false }));
  });

  it('holds with every header of BIP 137', () => {
    const bytes = base64.decode(signature);
    for (let header = 27; header <= 42; header += 1) {
      bytes[0] = header;
      verifyKeySignature(about, base64.encode(bytes));
    }
    for (const header of [0, 26, 43, 255]) {
      bytes[0] = header;
      assert.throws(
        () => verifyKeySignature(about, base64.encode(bytes)),
        refuses('bad_signature'),
      );
    }
  });

  it('is refused for the other parity of the key, which has the same BIP 86 address', () => {
    const flipped = (pubkey.startsWith('02') ? '03' : '02') + pubkey.slice(2);
    assert.throws(
      () => verifyKeySignature({ ...about, pubkey: flipped }, signature),
      refuses('bad_signature'),
    );
  });

  it('is refused for another swap, product or shape', () => {
    for (const other of [
      { ...about, swapId: 'swap-2' },
      { ...about, productName: 'Other' },
      { ...about, pubkey: keyOf('another').pubkey },
    ]) {
      assert.throws(() => verifyKeySignature(other, signature), refuses('bad_signature'));
    }
    for (const text of ['', '!!!', 'AAAA', base64.encode(new Uint8Array(65)), 'A'.repeat(9_999)]) {
      assert.throws(() => verifyKeySignature(about, text), refuses('bad_signature'), text);
    }
  });
});
