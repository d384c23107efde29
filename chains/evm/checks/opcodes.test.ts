import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scanCode } from './opcodes.ts';

test('a selector is what is pushed as four bytes, or as three where it begins with zeros', () => {
  const { selectors } = scanCode('0x63a9059cbb14620b0c0d1463000000ff');
  assert.deepEqual([...selectors], ['a9059cbb', '000b0c0d', '000000ff']);
});

test('arguments of other pushes hold no opcodes and no selectors', () => {
  const inside = scanCode(`0x7f${'63a9059cbbf4'.padEnd(64, '0')}00`);
  assert.deepEqual([[...inside.selectors], inside.delegates], [[], false]);
});

test('what stands behind an end is code only from a JUMPDEST on', () => {
  for (const end of ['00', '56', 'f3', 'fd', 'fe', 'ff']) {
    assert.equal(scanCode(`0x${end}f463a9059cbb54`).delegates, false, end);
    const { delegates, selectors, readsStorage } = scanCode(`0x${end}5bf463a9059cbb54`);
    assert.deepEqual([delegates, selectors.size, readsStorage], [true, 1, true], end);
  }
  // A JUMPDEST inside an argument is none.
  assert.equal(scanCode('0x00605bf4').delegates, false);
});

test('both ways to run the code of others are seen', () => {
  for (const opcode of ['f2', 'f4']) assert.equal(scanCode(`0x${opcode}`).delegates, true);
  for (const opcode of ['f1', 'fa', 'f0']) assert.equal(scanCode(`0x${opcode}`).delegates, false);
});

test('any bytes are read to their end, cut ones too', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const {
        selectors,
        addresses,
        bytes: size,
      } = scanCode(`0x${Buffer.from(bytes).toString('hex')}`);
      assert.equal(size, bytes.length);
      for (const each of selectors) assert.match(each, /^[0-9a-f]{8}$/);
      for (const each of addresses) assert.match(each, /^0x[0-9a-f]{40}$/);
    }),
  );
});
