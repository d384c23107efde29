// Vectors: https://github.com/trezor/python-mnemonic/blob/master/vectors.json (BIP-39; 12 words),
// https://github.com/bitcoin/bips/blob/master/bip-0032.mediawiki#test-vectors (1 and 3).

import assert from 'node:assert/strict';
import { createHmac, pbkdf2Sync } from 'node:crypto';
import test from 'node:test';
import { inspect } from 'node:util';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { addressesOfPubkey } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { type PhraseKeys, phraseKeys } from './derive.ts';
import { checkPhrase } from './phrase.ts';

const about = `${'abandon '.repeat(11)}about`;
const legal = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

/** BIP-32, hardened steps only, by Node's own hashes: the reference for derive.ts. */
function hardenedBy(seed: string, path: readonly number[]): { key: string; chain: string } {
  const order = secp256k1.Point.Fn.ORDER;
  const hmac = (key: Buffer, data: Buffer) => createHmac('sha512', key).update(data).digest();
  let both = hmac(Buffer.from('Bitcoin seed'), Buffer.from(seed, 'hex'));
  for (const step of path) {
    const key = both.subarray(0, 32);
    const chain = both.subarray(32);
    const index = Buffer.alloc(4);
    index.writeUInt32BE(2 ** 31 + step);
    const child = hmac(chain, Buffer.concat([Buffer.alloc(1), key, index]));
    const tweak = child.toString('hex', 0, 32);
    const own = key.toString('hex');
    const sum = (BigInt(`0x${tweak}`) + BigInt(`0x${own}`)) % order;
    both = Buffer.concat([
      Buffer.from(sum.toString(16).padStart(64, '0'), 'hex'),
      child.subarray(32),
    ]);
  }
  return { key: both.toString('hex', 0, 32), chain: both.toString('hex', 32) };
}

test('the BIP-39 and BIP-32 vectors hold for what keys are held against below', () => {
  for (const [entropy, words, seed] of [
    [
      '00'.repeat(16),
      about,
      'c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04',
    ],
    [
      '7f'.repeat(16),
      legal,
      '2e8905819b8723fe2c1d161860e5ee1830318dbf49a83bd451cfb8440c28bd6fa457fe1296106559a3c80937a1c1069be3a3a5bd381ee6260e8d9739fce1f607',
    ],
  ] as const) {
    assert.equal(entropyToMnemonic(hexToBytes(entropy), wordlist), words);
    assert.equal(pbkdf2Sync(words, 'mnemonicTREZOR', 2048, 64, 'sha512').toString('hex'), seed);
  }
  for (const [seed, path, key] of [
    [
      '000102030405060708090a0b0c0d0e0f',
      [],
      'e8f32e723decf4051aefac8e2c93c9c5b214313817cdb01a1494b917c8436b35',
    ],
    [
      '000102030405060708090a0b0c0d0e0f',
      [0],
      'edb2e14f9ee77d26dd93b4ecede8d16ed408ce149b6cd80b0715a2d911a0afea',
    ],
    // A key that begins with zeros is not cut.
    [
      '4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4acba45d239319ac14f863b8d5ab5a0d0c64d2e8a1e7d1457df2e5a3c51c73235be',
      [],
      '00ddb80b067e0d4993197fe10f2657a844a384589847602d56f0c629c81aae32',
    ],
  ] as const) {
    assert.equal(hardenedBy(seed, path).key, key);
  }
});

test('secrets, Bitcoin keys and the seal come by the documented path, each network its own', async () => {
  for (const words of [about, legal]) {
    const seed = pbkdf2Sync(words, 'mnemonic', 2048, 64, 'sha512').toString('hex');
    for (const [network, number, bitcoin] of [
      ['mainnet', 0, 'mainnet'],
      ['testnet', 1, 'testnet'],
      ['dev', 2, 'regtest'],
    ] as const) {
      const keys = await phraseKeys(words, network);
      const at = (...rest: number[]) => hardenedBy(seed, [1_347_570_777, number, 1, ...rest]).key;
      const under = (key: string, data: Buffer) =>
        createHmac('sha256', Buffer.from(key, 'hex')).update(data).digest('hex');
      const index = Buffer.from('0abcdef00fff0063', 'hex');
      const secret = keys.secretAt({ slot: 0x0abcdef0, draw: 0xfff, nth: 99 });
      assert.equal(bytesToHex(secret), under(at(0), index));
      for (const nth of [0, 1, 2 ** 31 - 1]) {
        const { privateKey, pubkey, address } = keys.bitcoinKey(nth);
        assert.equal(privateKey, at(1, nth));
        assert.equal(pubkey, bytesToHex(secp256k1.getPublicKey(hexToBytes(privateKey), true)));
        assert.equal(address, addressesOfPubkey(pubkey, bitcoinNetworks[bitcoin]).p2wpkh);
      }
      assert.equal(keys.seal('text'), under(at(2), Buffer.from('text')));
    }
  }
});

test('the scheme is never changed: these values are of version 1', async () => {
  const keys = await phraseKeys(about, 'mainnet');
  const secret = bytesToHex(keys.secretAt({ slot: 180_000_000, draw: 7, nth: 0 }));
  assert.deepEqual([secret, keys.bitcoinKey(0).pubkey], golden);
});
const golden = [
  '3fbdee3f78014512948fc337dc74fbb7ca018c8e6676dd6a9c05e3a22383c6f2',
  '0336bed825196013a12766e0d22c398bb3461b752dc9a93500d612accd80aadaef',
];

test('a phrase is checked word by word: what is wrong is named, with the nearest word', () => {
  const wrong = (at: number, word: string, nearest: string) => ({
    ok: false,
    fault: 'words',
    wrong: [{ at, word, nearest }],
  });
  const last = legal.replace(/yellow$/, '');
  for (const [typed, expected] of [
    [legal, { ok: true, phrase: legal }],
    [`  ${legal.toUpperCase().replaceAll(' ', '\n\t')} `, { ok: true, phrase: legal }],
    ['', { ok: false, fault: 'count', count: 0 }],
    [last, { ok: false, fault: 'count', count: 11 }],
    [`${legal} ${legal}`, { ok: false, fault: 'count', count: 24 }],
    [`${last}yellwo`, wrong(12, 'yellwo', 'yellow')],
    [`${last}yelow`, wrong(12, 'yelow', 'yellow')],
    [legal.replace('sausage', 'sausige'), wrong(6, 'sausige', 'sausage')],
    [`${last}zoo`, { ok: false, fault: 'checksum' }],
    [legal.replace('thank year', 'year thank'), { ok: false, fault: 'checksum' }],
  ] as const) {
    assert.deepEqual(checkPhrase(typed), expected, typed);
  }
});

test('neither an error nor a printed object holds a word or a key', async () => {
  const typed = legal.replace('yellow', 'zoo');
  const shows = (error: unknown) => inspect(error, { depth: 9, showHidden: true });
  await assert.rejects(phraseKeys(typed, 'dev'), (error) => {
    const words = legal.split(' ').filter((word) => !['thank', 'year'].includes(word));
    for (const word of words) assert.ok(!shows(error).includes(` ${word} `), word);
    return (error as { code: string }).code === 'bad_phrase';
  });
  const keys: PhraseKeys = await phraseKeys(legal, 'dev');
  assert.deepEqual(JSON.parse(JSON.stringify(keys)), { network: 'dev' });
  assert.ok(!shows(keys).includes(keys.bitcoinKey(0).privateKey));
});
