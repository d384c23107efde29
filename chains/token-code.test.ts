// The words of calls and of storage.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressIn, bytesOf, cleanText, decodeNumber, proxySlots } from './token-code.ts';

test('slots of proxies are those of the standards', () => {
  assert.deepEqual(
    proxySlots.map(({ slot }) => slot),
    [
      '360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
      'a3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50',
      'b53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103',
      '7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
      '10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b',
      'c5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7',
    ],
  );
});

test('an address in a word has zeros before it', () => {
  assert.equal(addressIn(`0x${'00'.repeat(12)}${'0A'.repeat(20)}`), '0a'.repeat(20));
  assert.equal(addressIn('00'.repeat(32)), null);
  assert.equal(addressIn('11'.repeat(32)), null);
});

test('a text shows nothing invisible, and no more of it than it may', () => {
  assert.equal(cleanText('US\u{200b}D\u{202e}T\n\0 '), 'USDT');
  assert.equal(cleanText('  a \t b  ', 3), 'a b');
  assert.equal(cleanText(`${'a'.repeat(63)}\u{1f600}b`), `${'a'.repeat(63)}\u{1f600}`);
});

test('a number has 32 bytes at least', () => {
  assert.equal(decodeNumber(new Uint8Array(31)), null);
  assert.equal(decodeNumber(bytesOf(`${'00'.repeat(31)}07ff`)), 7n);
});
