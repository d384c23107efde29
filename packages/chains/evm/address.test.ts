import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { refuses } from '../testing/refusals.ts';
import { parseEvmAddress, sameAddress } from './address.ts';

// EIP-55, "Test Cases": https://eips.ethereum.org/EIPS/eip-55
const published = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

const refused = (sentence: RegExp) => refuses('bad_address', sentence);

test('the addresses of EIP-55 are their own canonical form, from any spelling without a checksum', () => {
  for (const address of published) {
    const upper = address.slice(2).toUpperCase();
    for (const text of [address, address.toLowerCase(), `0x${upper}`, `0X${upper}`]) {
      assert.equal(parseEvmAddress(text), address);
    }
    assert.ok(sameAddress(address, address.toLowerCase()));
  }
  assert.ok(!sameAddress(published[0] ?? '', published[1] ?? ''));
});

test('a single letter in the wrong case is a wrong checksum, unless one case is left', () => {
  fc.assert(
    fc.property(fc.constantFrom(...published), fc.nat(39), (address, at) => {
      const letter = address[2 + at] as string;
      fc.pre(/[a-f]/i.test(letter));
      const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      const text = address.slice(0, 2 + at) + other + address.slice(3 + at);
      const digits = text.slice(2);
      fc.pre(digits !== digits.toLowerCase() && digits !== digits.toUpperCase());
      assert.throws(() => parseEvmAddress(text), refused(/wrong EIP-55 checksum/));
    }),
  );
});

test('a text that is not 0x and 40 hex digits is refused, and shown in short', () => {
  const [address = ''] = published;
  for (const text of [
    '',
    '0x',
    address.slice(0, -1),
    `${address}0`,
    address.slice(2),
    ` ${address}`,
  ]) {
    assert.throws(() => parseEvmAddress(text), refused(/0x and 40 hex/));
  }
  assert.throws(() => parseEvmAddress('x'.repeat(100_000)), refused(/^.{1,200}$/));
});
