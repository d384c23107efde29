// Reads transactions from their bytes (BIP 144), fast enough to walk every block. Pure. A witness is
// divided only when it matters: a block may hold millions of empty items.

import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { sha256Twice } from '#bytes';

export type TxInput = {
  /** `txid:vout` of the output that it spends. */
  readonly outpoint: () => string;
  /** That output's, where the source tells it. */
  readonly script?: Uint8Array;
  readonly scriptSig: Uint8Array;
  readonly sequence: number;
  readonly witness: readonly Uint8Array[];
};

export type Tx = {
  readonly txid: () => string;
  readonly coinbase: boolean;
  readonly inputs: readonly TxInput[];
  readonly outputs: readonly { readonly script: Uint8Array; readonly amount: bigint }[];
};

/** `hash` leaves the witness out, `witnessHash` has it: as bytes, in the order of the wire. */
export type ReadTx = Tx & {
  readonly isSegwit: boolean;
  readonly hash: () => Uint8Array;
  readonly witnessHash: () => Uint8Array;
};

/** A block holds no larger one (4 million weight units of witness). */
const maxBytes = 4_000_000;

export type Reader = { readonly bytes: Uint8Array; readonly view: DataView; at: number };

export function reader(bytes: Uint8Array): Reader {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 };
}

export function take(from: Reader, length: number): Uint8Array {
  if (length > from.bytes.length - from.at) throw malformed('it ends too early');
  from.at += length;
  return from.bytes.subarray(from.at - length, from.at);
}

export function compactSize(from: Reader): number {
  const first = take(from, 1)[0] ?? 0;
  if (first < 253) return first;
  const width = first === 253 ? 2 : first === 254 ? 4 : 8;
  const start = from.at;
  take(from, width);
  const value =
    width === 2
      ? from.view.getUint16(start, true)
      : width === 4
        ? from.view.getUint32(start, true)
        : Number(from.view.getBigUint64(start, true));
  // Every length counts bytes that must follow, so a larger one is a lie.
  if (value > from.bytes.length) throw malformed('a length is larger than the whole');
  return value;
}

export function list<T>(from: Reader, read: () => T): T[] {
  const items: T[] = [];
  for (let left = compactSize(from); left > 0; left -= 1) items.push(read());
  return items;
}

export const data = (from: Reader) => take(from, compactSize(from));

function malformed(why: string): ParleyError {
  return new ParleyError('bad_transaction', `not a Bitcoin transaction: ${why}`);
}

/** An id as people write it: the hash's bytes backwards. */
export function idHex(hash: Uint8Array): string {
  return bytesToHex(Uint8Array.from(hash).reverse());
}

function readInput(from: Reader) {
  const prevout = take(from, 36);
  const scriptSig = data(from);
  take(from, 4);
  const sequence = from.view.getUint32(from.at - 4, true);
  return { prevout, scriptSig, sequence };
}

export function readOutput(from: Reader) {
  take(from, 8);
  const amount = from.view.getBigUint64(from.at - 8, true);
  return { amount, script: data(from) };
}

function outpointOf(prevout: Uint8Array): string {
  const vout = new DataView(prevout.buffer, prevout.byteOffset, 36).getUint32(32, true);
  return `${idHex(prevout.subarray(0, 32))}:${vout}`;
}

/** Where the witness begins that is stepped over. */
function pastWitness(from: Reader): number {
  const start = from.at;
  const { bytes } = from;
  for (let left = compactSize(from); left > 0; left -= 1) {
    const first = bytes[from.at] ?? 0;
    const length = first < 253 ? 1 + first : compactSize(from);
    from.at += length;
    if (from.at > bytes.length) throw malformed('it ends too early');
  }
  return start;
}

function witnessAt(bytes: Uint8Array, start: number): Uint8Array[] {
  const from = reader(bytes);
  from.at = start;
  return list(from, () => data(from));
}

export function readTx(from: Reader): ReadTx {
  const { bytes, at: start } = from;
  const version = take(from, 4);
  // A marker 0 where the input count would be, and a flag 1 (BIP 144).
  const segwit = bytes[from.at] === 0 && bytes[from.at + 1] === 1;
  if (segwit) take(from, 2);
  const bodyStart = from.at;
  const inputs = list(from, () => readInput(from));
  const outputs = list(from, () => readOutput(from));
  const bodyEnd = from.at;
  const witnesses = segwit ? inputs.map(() => pastWitness(from)) : [];
  const lockTime = take(from, 4);
  const end = from.at;
  const stripped = () => concatBytes(version, bytes.subarray(bodyStart, bodyEnd), lockTime);
  const hash = () => sha256Twice(segwit ? stripped() : bytes.subarray(start, end));
  const first = inputs[0]?.prevout.subarray(0, 32);
  return {
    isSegwit: segwit,
    hash,
    witnessHash: () => sha256Twice(bytes.subarray(start, end)),
    txid: () => idHex(hash()),
    coinbase: first?.every((byte) => byte === 0) ?? false,
    inputs: inputs.map(({ prevout, scriptSig, sequence }, at) => ({
      outpoint: () => outpointOf(prevout),
      scriptSig,
      sequence,
      get witness() {
        const start = witnesses[at];
        return start === undefined ? [] : witnessAt(bytes, start);
      },
    })),
    outputs,
  };
}

/** One transaction from hex. Throws `bad_transaction` on anything but exactly that. */
export function parseTx(hex: string): Tx {
  if (hex.length > 2 * maxBytes || !/^(?:[0-9a-fA-F]{2})+$/.test(hex)) {
    throw malformed('it is not hex');
  }
  const from = reader(hexToBytes(hex));
  let tx: Tx;
  try {
    tx = readTx(from);
  } catch (cause) {
    if (cause instanceof ParleyError) throw cause;
    throw malformed('it ends too early');
  }
  if (from.at !== from.bytes.length)
    throw malformed(`${from.bytes.length - from.at} bytes too many`);
  if (tx.inputs.length === 0 || tx.outputs.length === 0) throw malformed('no inputs or no outputs');
  return tx;
}
