import assert from 'node:assert/strict';
import { test } from 'node:test';
import { banner, heldLine, partsLine } from './banner.ts';
import type { Ready } from './boot.ts';

const ready: Ready = {
  ready: true,
  url: 'http://127.0.0.1:8080',
  app: null,
  network: 'dev',
  chains: [
    { chain: 'bitcoin-regtest', family: 'bitcoin', rpcUrl: 'http://user:secret@127.0.0.1:1' },
    { chain: 'evm-dev', family: 'evm', rpcUrl: 'http://127.0.0.1:2', gasKey: '0xfee' },
  ],
  dev: null,
  database: 'embedded',
};

test('the screen shows which chains have a gas key, its address, and no password', () => {
  const lines = banner(ready).split('\n');
  assert.deepEqual(
    lines.filter((line) => line.includes('gas key')),
    ['  evm-dev          evm  http://127.0.0.1:2  gas key 0xfee'],
  );
  assert.ok(!banner(ready).includes('secret'));
});

test('the screen shows where the operator’s page is, and no line without one', () => {
  const operator = 'http://127.0.0.1:9464/operator';
  assert.match(
    banner({ ...ready, operator }),
    /^ {2}operator +http:\/\/127.0.0.1:9464\/operator$/m,
  );
  assert.doesNotMatch(banner(ready), /operator/);
});

test('the wait of agreements is said only where they wait', () => {
  assert.deepEqual(heldLine([]), []);
  const [line = ''] = heldLine(['one time', 'another']);
  assert.match(line, /^Agreements wait: .*\(one time; another\)\. /);
});

test('a start says what it will take', () => {
  const line = partsLine({ chains: null, databaseUrl: null, devEvmChains: 1 });
  assert.equal(line, 'It starts PostgreSQL and 4 dev chains first.');
  const own = { chains: [{} as never], devEvmChains: 1 };
  assert.equal(partsLine({ ...own, databaseUrl: null }), 'It starts PostgreSQL first.');
  assert.match(partsLine({ ...own, databaseUrl: 'postgres://a' }), /those of the settings/);
});
