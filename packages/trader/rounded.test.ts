// Amounts for people: few digits, never to the reader's advantage, the exact one beside where it binds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAmount } from '@parley/sdk/people.ts';
import { roundedAmount } from './rounded.ts';

const ether = { name: 'ethereum', decimals: 18 };
const whole = { name: 'yen', decimals: 0 };

test('an amount of up to eight digits is shown as it is', () => {
  assert.equal(roundedAmount(12_345_678n, { name: 'btc', decimals: 8 }, 'up'), '0.12345678 btc');
  assert.equal(roundedAmount(10n ** 24n, ether, 'down'), '1\u202f000\u202f000 ethereum');
  assert.equal(roundedAmount(0n, ether, 'up'), '0 ethereum');
});

test('what is given is rounded up and what is got down, with the exact amount beside it', () => {
  const units = 1_234_567_890_123_456_789n;
  const exactly = '(exactly 1.234567890123456789 ethereum)';
  assert.equal(roundedAmount(units, ether, 'up'), `about 1.23457 ethereum ${exactly}`);
  assert.equal(roundedAmount(units, ether, 'down'), `about 1.23456 ethereum ${exactly}`);
  const most = { most: 3, exactly: false } as const;
  assert.equal(roundedAmount(units, ether, 'up', most), '1.24 ethereum');
  assert.equal(roundedAmount(9_999n, { name: 'x', decimals: 4 }, 'up', most), '1 x');
});

test('digits before the decimal mark are never cut', () => {
  const yen = '1\u202f234\u202f567\u202f891 yen';
  assert.equal(roundedAmount(1_234_567_891n, whole, 'up'), yen);
  const dollars = { name: 'usd', decimals: 6 };
  const said = roundedAmount(123_456_789_123_456n, dollars, 'up');
  assert.match(
    said,
    /^about 123\u202f456\u202f790 usd \(exactly 123\u202f456\u202f789\.123456 usd\)$/,
  );
});

test('no rounding of any amount flatters', () => {
  for (let digits = 1; digits <= 30; digits += 1) {
    for (const units of [10n ** BigInt(digits) - 1n, 10n ** BigInt(digits) + 1n]) {
      for (const most of [1, 3, 6]) {
        const shown = (way: 'up' | 'down') => {
          const said = roundedAmount(units, ether, way, { most, exactly: false });
          return parseAmount(said.replace(' ethereum', ''), 18, { locale: 'en' });
        };
        assert.ok(shown('down') <= units && units <= shown('up'), `${units} in ${most} digits`);
        assert.ok(shown('down') > 0n);
      }
    }
  }
});
