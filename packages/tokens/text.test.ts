import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeAbiParameters, stringToHex, toHex } from 'viem';
import { judgeFace } from './contracts.ts';
import { mostNameLength } from './inspection.ts';
import { cleanText, hiddenIn, hiddenOf, textOf } from './text.ts';

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

test('signs that turn text around, hide in it or break lines are left out', () => {
  assert.equal(textOf(abi('\u202eCDSU\u200b\u0000 \n\t')), 'CDSU');
  assert.equal(textOf(abi('A\u00a0B\ufeff')), 'A B');
  assert.equal(cleanText('US\u200b\ufeffD\u202e\ufffdT\n\0 '), 'USDT');
});

test('a character that nobody sees is named, where one is', () => {
  assert.equal(hiddenOf(abi('US\u200bDC')), 'U+200B');
  assert.equal(hiddenOf(stringToHex('U\u202eSD', { size: 32 })), 'U+202E');
  assert.equal(hiddenIn('USD\u3164'), 'U+3164');
  assert.equal(hiddenIn('\ufeffUSD'), 'U+FEFF');
  for (const seen of ['USDC', 'Привет, 世界', '\u2764\ufe0f', 'e\u0301', ' A\tB\n', 'A\u0000']) {
    assert.equal(hiddenIn(seen), null, seen);
  }
  assert.equal(hiddenOf(null), null);
});

test('a token whose symbol hides a character is refused, whatever else it is', () => {
  const said = { symbol: 'USDC', name: 'x', decimals: 6, supply: 1n };
  assert.equal(judgeFace(said, 0n, null).outcome, 'pass');
  const { outcome, reason } = judgeFace(said, 0n, hiddenOf(abi('US\u200bDC')));
  assert.deepEqual([outcome, /U\+200B, which nobody sees/.test(reason ?? '')], ['reject', true]);
});

test('blanks of any kind and number are one space', () => {
  assert.equal(cleanText('  a \t\r\n b \u0000 \u2028\u3000c '), 'a b c');
});

test('a text is cut between characters, and is not read for ever', () => {
  assert.equal(cleanText('  a \t b  ', 3), 'a b');
  assert.equal(cleanText(`${'a'.repeat(63)}\u{1f600}b`), `${'a'.repeat(63)}\u{1f600}`);
  assert.equal(cleanText('e\u0301', 1), '\u00e9');
  assert.equal(cleanText(`${'\u200b'.repeat(10)}a`, 1), '');
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
