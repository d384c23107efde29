// Links one relocatable BPF object into an sBPF v3 program: an ELF header, one segment of constants
// at 0, one of code at 2^32, nothing else. The format is the strict one of SIMD-0189; system calls
// are hashes in the code already (SIMD-0178), so nothing is left for the loader to resolve.
// Everything that is not understood is refused, above all a symbol that the object does not define.

const SBPF_VERSION = 3;
const EM_BPF = 247;
const headerBytes = 64;
const segmentHeaderBytes = 56;
const sectionHeaderBytes = 64;
const symbolBytes = 24;
const relocationBytes = 16;
const codeAddress = 1n << 32n;
/** An address of 0 is a null pointer to a compiler: no constant gets it. */
const constantsBegin = 8;
const relocationKinds = { address: 1, call: 10 } as const;
const sectionKinds = { relocations: 9 } as const;
const callOpcode = 0x85;
const internalCall = 1;

type Section = {
  readonly name: string;
  readonly kind: number;
  readonly bytes: Buffer;
  /** The section that relocations are for. */
  readonly info: number;
  readonly isCode: boolean;
};
type Symbol = { readonly name: string; readonly section: number; readonly value: number };
type Relocation = { readonly offset: number; readonly kind: number; readonly symbol: number };
type Parsed = {
  readonly sections: readonly Section[];
  readonly symbols: readonly Symbol[];
  readonly relocations: ReadonlyMap<number, readonly Relocation[]>;
};

function textAt(table: Buffer, offset: number): string {
  return table.toString('latin1', offset, table.indexOf(0, offset));
}

function parseSections(object: Buffer): readonly Section[] {
  const offset = Number(object.readBigUInt64LE(40));
  const count = object.readUInt16LE(60);
  const headers = Array.from({ length: count }, (_, index) => {
    const at = offset + index * sectionHeaderBytes;
    return object.subarray(at, at + sectionHeaderBytes);
  });
  const content = (header: Buffer): Buffer => {
    const start = Number(header.readBigUInt64LE(24));
    return object.subarray(start, start + Number(header.readBigUInt64LE(32)));
  };
  const names = content(headers[object.readUInt16LE(62)]!);
  return headers.map((header) => ({
    name: textAt(names, header.readUInt32LE(0)),
    kind: header.readUInt32LE(4),
    bytes: content(header),
    info: header.readUInt32LE(44),
    isCode: (header.readBigUInt64LE(8) & 4n) !== 0n,
  }));
}

function rows(table: Buffer, rowBytes: number): readonly Buffer[] {
  return Array.from({ length: table.length / rowBytes }, (_, index) =>
    table.subarray(index * rowBytes, (index + 1) * rowBytes),
  );
}

function parse(object: Buffer): Parsed {
  if (object.readUInt32BE(0) !== 0x7f454c46 || object.readUInt16LE(18) !== EM_BPF) {
    throw new Error('not a BPF object');
  }
  const sections = parseSections(object);
  const find = (name: string) => sections.find((each) => each.name === name)!.bytes;
  const names = find('.strtab');
  const symbols = rows(find('.symtab'), symbolBytes).map((row) => ({
    name: textAt(names, row.readUInt32LE(0)),
    section: row.readUInt16LE(6),
    value: Number(row.readBigUInt64LE(8)),
  }));
  const relocations = new Map<number, readonly Relocation[]>();
  for (const { kind, info, bytes } of sections) {
    if (kind !== sectionKinds.relocations) continue;
    const list = rows(bytes, relocationBytes).map((row) => ({
      offset: Number(row.readBigUInt64LE(0)),
      kind: row.readUInt32LE(8),
      symbol: row.readUInt32LE(12),
    }));
    relocations.set(info, list);
  }
  return { sections, symbols, relocations };
}

/** The sections that the entry point reaches, itself first: a panic handler stays outside. */
function reachable({ symbols, sections, relocations }: Parsed, entry: Symbol): readonly number[] {
  const found = [entry.section];
  for (const index of found) {
    for (const { symbol } of relocations.get(index) ?? []) {
      const { section, name } = symbols[symbol]!;
      if (section === 0 || sections[section] === undefined) {
        throw new Error(`undefined symbol "${name}" in ${sections[index]!.name}`);
      }
      if (!found.includes(section)) found.push(section);
    }
  }
  return found;
}

