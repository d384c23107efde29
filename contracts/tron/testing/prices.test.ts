// Each price that differs from an EVM's, by a program that needs it: figures of java-tron's
// EnergyCost.java (see prices.ts). PUSH is 3, POP 2, a word of memory 3.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create2Address, createTvm } from './engine.ts';
import { TvmState } from './state.ts';

const HERE = Buffer.from('aa'.repeat(20), 'hex');
const RICH = 'bb'.repeat(20);
const NOBODY = 'cc'.repeat(20);

async function run(code: string, energyLimit = 1_000_000n) {
  const state = new TvmState();
  state.set(`account/${HERE.toString('hex')}`, '1000');
  state.set(`code/${HERE.toString('hex')}`, code);
  state.set(`account/${RICH}`, '0');
  const tvm = await createTvm(state, 7);
  return tvm.run({
    caller: Buffer.from(RICH, 'hex'),
    to: HERE,
    value: 0n,
    data: Buffer.alloc(64),
    energyLimit,
    txid: Buffer.alloc(32),
    block: { number: 5n, timestamp: 9n },
  });
}

/** CALL(gas, who, value, 0, 0, 0, 0), seven pushes of 3. */
const call = (who: string, value: string) => `6000600060006000600${value}73${who}61fffff1`;

const cases: readonly (readonly [what: string, code: string, energy: bigint])[] = [
  ['BALANCE 20', `73${RICH}31`, 3n + 20n],
  ['EXTCODESIZE 20', `73${RICH}3b`, 3n + 20n],
  ['EXTCODEHASH 400', `73${RICH}3f`, 3n + 400n],
  ['EXTCODECOPY 20, 3 a word, a word of memory', `60206000600073${RICH}3c`, 12n + 20n + 3n + 3n],
  ['CALLDATACOPY nothing, 3 a word', '60406000600037', 9n + 6n + 6n],
  ['CODECOPY nothing, 3 a word', '60206000600039', 9n + 3n + 3n],
  ['RETURNDATACOPY nothing', '6000600060003e', 9n],
  ['MSTORE 1 and a word of memory', '6001600052', 6n + 1n + 3n],
  ['MLOAD 1 and a word of memory', '600051', 3n + 1n + 3n],
  ['MSTORE8 1 and a word of memory', '6001600053', 6n + 1n + 3n],
  ['SLOAD 50, the second time too', '6000546000 54', 2n * 53n],
  ['SSTORE 20,000 to set, 5,000 to change, 5,000 to clear', stores('1', '2', '0'), 30_018n],
  ['SSTORE 5,000 after clearing in one transaction', stores('1', '0', '1'), 30_018n],
  ['SSTORE 5,000 to write zero on nothing', stores('0'), 5_006n],
  ['EXP 10 and 10 a byte', '61ffff60020a', 6n + 30n],
  ['PUSH0 2', '5f', 2n],
  ['CALL 40', call(RICH, '0'), 21n + 40n],
  ['CALL with value: 9,000 less the 2,300 that come back', call(RICH, '1'), 21n + 40n + 6_700n],
  ['CALL that makes an account: 25,000 more', call(NOBODY, '1'), 21n + 40n + 31_700n],
  ['STATICCALL 40', `600060006000600073${RICH}61fffffa`, 18n + 40n],
  ['LOG1 375, 375 a topic, 8 a byte', '6001602060 00a1', 9n + 750n + 256n + 3n],
];

function stores(...values: string[]): string {
  return values.map((value) => `600${value}600055`).join('');
}

for (const [what, code, energy] of cases) {
  test(what, async () => {
    const result = await run(code.replaceAll(' ', ''));
    assert.deepEqual([result.failure, result.energyUsed], ['none', energy]);
  });
}

test('two slots with the same lower half are one', async () => {
  // sstore(1, 7); sstore(2^128 + 1, 8); return sload(1)
  const high = `70${'01'.padEnd(32, '0')}01`;
  const { output } = await run(`60076001556008${high}5560015460005260206000f3`);
  assert.equal(Buffer.from(output).readUInt8(31), 8);
});

test('CREATE2 leads to the address with 0x41 in front', async () => {
  // mstore8(0, 0xfe); create2(0, 0, 0, 5): no code. Return the address.
  const { output } = await run('60056000600060 00f560005260206000f3'.replaceAll(' ', ''));
  const salt = Buffer.alloc(32);
  salt[31] = 5;
  const expected = create2Address(HERE, salt, Buffer.alloc(0));
  assert.deepEqual(Buffer.from(output.subarray(12)), Buffer.from(expected));
});

test('a call that fails otherwise than by a revert has used all its energy', async () => {
  const wrong = await run('fe', 777n);
  assert.deepEqual([wrong.failure, wrong.energyUsed], ['other', 777n]);
  const short = await run('6001600055', 20_005n);
  assert.deepEqual([short.failure, short.energyUsed], ['out of energy', 20_005n]);
  const reverted = await run('60006000fd', 777n);
  assert.deepEqual([reverted.failure, reverted.energyUsed], ['revert', 6n]);
});
