// Keys by the vectors of those who specified them, and files that are altered, cut or foreign.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import { solanaMessageSigner } from '@parley/sdk/wallets/solana.ts';
import { tronMessageSigner } from '@parley/sdk/wallets/tron.ts';
import { HDKey } from '@scure/bip32';
import { Failure } from '../failures.ts';
import { opened, sealed } from './keystore.ts';
import { openWeb3 } from './web3.ts';
import { childWords, ed25519Key, keysOf, mustBeWords, newWords } from './words.ts';

const about = `${'abandon '.repeat(11)}about`;
const codeIs = (code: string) => (error: unknown) =>
  error instanceof Failure && error.code === code;

test('words give the keys that other wallets find under them', async () => {
  const { wallets, rescue } = await keysOf(about, 'mainnet');
  const { evm, bitcoin, tron, solana } = wallets;
  const node = { rpcUrl: 'http://127.0.0.1:1', chainId: 1 };
  const signer = evmWallet({ ...node, privateKey: `0x${evm}` });
  // Trezor, Ledger and MetaMask show these.
  assert.equal(signer.address, '0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
  // BIP-84, "Test vectors": first receiving address.
  assert.equal(
    bitcoinWallet({ privateKey: bitcoin, network: 'mainnet' }).address,
    'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
  );
  assert.equal(
    tronMessageSigner({ privateKey: tron }).address,
    'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH',
  );
  // Phantom and Solflare show this.
  assert.equal(
    solanaMessageSigner({ secretKey: hexToBytes(solana) }).address,
    'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
  );
  assert.equal(rescue, about);
  const { wallets: onDev } = await keysOf(about, 'dev', { evm: '11'.repeat(32) });
  assert.equal(onDev.evm, '11'.repeat(32));
  assert.equal(onDev.tron, tron);
  assert.notEqual(onDev.bitcoin, bitcoin);
});

test('ed25519 keys are those of SLIP-0010, vector 1 and vector 2', () => {
  const one = hexToBytes('000102030405060708090a0b0c0d0e0f');
  const two = hexToBytes(
    'fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542',
  );
  for (const [seed, path, key] of [
    [one, [], '2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7'],
    [one, [0], '68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3'],
    [
      one,
      [0, 1, 2, 2, 1_000_000_000],
      '8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793',
    ],
    [two, [0], '1559eb2bbec5790b0c65d8693e4d0875b1747f4970ae8b650486ed7470845635'],
  ] as const) {
    assert.equal(bytesToHex(ed25519Key(seed, path)), key);
  }
});

test('the rescue words of a longer phrase are those of BIP-85', async () => {
  // BIP-85, application 39, 12 English words.
  const master =
    'xprv9s21ZrQH143K2LBWUUQRFXhucrQqBpKdRRxNVq2zBqsx8HVqFk2uYo8kmbaLLHRdqtQpUm98uKfu3vca1LqdGhUtyoFnCNkfmXRyPXLjbKb';
  assert.equal(
    childWords(HDKey.fromExtendedKey(master)),
    'girl mad pet galaxy egg matter matrix prison refuse sense ordinary nose',
  );
  const long = `${'abandon '.repeat(23)}art`;
  const { rescue } = await keysOf(long, 'mainnet');
  assert.equal(rescue.split(' ').length, 12);
  assert.ok(!long.startsWith(rescue));
});

test('words that are none are refused, and no word is told', () => {
  assert.equal(mustBeWords(`  ${about.toUpperCase()}\n`), about);
  for (const [typed, sentence] of [
    ['abandon about', /this has 2$/],
    [about.replace('about', 'aboutt'), /^word 12 is not/],
    [about.replace('about', 'zoo'), /checksum/],
  ] as const) {
    assert.throws(
      () => mustBeWords(typed),
      (error: Error) => sentence.test(error.message) && !/abandon|zoo|aboutt/.test(error.message),
    );
  }
  assert.notEqual(newWords(), newWords());
});

test('XChaCha20-Poly1305 is that of draft-irtf-cfrg-xchacha-03, A.3.1', () => {
  const plain = utf8ToBytes(
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for " +
      'the future, sunscreen would be it.',
  );
  const key = hexToBytes('808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f');
  const nonce = hexToBytes('404142434445464748494a4b4c4d4e4f5051525354555657');
  const made = bytesToHex(
    xchacha20poly1305(key, nonce, hexToBytes('50515253c0c1c2c3c4c5c6c7')).encrypt(plain),
  );
  assert.ok(made.startsWith('bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb'));
  assert.ok(made.endsWith('c0875924c1c7987947deafd8780acf49'));
});

test('a keystore opens by its passphrase alone, and not when anything of it was altered', async () => {
  const content = { words: about, imported: { evm: '11'.repeat(32) } };
  const file = await sealed(content, 'correct horse');
  assert.ok(!file.includes('abandon') && !file.includes(content.imported.evm));
  assert.deepEqual(await opened(file, 'correct horse'), content);
  await assert.rejects(opened(file, 'correct horsf'), codeIs('wrong_passphrase'));
  const written = JSON.parse(file) as {
    version: number;
    kdf: Record<string, unknown>;
    cipher: Record<string, string>;
    ciphertext: string;
  };
  // Less work than was authenticated, and less than is ever taken.
  for (const [altered, code] of [
    [{ ...written, kdf: { ...written.kdf, p: 2 } }, 'wrong_passphrase'],
    [{ ...written, kdf: { ...written.kdf, n: 2 ** 16 } }, 'bad_keystore'],
    [{ ...written, kdf: { ...written.kdf, n: 2 ** 21 } }, 'bad_keystore'],
    [{ ...written, kdf: { ...written.kdf, p: 1_000 } }, 'bad_keystore'],
    [{ ...written, cipher: { ...written.cipher, nonce: '00' } }, 'bad_keystore'],
    [{ ...written, version: 2 }, 'newer_keystore'],
    [{}, 'foreign_keystore'],
  ] as const) {
    await assert.rejects(opened(JSON.stringify(altered), 'correct horse'), codeIs(code));
  }
  await assert.rejects(opened(file.slice(0, 100), 'correct horse'), codeIs('foreign_keystore'));
  await assert.rejects(sealed(content, 'seven77'), codeIs('short_passphrase'));
  assert.ok(Buffer.from(written.ciphertext, 'base64').length % 512 === 16, 'it is padded');
});

const secret = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d';
/** The two of the Web3 Secret Storage Definition. */
const web3 = {
  pbkdf2: {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
      ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
      kdf: 'pbkdf2',
      kdfparams: {
        c: 262_144,
        dklen: 32,
        prf: 'hmac-sha256',
        salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
      },
      mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
    },
    version: 3,
  },
  scrypt: {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
      ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
      kdf: 'scrypt',
      kdfparams: {
        dklen: 32,
        n: 262_144,
        r: 1,
        p: 8,
        salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
      },
      mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
    },
    version: 3,
  },
} as const;

