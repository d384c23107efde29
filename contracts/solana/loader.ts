// The upgradeable loader: its accounts, and the instructions that put a program on a cluster for
// good. Layouts are those of solana-loader-v3-interface. Pure but for the derivation of an address.

import {
  AccountRole,
  type Address,
  address,
  createAddressWithSeed,
  getAddressEncoder,
  getProgramDerivedAddress,
  type Instruction,
} from '@solana/kit';

export const LOADER = address('BPFLoaderUpgradeab1e11111111111111111111111');
const SYSTEM = address('11111111111111111111111111111111');
const RENT = address('SysvarRent111111111111111111111111111111111');
const CLOCK = address('SysvarC1ock11111111111111111111111111111111');

/** What stands before the code. */
export const BUFFER_HEAD = 37;
export const PROGRAM_DATA_HEAD = 45;
export const PROGRAM_BYTES = 36;
/** Of code in one transaction, which holds at most 1232 bytes. */
export const CHUNK_BYTES = 960;

const numbers = { initializeBuffer: 0, write: 1, deploy: 2, setAuthority: 4 } as const;
const createAccountNumber = 0;
const createWithSeedNumber = 3;

const keyBytes = (of: Address): Buffer => Buffer.from(getAddressEncoder().encode(of));

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

const { READONLY: read, WRITABLE: write } = AccountRole;
const { READONLY_SIGNER: sign, WRITABLE_SIGNER: writeSign } = AccountRole;

function call(
  programAddress: Address,
  rows: readonly (readonly [Address, AccountRole])[],
  ...data: readonly Uint8Array[]
): Instruction {
  const accounts = rows.map(([of, role]) => ({ address: of, role }));
  return { programAddress, accounts, data: Buffer.concat(data) };
}

export async function programDataOf(program: Address): Promise<Address> {
  const seeds = [keyBytes(program)];
  const [found] = await getProgramDerivedAddress({ programAddress: LOADER, seeds });
  return found;
}

/** One buffer for each payer and program text: so whoever begins again finds it. */
export function bufferOf(payer: Address, seed: string): Promise<Address> {
  return createAddressWithSeed({ baseAddress: payer, programAddress: LOADER, seed });
}

export function openBuffer(
  { payer, buffer, seed }: { readonly payer: Address; readonly buffer: Address; seed: string },
  lamports: bigint,
  codeBytes: number,
): Instruction[] {
  return [
    call(
      SYSTEM,
      [
        [payer, writeSign],
        [buffer, write],
      ],
      u32(createWithSeedNumber),
      keyBytes(payer),
      u64(BigInt(seed.length)),
      Buffer.from(seed),
      u64(lamports),
      u64(BigInt(BUFFER_HEAD + codeBytes)),
      keyBytes(LOADER),
    ),
    call(
      LOADER,
      [
        [buffer, write],
        [payer, read],
      ],
      u32(numbers.initializeBuffer),
    ),
  ];
}

export function writeChunk(
  buffer: Address,
  authority: Address,
  offset: number,
  chunk: Uint8Array,
): Instruction {
  return call(
    LOADER,
    [
      [buffer, write],
      [authority, sign],
    ],
    u32(numbers.write),
    u32(offset),
    u64(BigInt(chunk.length)),
    chunk,
  );
}

/** Makes the program out of the buffer and gives its authority up, in one transaction. */
export async function deployForGood(
  { payer, program, buffer }: Readonly<Record<'payer' | 'program' | 'buffer', Address>>,
  lamports: bigint,
  codeBytes: number,
): Promise<Instruction[]> {
  const programData = await programDataOf(program);
  return [
    call(
      SYSTEM,
      [
        [payer, writeSign],
        [program, writeSign],
      ],
      u32(createAccountNumber),
      u64(lamports),
      u64(BigInt(PROGRAM_BYTES)),
      keyBytes(LOADER),
    ),
    call(
      LOADER,
      [
        [payer, writeSign],
        [programData, write],
        [program, write],
        [buffer, write],
        [RENT, read],
        [CLOCK, read],
        [SYSTEM, read],
        [payer, sign],
      ],
      u32(numbers.deploy),
      u64(BigInt(codeBytes)),
    ),
    // Without a new authority: there is none from here on.
    call(
      LOADER,
      [
        [programData, write],
        [payer, sign],
      ],
      u32(numbers.setAuthority),
    ),
  ];
}
