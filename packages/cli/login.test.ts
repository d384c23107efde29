// Where keys come from, before anything is made of them. No market answers.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { opened } from '@parley/trader/keys/keystore.ts';
import { placesOf, writePrivate } from '@parley/trader/places.ts';
import { type Profile, writeProfile } from '@parley/trader/profile.ts';
import { runParley } from './run.ts';
import { testIo } from './testing/io.ts';

let home: string;
before(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-cli-login-'));
});
after(() => rm(home, { recursive: true, force: true }));

const published = `${'abandon '.repeat(11)}about`;

async function login(network: Profile['network'], ...args: string[]) {
  const readDescriptor = async (fd: number) => (fd === 4 ? 'testpassword' : published);
  const { io, said } = testIo(home, { readDescriptor });
  const named = { market: 'http://127.0.0.1:1', productName: 'Parley', shortName: 'parley' };
  const { profileFile } = placesOf({ HOME: home }, network);
  await writePrivate(profileFile, writeProfile({ ...named, network, chains: {} }));
  const status = await runParley(['login', '--profile', network, ...args], io);
  return { status, ...said };
}

test('keys come from one place, and from one that fits the network', async () => {
  const file = join(home, 'words');
  await writeFile(file, published, { mode: 0o600 });
  for (const [network, args, status, sentence] of [
    [
      'dev',
      ['--key-file', file, '--words'],
      2,
      /--words and --key-file are several places of keys/,
    ],
    ['dev', ['--web3', file, '--words'], 2, /--words and --web3 are several places/],
    ['dev', ['--new', '--words', '--yes'], 2, /--new and --words are several places/],
    ['dev', ['--new', '--words', '--key-file', file], 2, /several places/],
    ['mainnet', [], 7, /there are no keys yet/],
    // Real words on a network of play money.
    [
      'dev',
      ['--words'],
      7,
      /calls itself a dev network[\s\S]*"Use words of your own, and not --new\?"/,
    ],
    ['testnet', ['--words-fd', '3'], 7, /calls itself a testnet network/],
    ['dev', ['--key-file', file], 7, /Words of a real wallet do not belong here/],
    // Real money under words that others read.
    ['mainnet', ['--key-file', file], 7, /whoever reads that file[\s\S]*not in a keystore\?"/],
    ['mainnet', ['--key-file', join(home, 'new'), '--new'], 7, /whoever reads that file/],
    ['mainnet', ['--words-fd', '3', '--yes'], 7, /"abandon abandon abandon …" are published/],
    ['mainnet', ['--key-file', file, '--yes'], 7, /are published/],
  ] as const) {
    const said = await login(network, ...args);
    assert.equal(said.status, status, `${network} ${args.join(' ')}: ${said.err}`);
    assert.match(said.err, sentence);
    assert.equal(said.out, '');
  }
  // With play money they open the profile: the market is what lacks.
  const said = await login('dev', '--key-file', file, '--yes');
  assert.match(said.err, /the profile has no chain of evm/);
});

test('the EVM key of a Web3 keystore comes into the keystore, beside new words', async () => {
  const evm = '7a'.repeat(32);
  const file = join(home, 'web3.json');
  const crypto = {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '3c6186d7359b425d3feca910dfd24426' },
    ciphertext: '58f98daf3b7d297cfd9b133a40b96e50bd4bea491299f3156e10072c0c3d4079',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 1_000,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: '1d3f4157343ff7b28a6f2c252d0c18aa647eb802954af094f4f95b5ffb77984e',
    },
    mac: 'a77cec2345f6ba5500ba3a615f741e83d9df7fc5bd7ac85a04507ee7a947edc2',
  };
  await writeFile(file, JSON.stringify({ crypto, version: 3 }));
  const said = await login('testnet', '--web3', file, '--passphrase-fd', '4', '--yes');
  assert.match(said.err, /has no chain of evm/);
  const { keystore } = placesOf({ HOME: home }, 'testnet');
  const { words, imported } = await opened(await readFile(keystore, 'utf8'), 'testpassword');
  assert.deepEqual([words.split(' ').length, imported], [12, { evm }]);
});
