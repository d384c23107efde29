import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressIn, contractIn, dataOf } from './words.ts';

test('an address in a word has zeros before it', () => {
  assert.equal(addressIn(BigInt(`0x${'0a'.repeat(20)}`)), `0x${'0a'.repeat(20)}`);
  assert.equal(addressIn(2n ** 160n), null);
  assert.equal(addressIn(null), null);
});

test('a zero is an address, and no contract', () => {
  assert.equal(addressIn(0n), `0x${'00'.repeat(20)}`);
  assert.equal(contractIn(0n), null);
  assert.equal(contractIn(1n), `0x${'00'.repeat(19)}01`);
  assert.equal(contractIn(2n ** 160n), null);
});

test('calldata is a selector and a word for each argument', () => {
  const data = dataOf('transfer(address,uint256)', `0x${'AB'.repeat(20)}`, 255n);
  assert.equal(data, `a9059cbb${'ab'.repeat(20).padStart(64, '0')}${'ff'.padStart(64, '0')}`);
});
