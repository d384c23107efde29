import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeAbiParameters, stringToHex, toHex } from 'viem';
import { mostNameLength } from '../../inspection.ts';
import { textOf } from './text.ts';

const abi = (text: string) => encodeAbiParameters([{ type: 'string' }], [text]);

test('a string, and 32 bytes filled with zeros, give their text', () => {
  assert.equal(textOf(abi('USDC')), 'USDC');
  assert.equal(textOf(stringToHex('MKR', { size: 32 })), 'MKR');
  assert.equal(textOf(abi('Привет, 世界')), 'Привет, 世界');
  for (const none of [
    null,
    '0x',
    '0x00',
    abi(''),
    toHex(0, { size: 32 }),
    toHex(32, { size: 32 }),
  ]) {
    assert.equal(textOf(none), '', String(none));
  }
});

test('lengths and offsets that lead nowhere give nothing', () => {
  const word = (value: bigint) => value.toString(16).padStart(64, '0');
  const tail = word(0x41n);
  for (const [offset, length] of [
    [2n ** 255n, 1n],
    [33n, 1n],
    [32n, 2n ** 200n],
  ] as const) {
    assert.equal(textOf(`0x${word(offset)}${word(length)}${tail}`), '', `${offset} ${length}`);
  }
  const long = `0x${word(32n)}${word(10n ** 6n)}${'41'.repeat(10_000)}`;
  assert.equal(textOf(long), 'A'.repeat(mostNameLength));
});

test('what turns text around, hides in it or breaks lines is left out', () => {
  assert.equal(textOf(abi('\u202eCDSU\u200b\u0000 \n\t')), 'CDSU');
  assert.equal(textOf(abi('A\u00a0B\ufeff')), 'A B');
});

test('any bytes give a short line', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const text = textOf(`0x${Buffer.from(bytes).toString('hex')}`);
      assert.ok([...text].length <= mostNameLength);
      assert.doesNotMatch(text, /[\p{C}\p{Zl}\p{Zp}]/u);
      assert.equal(text, text.trim());
    }),
  );
});
