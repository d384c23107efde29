import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  devChainIds,
  mainnetChainIds,
  testnetChainIds,
  worldOfBitcoin,
  worldOfChainId,
} from './worlds.ts';

test('a chain is of one world, and an unknown one of none', () => {
  for (const [id, world] of [
    [1, 'mainnet'],
    [8_453, 'mainnet'],
    [11_155_111, 'testnet'],
    [31_337, 'dev'],
    [0, null],
    [123_456_789, null],
  ] as const) {
    assert.equal(worldOfChainId(id), world, `${id}`);
  }
  const all = [...mainnetChainIds, ...testnetChainIds, ...devChainIds];
  assert.equal(new Set(all).size, all.length);
});

test('every public test network of Bitcoin is testnet, regtest is dev', () => {
  const networks = ['mainnet', 'testnet', 'signet', 'regtest'] as const;
  assert.deepEqual(networks.map(worldOfBitcoin), ['mainnet', 'testnet', 'testnet', 'dev']);
});
