// The unsigned transaction of a spend: its bytes, as a PSBT (BIP 174, BIP 371), its sighashes, and with
// its witnesses. PURE. All scripts here have less than 253 bytes, so their lengths are one byte.

import { numberToBytesLE } from '@noble/curves/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { CompactSize, SigHash } from '@scure/btc-signer';
import { tapLeafHash } from '@scure/btc-signer/payment.js';
import { sha256x2, tagSchnorr } from '@scure/btc-signer/utils.js';
import { idHex } from './raw-transaction.ts';

export type Unsigned = {
  readonly bytes: Uint8Array;
  /** 36 bytes of outpoint, an empty script, a sequence. */
  readonly inputs: readonly Uint8Array[];
  readonly outputBytes: Uint8Array;
};

/** The types of entries, in hex. A Taproot type ends a key that begins with more (BIP 371). */
export const psbtTypes = {
  unsignedTx: '00',
  witnessUtxo: '01',
  sighashType: '03',
  witnessScript: '05',
  tapLeaf: '15',
  tapInternalKey: '17',
  tapMerkleRoot: '18',
} as const;

export const psbtMagic = '70736274ff';

/** Its version is 2, and it has one output. */
export function unsignedTransaction({
  outputs,
  sequence,
  lockTime,
  to,
}: {
  readonly outputs: readonly { readonly txid: string; readonly vout: number }[];
  readonly sequence: number;
  readonly lockTime: number;
  readonly to: { readonly script: Uint8Array; readonly amount: bigint };
}): Unsigned {
  const inputs = outputs.map(({ txid, vout }) =>
    concatBytes(hexToBytes(txid).reverse(), uint32(vout), Uint8Array.of(0), uint32(sequence)),
  );
  const outputBytes = concatBytes(Uint8Array.of(1), outputOf(to));
  const count = compactSize(inputs.length);
  const bytes = concatBytes(uint32(2), count, ...inputs, outputBytes, uint32(lockTime));
  return { bytes, inputs, outputBytes };
}

type Entry = readonly [key: string, value: Uint8Array];

/** Each input has the same entries, besides the output that it spends; `entries` by their keys. */
export function psbtOf(
  { bytes, inputs }: Unsigned,
  { script, amounts }: Spent,
  entries: readonly Entry[],
): Uint8Array {
  const end = Uint8Array.of(0);
  const all = inputs.map((_, at) => {
    const utxo = outputOf({ script, amount: amounts[at] ?? 0n });
    return mapOf([[psbtTypes.witnessUtxo, utxo], ...entries]);
  });
  return concatBytes(hexToBytes(psbtMagic), mapOf([[psbtTypes.unsignedTx, bytes]]), ...all, end);
}

function mapOf(entries: readonly Entry[]): Uint8Array {
  const parts = entries.flatMap(([key, value]) => [sized(hexToBytes(key)), sized(value)]);
  return concatBytes(...parts, Uint8Array.of(0));
}

const compactSize = (value: number) => CompactSize.encode(BigInt(value));

function sized(bytes: Uint8Array): Uint8Array {
  return concatBytes(compactSize(bytes.length), bytes);
}

function outputOf({ script, amount }: { script: Uint8Array; amount: bigint }): Uint8Array {
  return concatBytes(uint64(amount), sized(script));
}

export const uint32 = (value: number) => numberToBytesLE(value, 4);
const uint64 = (value: bigint) => numberToBytesLE(value, 8);

/** An escrow's payments that are spent together: `script` is that of their outputs. */
export type Spent = { readonly script: Uint8Array; readonly amounts: readonly bigint[] };

/**
 * The hash of each input by its place, of the whole transaction (BIP 143, SIGHASH_ALL). The common
 * part of all inputs is hashed once.
 */
export function sighashesOf(
  { bytes, inputs, outputBytes }: Unsigned,
  { amounts }: Spent,
  witnessScript: Uint8Array,
): (at: number) => Uint8Array {
  const prevouts = sha256x2(...inputs.map((each) => each.subarray(0, 36)));
  const sequences = sha256x2(...inputs.map((each) => each.subarray(37)));
  // There are less than 253 of them: their count is one byte.
  const paid = sha256x2(outputBytes.subarray(1));
  return (at) => {
    const input = inputs[at] ?? new Uint8Array();
    const head = [bytes.subarray(0, 4), prevouts, sequences, input.subarray(0, 36)];
    const spent = [sized(witnessScript), uint64(amounts[at] ?? 0n), input.subarray(37)];
    return sha256x2(...head, ...spent, paid, bytes.subarray(-4), uint32(SigHash.ALL));
  };
}

/** The same of Taproot (BIP 341 and 342, SIGHASH_DEFAULT): by a leaf, or null by the output's key. */
export function taprootSighashesOf(
  { bytes, inputs, outputBytes }: Unsigned,
  { script, amounts }: Spent,
  leaf: Uint8Array | null,
): (at: number) => Uint8Array {
  const hashed = (parts: readonly Uint8Array[]) => sha256(concatBytes(...parts));
  const locked = sized(script);
  const common = [
    // The epoch, then SIGHASH_DEFAULT.
    Uint8Array.of(0, SigHash.DEFAULT),
    bytes.subarray(0, 4),
    bytes.subarray(-4),
    hashed(inputs.map((each) => each.subarray(0, 36))),
    hashed(amounts.map(uint64)),
    hashed(inputs.map(() => locked)),
    hashed(inputs.map((each) => each.subarray(37))),
    sha256(outputBytes.subarray(1)),
    // 2: a leaf is spent. There is no annex.
    Uint8Array.of(leaf === null ? 0 : 2),
  ];
  // No code separator comes before the signature's check.
  const ofLeaf = leaf === null ? [] : [tapLeafHash(leaf), Uint8Array.of(0), uint32(0xffff_ffff)];
  return (at) => tagSchnorr('TapSighash', ...common, uint32(at), ...ofLeaf);
}

/** With its witnesses: the transaction in hex, and its id. */
export function finished(
  { bytes, inputs, outputBytes }: Unsigned,
  witnesses: readonly (readonly Uint8Array[])[],
): { readonly raw: string; readonly txid: string } {
  const items = witnesses.flatMap((witness) => [
    Uint8Array.of(witness.length),
    // An item is a signature, a secret, a branch or the script.
    ...witness.map(sized),
  ]);
  const raw = concatBytes(
    bytes.subarray(0, 4),
    Uint8Array.of(0, 1),
    compactSize(inputs.length),
    ...inputs,
    outputBytes,
    ...items,
    bytes.subarray(-4),
  );
  return { raw: bytesToHex(raw), txid: idHex(sha256x2(bytes)) };
}
