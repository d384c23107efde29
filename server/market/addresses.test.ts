// Addresses as the market compares and classifies them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparable, familyOfAddress, holds } from './addresses.ts';

const evm = '0x00000000000000000000000000000000000000Ab';
const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const legacy = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa';
const segwit = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

test('hex and bech32 compare without case, base58 with it', () => {
  assert.ok(holds([evm.toLowerCase()], evm));
  assert.ok(holds([segwit.toUpperCase()], segwit));
  assert.ok(holds([tron], tron));
  assert.ok(!holds([tron.toLowerCase()], tron));
  assert.ok(!holds([legacy.toLowerCase()], legacy));
  assert.ok(!holds([], evm));
  assert.equal(comparable('TB1QW508'), 'tb1qw508');
});

test('an address belongs to a family of this world, or is refused', () => {
  assert.equal(familyOfAddress(evm, 'dev'), 'evm');
  assert.equal(familyOfAddress(tron, 'mainnet'), 'tron');
  assert.equal(familyOfAddress('So11111111111111111111111111111111111111112', 'dev'), 'solana');
  for (const each of [segwit, segwit.toUpperCase(), legacy]) {
    assert.equal(familyOfAddress(each, 'mainnet'), 'bitcoin');
    assert.throws(() => familyOfAddress(each, 'dev'), { code: 'bad_address' });
  }
  const testnet = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
  assert.equal(familyOfAddress(testnet, 'testnet'), 'bitcoin');
  assert.throws(() => familyOfAddress(testnet, 'mainnet'), { code: 'bad_address' });
  const flawed = [`${segwit.slice(0, -1)}5`, `${tron.slice(0, -1)}u`, evm.slice(0, -1), '', 'x'];
  for (const each of [...flawed, '1'.repeat(5_000)]) {
    assert.throws(() => familyOfAddress(each, 'mainnet'), { code: 'bad_address' });
  }
});
