// The upgradeable loader's accounts and instructions, laid out as solana-loader-v3-interface has
// them.

import {
  AccountRole,
  type Address,
  address,
  createAddressWithSeed,
  getAddressEncoder,
  getProgramDerivedAddress,
  getU32Encoder,
  getU64Encoder,
  type Instruction,
} from '@solana/kit';

export const LOADER = address('BPFLoaderUpgradeab1e11111111111111111111111');
const SYSTEM = address('11111111111111111111111111111111');
const RENT = address('SysvarRent111111111111111111111111111111111');
const CLOCK = address('SysvarC1ock11111111111111111111111111111111');

/** The head before the code. */
export const BUFFER_HEAD = 37;
export const PROGRAM_DATA_HEAD = 45;
export const PROGRAM_BYTES = 36;
/** The bytes of code in one transaction, which holds at most 1232 bytes. */
export const CHUNK_BYTES = 960;

const numbers = { initializeBuffer: 0, write: 1, deploy: 2, setAuthority: 4 } as const;
const createAccountNumber = 0;
const createWithSeedNumber = 3;

const key = (of: Address) => getAddressEncoder().encode(of);
const u32 = (value: number) => getU32Encoder().encode(value);
const u64 = (value: bigint | number) => getU64Encoder().encode(value);

const as = (role: AccountRole) => (of: Address) => ({ address: of, role });
const read = as(AccountRole.READONLY);
const write = as(AccountRole.WRITABLE);
const sign = as(AccountRole.READONLY_SIGNER);
const pay = as(AccountRole.WRITABLE_SIGNER);

type Accounts = Exclude<Instruction['accounts'], undefined>;

function call(programAddress: Address, accounts: Accounts, ...data: readonly unknown[]) {
  return { programAddress, accounts, data: Buffer.concat(data as Uint8Array[]) };
}

export async function programDataOf(program: Address): Promise<Address> {
  const seeds = [key(program)];
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
  const named = [key(payer), u64(seed.length), Buffer.from(seed)];
  const size = [u64(lamports), u64(BUFFER_HEAD + codeBytes), key(LOADER)];
  return [
    call(SYSTEM, [pay(payer), write(buffer)], u32(createWithSeedNumber), ...named, ...size),
    call(LOADER, [write(buffer), read(payer)], u32(numbers.initializeBuffer)),
  ];
}

export function writeChunk(
  buffer: Address,
  authority: Address,
  offset: number,
  chunk: Uint8Array,
): Instruction {
  const data = [u32(numbers.write), u32(offset), u64(chunk.length), chunk];
  return call(LOADER, [write(buffer), sign(authority)], ...data);
}

/** Makes the program out of the buffer and gives its authority up, in one transaction. */
export async function deployForGood(
  { payer, program, buffer }: Readonly<Record<'payer' | 'program' | 'buffer', Address>>,
  lamports: bigint,
  codeBytes: number,
): Promise<Instruction[]> {
  const programData = await programDataOf(program);
  const made = [u32(createAccountNumber), u64(lamports), u64(PROGRAM_BYTES), key(LOADER)];
  const parts = [pay(payer), write(programData), write(program), write(buffer)];
  const rest = [read(RENT), read(CLOCK), read(SYSTEM), sign(payer)];
  return [
    call(SYSTEM, [pay(payer), pay(program)], ...made),
    call(LOADER, [...parts, ...rest], u32(numbers.deploy), u64(codeBytes)),
    // Without a new authority: there is none from here on.
    call(LOADER, [write(programData), sign(payer)], u32(numbers.setAuthority)),
  ];
}
