// The linker against small objects made by hand: the references it resolves, and all that it
// refuses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { link } from './link.ts';

type Part = {
  readonly name: string;
  readonly kind?: number;
  readonly flags?: number;
  readonly info?: number;
  readonly bytes: Buffer;
};
type Symbol = { readonly name: string; readonly section: number; readonly value?: number };

const ALLOCATED = 2;
const CODE = 4 | ALLOCATED;
const RELOCATIONS = 9;

function table(names: readonly string[]): { bytes: Buffer; at: (name: string) => number } {
  const text = `\0${names.join('\0')}\0`;
  const at = (name: string) => (name === '' ? 0 : text.indexOf(`\0${name}\0`) + 1);
  return { bytes: Buffer.from(text, 'latin1'), at };
}

/** Parts are sections 1, 2, …; names and symbols come behind them. */
function object(parts: readonly Part[], symbols: readonly Symbol[]): Buffer {
  const strings = table([
    '.strtab',
    '.symtab',
    ...parts.map(({ name }) => name),
    ...symbols.map(({ name }) => name),
  ]);
  const rows = [{ name: '', section: 0 }, ...symbols].map(({ name, section, ...rest }) => {
    const row = Buffer.alloc(24);
    row.writeUInt32LE(strings.at(name), 0);
    row.writeUInt16LE(section, 6);
    row.writeBigUInt64LE(BigInt((rest as Symbol).value ?? 0), 8);
    return row;
  });
  const all: readonly Part[] = [
    { name: '', bytes: Buffer.alloc(0) },
    ...parts,
    { name: '.strtab', bytes: strings.bytes },
    { name: '.symtab', bytes: Buffer.concat(rows) },
  ];
  const header = Buffer.alloc(64);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  header.writeUInt16LE(247, 18);
  header.writeBigUInt64LE(64n, 40);
  header.writeUInt16LE(all.length, 60);
  header.writeUInt16LE(all.length - 2, 62);
  let end = 64 + 64 * all.length;
  const headers = all.map(({ name, kind = 1, flags = 0, info = 0, bytes }) => {
    const row = Buffer.alloc(64);
    row.writeUInt32LE(strings.at(name), 0);
    row.writeUInt32LE(kind, 4);
    row.writeBigUInt64LE(BigInt(flags), 8);
    row.writeBigUInt64LE(BigInt(end), 24);
    row.writeBigUInt64LE(BigInt(bytes.length), 32);
    row.writeUInt32LE(info, 44);
    end += bytes.length;
    return row;
  });
  return Buffer.concat([header, ...headers, ...all.map(({ bytes }) => bytes)]);
}

function relocation(offset: number, kind: number, symbol: number): Buffer {
  const row = Buffer.alloc(16);
  row.writeBigUInt64LE(BigInt(offset), 0);
  row.writeUInt32LE(kind, 8);
  row.writeUInt32LE(symbol, 12);
  return row;
}

const EXIT = Buffer.from('9500000000000000', 'hex');
const CALL = Buffer.from('85100000ffffffff', 'hex');
const LOAD = Buffer.from('18010000080000000000000000000000', 'hex');
const code = (name: string, ...lines: readonly Buffer[]): Part => ({
  name,
  flags: CODE,
  bytes: Buffer.concat(lines),
});
const relocations = (info: number, ...rows: readonly Buffer[]): Part => ({
  name: '.rel',
  kind: RELOCATIONS,
  info,
  bytes: Buffer.concat(rows),
});
const entry: Symbol = { name: 'entrypoint', section: 1 };

/** The constants and the code of a linked file. */
function segmentsOf(file: Buffer): readonly [Buffer, Buffer] {
  const [constants, program] = [64, 120].map((at) => {
    const start = Number(file.readBigUInt64LE(at + 8));
    return file.subarray(start, start + Number(file.readBigUInt64LE(at + 32)));
  });
  return [constants!, program!];
}

test('a call of another section and the address of a constant are resolved', () => {
  const parts = [
    code('.text.entrypoint', CALL, LOAD, EXIT),
    code('.text.unused', EXIT, EXIT),
    code('.text.callee', EXIT),
    { name: '.rodata', flags: ALLOCATED, bytes: Buffer.from('0123456789abcdef') },
    relocations(1, relocation(0, 10, 2), relocation(8, 1, 3)),
  ];
  const symbols = [entry, { name: 'callee', section: 3 }, { name: '', section: 4 }];
  const [constants, program] = segmentsOf(link(object(parts, symbols)));
  assert.equal(constants.toString('latin1'), `${'\0'.repeat(8)}0123456789abcdef`);
  // A function without callers is left out.
  assert.equal(program.length, 8 * 5);
  assert.equal(program.readInt32LE(4), 3, 'from the first place to the fifth');
  assert.equal(program[1]! >> 4, 1, 'an internal call');
  assert.equal(program.readUInt32LE(12), 16, 'eight bytes into the second constant word');
});

test('a system call is left as it is: a hash, and no relocation', () => {
  const call = Buffer.from('85000000869df411', 'hex');
  const [, program] = segmentsOf(link(object([code('.text', call, EXIT)], [entry])));
  assert.deepEqual(program, Buffer.concat([call, EXIT]));
});

test('an undefined symbol is refused by its name', () => {
  const parts = [code('.text', CALL, EXIT), relocations(1, relocation(0, 10, 2))];
  const symbols = [entry, { name: 'memcpy', section: 0 }];
  assert.throws(() => link(object(parts, symbols)), /undefined symbol "memcpy"/);
});

test('relocations of other kinds, and of code for a constant, are refused', () => {
  const data = { name: '.rodata', flags: ALLOCATED, bytes: Buffer.alloc(8) };
  const symbols = [entry, { name: 'data', section: 2 }];
  for (const kind of [2, 3, 4, 10]) {
    const parts = [code('.text', CALL, EXIT), data, relocations(1, relocation(0, kind, 2))];
    assert.throws(() => link(object(parts, symbols)), /relocation \d+ in \.text is not supported/);
  }
  const load = [code('.text', LOAD, EXIT), data, relocations(1, relocation(0, 1, 1))];
  assert.throws(() => link(object(load, symbols)), /not supported/);
  const notACall = [
    code('.text', LOAD, EXIT),
    code('.text.callee', EXIT),
    relocations(1, relocation(0, 10, 2)),
  ];
  assert.throws(() => link(object(notACall, symbols)), /without a call/);
});

test('a file that is no BPF object, or has no entry point, is refused', () => {
  assert.throws(() => link(Buffer.alloc(64)), /not a BPF object/);
  const other = [{ name: 'main', section: 1 }];
  assert.throws(() => link(object([code('.text', EXIT)], other)), /no entrypoint/);
});
