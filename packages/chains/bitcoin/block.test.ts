// The first block of Bitcoin, whose bytes are known. Real ones, and lies about them:
// follower.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hexToBytes } from '@noble/hashes/utils.js';
import { blockOf } from './block.ts';

// Bitcoin Core, src/kernel/chainparams.cpp.
const hash = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';
const header = `01000000${'00'.repeat(32)}3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c`;
const body =
  '01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04' +
  'ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e20627' +
  '2696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000' +
  '434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35' +
  '504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac';

test('the first block is read, and proved once', async () => {
  const bytes = hexToBytes(`${header}01${body}00000000`);
  const block = blockOf('node', hash, bytes);
  const [coinbase] = await block.transactions();
  assert.equal(
    coinbase?.txid(),
    '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
  );
  assert.deepEqual([coinbase?.coinbase, coinbase?.outputs[0]?.amount], [true, 5_000_000_000n]);
  bytes.fill(1, -4);
  await block.transactions();
  await assert.rejects(blockOf('node', hash, bytes).transactions(), /Merkle root/);
});

test('a block without a commitment has no witnesses', async () => {
  const segwit = `${body.slice(0, 8)}0001${body.slice(8)}00`;
  const block = blockOf('node', hash, hexToBytes(`${header}01${segwit}00000000`));
  await assert.rejects(block.transactions(), /unproved witnesses/);
});