type Placed = { readonly bytes: Buffer; readonly offsets: ReadonlyMap<number, number> };

function place(parsed: Parsed, indexes: readonly number[], begin: number): Placed {
  const offsets = new Map<number, number>();
  const parts: Buffer[] = [Buffer.alloc(begin)];
  let end = begin;
  for (const index of indexes) {
    const { bytes } = parsed.sections[index]!;
    offsets.set(index, end);
    const padded = Buffer.alloc(Math.ceil(bytes.length / 8) * 8);
    bytes.copy(padded);
    parts.push(padded);
    end += padded.length;
  }
  return { bytes: Buffer.concat(parts), offsets };
}

function relocate(parsed: Parsed, code: Placed, constants: Placed): void {
  for (const [index, base] of code.offsets) {
    for (const { offset, kind, symbol } of parsed.relocations.get(index) ?? []) {
      const { section, value } = parsed.symbols[symbol]!;
      const at = base + offset;
      const toCode = code.offsets.get(section);
      const toConstant = constants.offsets.get(section);
      if (kind === relocationKinds.address && toConstant !== undefined) {
        const address = toConstant + value + code.bytes.readUInt32LE(at + 4);
        code.bytes.writeUInt32LE(address, at + 4);
      } else if (kind === relocationKinds.call && toCode !== undefined) {
        const local = code.bytes.readInt32LE(at + 4) + 1;
        const target = (toCode + value) / 8 + local;
        code.bytes.writeInt32LE(target - at / 8 - 1, at + 4);
        code.bytes[at + 1] = internalCall << 4;
        if (code.bytes[at] !== callOpcode) throw new Error('a call relocation without a call');
      } else {
        throw new Error(`relocation ${kind} in ${parsed.sections[index]!.name} is not supported`);
      }
    }
  }
}

function segment(flags: number, offset: number, address: bigint, bytes: Buffer): Buffer {
  const header = Buffer.alloc(segmentHeaderBytes);
  header.writeUInt32LE(1, 0);
  header.writeUInt32LE(flags, 4);
  header.writeBigUInt64LE(BigInt(offset), 8);
  header.writeBigUInt64LE(address, 16);
  header.writeBigUInt64LE(address, 24);
  header.writeBigUInt64LE(BigInt(bytes.length), 32);
  header.writeBigUInt64LE(BigInt(bytes.length), 40);
  return header;
}

function fileHeader(entry: bigint): Buffer {
  const header = Buffer.alloc(headerBytes);
  // 64 bits, little endian, ELF version 1.
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  header.writeUInt16LE(3, 16);
  header.writeUInt16LE(EM_BPF, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(entry, 24);
  header.writeBigUInt64LE(BigInt(headerBytes), 32);
  header.writeUInt32LE(SBPF_VERSION, 48);
  header.writeUInt16LE(headerBytes, 52);
  header.writeUInt16LE(segmentHeaderBytes, 54);
  header.writeUInt16LE(2, 56);
  header.writeUInt16LE(sectionHeaderBytes, 58);
  return header;
}

/** `begin` is where in the code the entry point is. Constants are at address 0. */
export function programFile(code: Buffer, constants: Buffer, begin = 0): Buffer {
  const constantsOffset = headerBytes + 2 * segmentHeaderBytes;
  const codeOffset = constantsOffset + constants.length;
  return Buffer.concat([
    fileHeader(codeAddress + BigInt(begin)),
    segment(4, constantsOffset, 0n, constants),
    segment(1, codeOffset, codeAddress, code),
    constants,
    code,
  ]);
}

/** The program that begins at the object's `entrypoint`. */
export function link(object: Buffer): Buffer {
  const parsed = parse(object);
  const entry = parsed.symbols.find(({ name }) => name === 'entrypoint');
  if (entry === undefined) throw new Error('the object has no entrypoint');
  const sections = reachable(parsed, entry);
  const isCode = (index: number) => parsed.sections[index]!.isCode;
  const code = place(parsed, sections.filter(isCode), 0);
  const constants = place(
    parsed,
    sections.filter((index) => !isCode(index)),
    constantsBegin,
  );
  relocate(parsed, code, constants);
  return programFile(code.bytes, constants.bytes, entry.value);
}