test('Web3 keystores of version 3 open as their definition says', () => {
  for (const each of [web3.pbkdf2, web3.scrypt]) {
    assert.equal(openWeb3(JSON.stringify(each), 'testpassword'), secret);
  }
  const { crypto } = web3.pbkdf2;
  for (const altered of [
    { version: 3, crypto: { ...crypto, mac: '00'.repeat(32) } },
    { version: 1, crypto },
    { version: 3, crypto: { ...crypto, cipher: 'aes-128-cbc' } },
  ]) {
    const opens = () => openWeb3(JSON.stringify(altered), 'testpassword');
    assert.throws(opens, codeIs('wrong_passphrase'));
  }
});

test('a Web3 keystore that asks for hours of work is refused before it begins', () => {
  const asks = (of: keyof typeof web3, more: object) => {
    const { version, crypto } = web3[of];
    const kdfparams = { ...crypto.kdfparams, ...more };
    return JSON.stringify({ version, crypto: { ...crypto, kdfparams } });
  };
  for (const [file, numbers] of [
    [asks('pbkdf2', { c: 10_000_001 }), /10000001 of pbkdf2, above 10000000/],
    [asks('scrypt', { n: 2, r: 1, p: 2 ** 22 + 1 }), /8388610 of scrypt, above 8388608/],
    [asks('scrypt', { p: 1_000 }), /262144000 of scrypt/],
  ] as const) {
    const isRefusal = (error: Error) =>
      codeIs('bad_keystore')(error) && numbers.test(error.message);
    assert.throws(() => openWeb3(file, 'testpassword'), isRefusal);
  }
});
