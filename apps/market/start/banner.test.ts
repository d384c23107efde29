import assert from 'node:assert/strict';
import { test } from 'node:test';
import { banner, heldLine } from './banner.ts';
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

test('the wait of agreements is said only where they wait', () => {
  assert.deepEqual(heldLine([]), []);
  const [line = ''] = heldLine(['one time', 'another']);
  assert.match(line, /^Agreements wait: .*\(one time; another\)\. /);
});
