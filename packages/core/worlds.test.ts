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
  for (const [world, ...ids] of [
    ['mainnet', 1, 10, 56, 137, 8_453, 42_161, 43_114],
    ['testnet', 17_000, 84_532, 421_614, 560_048, 11_155_111, 11_155_420],
    ['dev', 1_337, 31_337, 31_340],
    [null, 0, 2, 31_341, 123_456_789],
  ] as const) {
    for (const id of ids) assert.equal(worldOfChainId(id), world, `${id}`);
  }
  const all = [...mainnetChainIds, ...testnetChainIds, ...devChainIds];
  assert.equal(new Set(all).size, all.length);
});

test('every public test network of Bitcoin is testnet, regtest is dev', () => {
  const networks = ['mainnet', 'testnet', 'signet', 'regtest'] as const;
  assert.deepEqual(networks.map(worldOfBitcoin), ['mainnet', 'testnet', 'testnet', 'dev']);
});
