// Transactions as bytes: built in the legacy form, read in both; lookup tables are left open. Pure.

import { concatBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { base58, base64 } from '@scure/base';
import { solanaAddressBytes } from './address.ts';

export type AccountRole = {
  readonly address: string;
  readonly signs: boolean;
  readonly writes: boolean;
};

export type Instruction = {
  readonly program: string;
  readonly accounts: readonly AccountRole[];
  readonly data: Uint8Array;
};

export const mostTransactionBytes = 1_232;
const signatureBytes = 64;
const keyBytes = 32;
/** How many sign, and how many of each kind only read. */
const headerBytes = 3;
const versionBit = 0x80;
const mostSignatures = 12;

type Slot = { signs: boolean; writes: boolean };

/** The unsigned transaction of one signer, who pays for it: a signature of zeros, the message. */
export function unsignedTransaction(
  payer: string,
  instructions: readonly Instruction[],
  blockhash: string,
): Uint8Array {
  const slots = new Map<string, Slot>([[payer, { signs: true, writes: true }]]);
  const name = (address: string, signs: boolean, writes: boolean) => {
    const slot = slots.get(address) ?? { signs: false, writes: false };
    slots.set(address, { signs: slot.signs || signs, writes: slot.writes || writes });
  };
  for (const { program, accounts } of instructions) {
    for (const { address, signs, writes } of accounts) name(address, signs, writes);
    name(program, false, false);
  }
  const rank = ({ signs, writes }: Slot) => (signs ? 0 : 2) + (writes ? 0 : 1);
  // Stable: within a rank in the order named, the payer first.
  const ordered = [...slots].sort(([, one], [, other]) => rank(one) - rank(other));
  const keys = ordered.map(([address]) => address);
  const count = (test: (slot: Slot) => boolean) => ordered.filter(([, slot]) => test(slot)).length;
  const header = Uint8Array.of(
    count(({ signs }) => signs),
    count(({ signs, writes }) => signs && !writes),
    count(({ signs, writes }) => !signs && !writes),
  );
  const body = instructions.map(({ program, accounts, data }) =>
    concatBytes(
      Uint8Array.of(keys.indexOf(program)),
      length(accounts.length),
      Uint8Array.from(accounts, ({ address }) => keys.indexOf(address)),
      length(data.length),
      data,
    ),
  );
  return concatBytes(
    Uint8Array.of(1),
    new Uint8Array(signatureBytes),
    header,
    length(keys.length),
    ...keys.map(solanaAddressBytes),
    base58.decode(blockhash),
    length(instructions.length),
    ...body,
  );
}

/** compact-u16: seven bits a byte, the lowest first. */
function length(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}

export type ReadInstruction = {
  /** Null where a lookup table would name it. */
  readonly program: string | null;
  /** By place among all accounts: those named here, then those of lookup tables. */
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
};

export type Lookup = {
  readonly table: string;
  readonly writable: readonly number[];
  readonly readonly: readonly number[];
};

export type ReadMessage = {
  readonly txid: string;
  readonly signatures: readonly Uint8Array[];
  readonly message: Uint8Array;
  readonly signers: number;
  readonly keys: readonly string[];
  readonly blockhash: string;
  readonly instructions: readonly ReadInstruction[];
  readonly lookups: readonly Lookup[];
};

/** The same legacy transaction, to die so long after another block. Unsigned. */
export function withBlockhash(text: string, blockhash: string): string {
  const { keys, message } = readTransaction(text);
  const bytes = base64.decode(text);
  const at = headerBytes + length(keys.length).length + keyBytes * keys.length;
  bytes.set(base58.decode(blockhash), bytes.length - message.length + at);
  return base64.encode(bytes);
}

export function readTransaction(text: string): ReadMessage {
  let bytes: Uint8Array;
  try {
    if (text.length > mostTransactionBytes * 2) throw new Error(`${text.length} characters`);
    bytes = base64.decode(text);
  } catch (cause) {
    throw refuse('it is not base64 of at most 1 232 bytes', cause);
  }
  return readBytes(bytes);
}

export function readBytes(bytes: Uint8Array): ReadMessage {
  if (bytes.length > mostTransactionBytes) {
    throw refuse(`it has ${bytes.length} bytes, more than ${mostTransactionBytes}`);
  }
  try {
    return read(bytes);
  } catch (cause) {
    if (cause instanceof ParleyError) throw cause;
    throw refuse('it ends early or is malformed', cause);
  }
}

function read(bytes: Uint8Array): ReadMessage {
  const reader = readerOf(bytes);
  const signatures = Array.from({ length: reader.length() }, () => reader.take(signatureBytes));
  if (signatures.length === 0 || signatures.length > mostSignatures) {
    throw refuse(`it has ${signatures.length} signatures`);
  }
  const message = bytes.subarray(reader.at());
  const first = message[0] ?? 0;
  const isVersioned = (first & versionBit) !== 0;
  if (isVersioned && first !== versionBit) {
    throw refuse(`it is of version ${first & ~versionBit}; 0 and legacy are read`);
  }
  if (isVersioned) reader.byte();
  const signers = reader.byte();
  reader.take(2);
  if (signers !== signatures.length) {
    throw refuse(`it wants ${signers} signatures and has room for ${signatures.length}`);
  }
  const keys = Array.from({ length: reader.length() }, () => base58.encode(reader.take(keyBytes)));
  const blockhash = base58.encode(reader.take(keyBytes));
  const instructions = Array.from({ length: reader.length() }, (): ReadInstruction => {
    const program = keys[reader.byte()] ?? null;
    const accounts = [...reader.take(reader.length())];
    return { program, accounts, data: reader.take(reader.length()) };
  });
  const lookups = Array.from({ length: isVersioned ? reader.length() : 0 }, (): Lookup => {
    const table = base58.encode(reader.take(keyBytes));
    const writable = [...reader.take(reader.length())];
    return { table, writable, readonly: [...reader.take(reader.length())] };
  });
  if (reader.at() !== bytes.length) throw refuse('bytes follow after its end');
  const txid = base58.encode(signatures[0] ?? new Uint8Array());
  return { txid, signatures, message, signers, keys, blockhash, instructions, lookups };
}

function readerOf(bytes: Uint8Array) {
  let place = 0;
  const take = (count: number): Uint8Array => {
    if (place + count > bytes.length) throw new Error(`${count} bytes wanted at ${place}`);
    place += count;
    return bytes.subarray(place - count, place);
  };
  const byte = (): number => take(1)[0] ?? 0;
  const readLength = (): number => {
    let value = 0;
    for (let shift = 0; shift <= 14; shift += 7) {
      const next = byte();
      value |= (next & 0x7f) << shift;
      if ((next & 0x80) === 0) return value;
    }
    throw new Error('a length of more than three bytes');
  };
  return { take, byte, length: readLength, at: () => place };
}

export function refuse(why: string, cause?: unknown): ParleyError {
  return new ParleyError(
    'bad_transaction',
    `the Solana transaction is not readable: ${why}`,
    {},
    {
      cause,
    },
  );
}
