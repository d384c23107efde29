// The pure looks at a token's code and answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAbiParameters } from 'viem/utils';
import { defaultPowerRules, mostNameLength } from './inspection.ts';
import {
  addressIn,
  bytesOf,
  cleanText,
  cloneTarget,
  decodeNumber,
  decodeText,
  hasRoles,
  powersOf,
  proxySlots,
  readCode,
  selectorOf,
} from './token-code.ts';
import { powerFindings } from './token-powers.ts';

const pause = selectorOf('pause()');
const mint = selectorOf('mint(address,uint256)');
const nobody = { owner: null, renounced: false, roles: false };

test('a selector is a constant of four bytes, and none inside a longer constant', () => {
  const { selectors } = readCode(bytesOf(`63${pause}5763${mint}`));
  assert.deepEqual([...selectors], [pause, mint]);
  const hidden = readCode(bytesOf(`7f63${pause}${'00'.repeat(27)}63${mint}`));
  assert.deepEqual([...hidden.selectors], [mint]);
  assert.equal(readCode(bytesOf(`62${pause}`)).selectors.size, 0);
});

test('an operation that runs code from elsewhere is seen, and none inside a constant', () => {
  assert.equal(readCode(bytesOf('5af4')).delegates, true);
  assert.equal(readCode(bytesOf('60f45b')).delegates, false);
});

test('addresses that are written into code are seen', () => {
  const address = 'ab'.repeat(20);
  assert.deepEqual([...readCode(bytesOf(`73${address}31`)).addresses], [address]);
});

test('code that ends inside of a constant is read to its end', () => {
  assert.deepEqual([...readCode(bytesOf('63aabb')).selectors], ['aabb']);
  assert.equal(readCode(new Uint8Array()).selectors.size, 0);
});

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

test('a clone names what it stands for', () => {
  const target = 'cd'.repeat(20);
  const clone = `363d3d373d3d3d363d73${target}5af43d82803e903d91602b57fd5bf3`;
  assert.equal(cloneTarget(bytesOf(clone)), target);
  assert.equal(cloneTarget(bytesOf(`${clone.slice(0, -2)}f4`)), null);
});

test('an address in a word has zeros before it', () => {
  assert.equal(addressIn(`0x${'00'.repeat(12)}${'0A'.repeat(20)}`), '0a'.repeat(20));
  assert.equal(addressIn('00'.repeat(32)), null);
  assert.equal(addressIn('11'.repeat(32)), null);
});

const text = (value: string) => bytesOf(encodeAbiParameters([{ type: 'string' }], [value]));

test('a text comes as a string or as 32 bytes, without what is invisible, and cut', () => {
  assert.equal(decodeText(text('Tether USD')), 'Tether USD');
  assert.equal(decodeText(bytesOf('4d4b52'.padEnd(64, '0'))), 'MKR');
  assert.equal(decodeText(text('US\u{200b}D\u{202e}T\n\0 ')), 'USDT');
  assert.equal(decodeText(text('é'.repeat(100_000))), 'é'.repeat(mostNameLength));
  assert.equal(decodeText(text(`${'a'.repeat(63)}\u{1f600}b`)), `${'a'.repeat(63)}\u{1f600}`);
  assert.equal(cleanText('  a \t b  ', 3), 'a b');
});

test('an answer that is no text is none, whatever lengths it claims', () => {
  const word = (value: bigint) => value.toString(16).padStart(64, '0');
  for (const words of [
    [32n, 1n],
    [2n ** 255n, 1n, 1n],
    [32n, 2n ** 200n, 0n],
    [64n, 0n],
  ]) {
    assert.equal(decodeText(bytesOf(words.map(word).join(''))), null);
  }
  assert.equal(decodeText(new Uint8Array()), null);
  assert.equal(decodeText(bytesOf('ff'.repeat(32))), '');
  assert.equal(decodeNumber(new Uint8Array(31)), null);
  assert.equal(decodeNumber(bytesOf(word(7n))), 7n);
});

test('powers follow the rules, and are moot when the owner is nobody and there are no roles', () => {
  const seen = powersOf(new Set([pause, mint]));
  assert.deepEqual(seen, { pausable: ['pause()'], mintable: ['mint(address,uint256)'] });
  const outcomes = (control: typeof nobody, rules = defaultPowerRules) =>
    powerFindings(seen, null, control, rules).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes(nobody), ['wait', 'pass', 'wait', 'pass']);
  const rules = { ...defaultPowerRules, pausable: 'reject', mintable: 'pass' } as const;
  assert.deepEqual(outcomes(nobody, rules), ['reject', 'pass', 'pass', 'pass']);
  assert.deepEqual(outcomes({ ...nobody, renounced: true }), ['pass', 'pass', 'pass', 'pass']);
  const roles = { ...nobody, renounced: true, roles: true };
  assert.deepEqual(outcomes(roles), ['wait', 'pass', 'wait', 'pass']);
  const [, , , last] = powerFindings({}, 'it is a proxy', nobody, defaultPowerRules);
  assert.equal(last?.outcome, 'reject');
  assert.match(last?.reason ?? '', /replace its code: it is a proxy/);
});

test('a role beside the owner is seen', () => {
  assert.equal(hasRoles(new Set([selectorOf('grantRole(bytes32,address)')])), true);
  assert.equal(hasRoles(new Set([pause])), false);
});
