// The bytes of a PSBT (BIP 174, BIP 371), read within bounds. PURE.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { base64 } from '@scure/base';
import { leafVersion } from './escrow-tree.ts';
import {
  compactSize,
  data,
  idHex,
  type Reader,
  reader,
  readOutput,
  take,
} from './raw-transaction.ts';
import { mostInputs } from './spending.ts';
import { psbtMagic as magic, psbtTypes as types, type Unsigned } from './unsigned.ts';

/** Ten times a spend of `mostInputs`, before wallets add theirs. */
const maxPsbtCharacters = 400_000;
/** A template has one; the signer for an escrow may divide what it holds. */
const mostOutputs = 10;
/** In one map: a template has three, and a wallet adds its own key's path, twice at the most. */
const mostEntries = 16;

/** Before a public key; of Taproot before an x-only key and the hash of a leaf (BIP 371). */
const partialSig = '02';
const tapScriptSig = '14';

export function bad(sentence: string, cause?: unknown): ParleyError {
  return new ParleyError('bad_transaction', sentence, {}, cause === undefined ? {} : { cause });
}

type PsbtOutput = { readonly script: Uint8Array; readonly amount: bigint };

export type ReadUnsigned = Unsigned & {
  readonly lockTime: number;
  readonly outputs: readonly PsbtOutput[];
};

export type PsbtInputMap = {
  readonly witnessUtxo: PsbtOutput | null;
  readonly witnessScript: Uint8Array | null;
  /** The one that is to be signed. */
  readonly leaf: { readonly script: Uint8Array; readonly control: Uint8Array } | null;
  readonly sighashType: number | null;
  /** Signatures of a wallet, by key in hex: of Taproot x-only. */
  readonly partial: ReadonlyMap<string, Uint8Array>;
};

export type Psbt = {
  readonly tx: ReadUnsigned;
  readonly maps: readonly PsbtInputMap[];
};

/** Throws `bad_transaction`. */
export function decodePsbt(psbtBase64: string): Psbt {
  if (psbtBase64.length > maxPsbtCharacters) {
    throw bad(`the PSBT has ${psbtBase64.length} characters, more than ${maxPsbtCharacters}`);
  }
  try {
    return decode(reader(base64.decode(psbtBase64)));
  } catch (cause) {
    if (cause instanceof Refused) throw bad(cause.message, cause);
    throw bad('psbtBase64 is not a PSBT in base64', cause);
  }
}

class Refused extends Error {}

function decode(from: Reader): Psbt {
  if (bytesToHex(take(from, magic.length / 2)) !== magic) throw new Error('no magic');
  const whole = readMap(from, 'the whole');
  const given = whole.get(types.unsignedTx);
  if (given === undefined) throw new Error('no unsigned transaction');
  const tx = readUnsigned(given);
  const inputs = tx.inputs.map((_, at) => readMap(from, `input ${at}`));
  for (const at of tx.outputs.keys()) readMap(from, `output ${at}`);
  if (from.at !== from.bytes.length) throw new Error('bytes follow after its end');
  return { tx, maps: inputs.map(inputMap) };
}

/** A type and a control block of two leaves: no longer key is looked at. */
const longestKey = 66;

/** Values by key in hex. */
function readMap(from: Reader, whose: string): ReadonlyMap<string, Uint8Array> {
  const entries = new Map<string, Uint8Array>();
  for (let count = 0; ; count += 1) {
    const key = data(from);
    if (key.length === 0) return entries;
    if (count === mostEntries) {
      const sentence = `the PSBT has more than ${mostEntries} entries of ${whose}`;
      throw new Refused(`${sentence}: no spend of an escrow needs them`);
    }
    const value = data(from);
    if (key.length > longestKey) continue;
    const name = bytesToHex(key);
    if (entries.has(name)) throw new Error(`${whose} has a key twice`);
    entries.set(name, value);
  }
}

function readUnsigned(bytes: Uint8Array): ReadUnsigned {
  const from = reader(bytes);
  take(from, 4);
  const inputCount = compactSize(from);
  if (inputCount > mostInputs) {
    const sentence = `the PSBT has ${inputCount} inputs, more than the ${mostInputs} that any`;
    throw new Refused(`${sentence} spend of an escrow is built with`);
  }
  const inputs = Array.from({ length: inputCount }, () => {
    const input = take(from, 41);
    if (input[36] !== 0) throw new Error('an input is signed');
    return input;
  });
  const start = from.at;
  const outputCount = compactSize(from);
  if (outputCount > mostOutputs) {
    const sentence = `the PSBT has ${outputCount} outputs, more than ${mostOutputs}`;
    throw new Refused(`${sentence}: send such a transaction as raw hex`);
  }
  const outputs = Array.from({ length: outputCount }, () => readOutput(from));
  const outputBytes = bytes.subarray(start, from.at);
  const lockTime = uint32At(take(from, 4));
  if (from.at !== bytes.length) throw new Error('bytes follow after its transaction');
  return { bytes, lockTime, inputs, outputs, outputBytes };
}

function uint32At(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
}

function inputMap(entries: ReadonlyMap<string, Uint8Array>): PsbtInputMap {
  const utxo = entries.get(types.witnessUtxo) ?? null;
  const sighash = entries.get(types.sighashType) ?? null;
  const from = reader(utxo ?? new Uint8Array());
  const witnessUtxo = utxo === null ? null : readOutput(from);
  if (from.at !== from.bytes.length) throw new Error('a witness UTXO is too long');
  if (sighash !== null && sighash.length !== 4) throw new Error('a sighash type has 4 bytes');
  const partial = new Map<string, Uint8Array>();
  for (const [key, value] of entries) {
    if (key.length === 68 && key.startsWith(partialSig)) partial.set(key.slice(2), value);
    if (key.length === 130 && key.startsWith(tapScriptSig)) partial.set(key.slice(2, 66), value);
  }
  const sighashType = sighash === null ? null : uint32At(sighash);
  const witnessScript = entries.get(types.witnessScript) ?? null;
  return { witnessUtxo, witnessScript, leaf: leafOf(entries), sighashType, partial };
}

function leafOf(entries: ReadonlyMap<string, Uint8Array>): PsbtInputMap['leaf'] {
  const [first, ...others] = [...entries].filter(([key]) => key.startsWith(types.tapLeaf));
  if (first === undefined) return null;
  if (others.length > 0) throw new Refused('an input of the PSBT has several leaves: which one?');
  const [key, value] = first;
  if (value.at(-1) !== leafVersion) throw new Refused('a leaf of the PSBT is no Tapscript');
  return { control: hexToBytes(key.slice(2)), script: value.subarray(0, -1) };
}

/** `txid`, `vout` and sequence of an input as it is written. */
export function inputOf(input: Uint8Array) {
  const txid = idHex(input.subarray(0, 32));
  return { txid, vout: uint32At(input.subarray(32)), sequence: uint32At(input.subarray(37)) };
}
