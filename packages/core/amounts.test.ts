import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatUnits, maxAmount, parseBaseUnits } from './amounts.ts';

test('an amount reads back as itself, from 1 to 2^256-1', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: maxAmount }), (amount) => {
      assert.equal(parseBaseUnits(amount.toString(), 'x'), amount);
    }),
  );
  assert.equal(parseBaseUnits(maxAmount.toString(), 'x'), maxAmount);
});

test('anything but a canonical positive integer is refused with the field and the text', () => {
  const bad = ['', '0', '-1', '+1', '01', '1e3', '1.0', ' 1', '1 ', '0x1', '١', '1_000', '1n'];
  for (const text of [...bad, (maxAmount + 1n).toString(), '9'.repeat(78), '9'.repeat(5_000)]) {
    assert.throws(() => parseBaseUnits(text, 'baseAmount'), {
      code: 'bad_amount',
      message: /^baseAmount must be a whole number of base units from 1 to 2\^256-1, as a string/,
    });
  }
});

test('units are shown without loss', () => {
  assert.equal(formatUnits(150n, 2), '1.5');
  assert.equal(formatUnits(1n, 8), '0.00000001');
  assert.equal(formatUnits(-5n, 1), '-0.5');
  assert.equal(formatUnits(7n, 0), '7');
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: maxAmount }), fc.nat(36), (amount, decimals) => {
      const [whole = '', rest = ''] = formatUnits(amount, decimals).split('.');
      assert.equal(BigInt(whole + rest.padEnd(decimals, '0')), amount);
    }),
  );
});
