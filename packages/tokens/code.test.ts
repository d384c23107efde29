import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scanCode } from './code.ts';

test('a selector is what is pushed as four bytes, or as three where it begins with zeros', () => {
  const { selectors } = scanCode('0x63a9059cbb14620b0c0d1463000000ff');
  assert.deepEqual([...selectors], ['a9059cbb', '000b0c0d', '000000ff']);
});

test('arguments of other pushes hold no opcodes and no selectors', () => {
  const inside = scanCode(`0x7f${'63a9059cbbf4'.padEnd(64, '0')}00`);
  assert.deepEqual([[...inside.selectors], inside.delegates], [[], false]);
});

test('bytes behind an end are code only from a JUMPDEST on', () => {
  for (const end of ['00', '56', 'f3', 'fd', 'fe', 'ff']) {
    assert.equal(scanCode(`0x${end}f463a9059cbb54`).delegates, false, end);
    const { delegates, selectors } = scanCode(`0x${end}5bf463a9059cbb54`);
    assert.deepEqual([delegates, selectors.size], [true, 1], end);
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
      const { selectors, addresses } = scanCode(`0x${Buffer.from(bytes).toString('hex')}`);
      for (const each of selectors) assert.match(each, /^[0-9a-f]{8}$/);
      for (const each of addresses) assert.match(each, /^0x[0-9a-f]{40}$/);
    }),
  );
});

const target = '11'.repeat(20);

test('every form of a clone shows its one contract', () => {
  for (const code of [
    `363d3d373d3d3d363d73${target}5af43d82803e903d91602b57fd5bf3`,
    `3d3d3d3d363d3d37363d73${target}5af43d3d93803e602a57fd5bf3`,
    `5f5f365f5f37365f73${target}5af43d5f5f3e5f3d91602a57fd5bf3`,
    `366000600037611000600036600073${target}5af4602c576110006000fd5b6110006000f3`,
  ]) {
    assert.equal(scanCode(`0x${code}`).only, `0x${target}`, code);
  }
});

test('code that can find another address is no clone', () => {
  const clone = `363d3d373d3d3d363d73${target}5af43d82803e903d91602b57fd5bf3`;
  // SLOAD, TLOAD, MLOAD, CALLDATALOAD, CALL, STATICCALL, ADD, a second address, a longer constant
  const others = ['54', '5c', '51', '35', 'f1', 'fa', '01', `73${'22'.repeat(20)}`];
  for (const other of [...others, `7f${'33'.repeat(32)}`, `72${'44'.repeat(19)}`]) {
    assert.equal(scanCode(`0x${other}${clone}`).only, null, other);
  }
  assert.equal(scanCode(`0x73${target}00`).only, null);
});
