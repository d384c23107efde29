import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  devChainIds,
  mainnetChainIds,
  testnetChainIds,
  worldOfBitcoin,
  worldOfChainId,
} from './worlds.ts';

test('a chain whose coins have value is never taken for a test network', () => {
  for (const id of [1, 10, 56, 137, 250, 1_101, 5_000, 8_453, 42_161, 42_220, 43_114]) {
    assert.equal(worldOfChainId(id), 'mainnet', `${id}`);
  }
});

test('public test networks and local nodes are known as such', () => {
  for (const id of [17_000, 84_532, 421_614, 560_048, 11_155_111, 11_155_420]) {
    assert.equal(worldOfChainId(id), 'testnet', `${id}`);
  }
  for (const id of [1_337, 31_337, 31_340]) assert.equal(worldOfChainId(id), 'dev', `${id}`);
});

test('an unknown chain id belongs to no world', () => {
  for (const id of [0, 2, 31_341, 123_456_789]) assert.equal(worldOfChainId(id), null, `${id}`);
});

test('no chain id is in two tables', () => {
  const all = [...mainnetChainIds, ...testnetChainIds, ...devChainIds];
  assert.equal(new Set(all).size, all.length);
});

test('every public test network of Bitcoin is testnet, regtest is dev', () => {
  assert.equal(worldOfBitcoin('mainnet'), 'mainnet');
  assert.equal(worldOfBitcoin('testnet'), 'testnet');
  assert.equal(worldOfBitcoin('signet'), 'testnet');
  assert.equal(worldOfBitcoin('regtest'), 'dev');
});
