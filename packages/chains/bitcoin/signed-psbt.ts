// PSBTs: their sighashes, the finished transaction, and the check against the terms. PURE.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { opens, parseSecret } from '@parley/core/hashlock.ts';
import { atOnce, type Steps } from '@parley/core/steps.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { base64 } from '@scure/base';
import { SigHash } from '@scure/btc-signer';
import { equalBytes, sha256x2 } from '@scure/btc-signer/utils.js';
import type { SignedPsbt } from '../interface/material.ts';
import type { Care } from '../interface/turns.ts';
import { type EscrowScript, readEscrowScript } from './escrow-script.ts';
import { type FeeBounds, leastFee, mostFee } from './fees.ts';
import { type BitcoinNetwork, witnessScriptHashAddress } from './networks.ts';
import { buildSpend, type EscrowOutput, type Verb, vsizeOf } from './plan.ts';
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

type PsbtInput = ReturnType<typeof inputOf> & {
  readonly amount: bigint;
  readonly witnessScript: Uint8Array;
  readonly escrow: EscrowScript;
  readonly sighash: Uint8Array;
  /** Signatures that a wallet put into the PSBT itself, by key. */
  readonly partial: ReadonlyMap<string, Uint8Array>;
};

export type ReadPsbt = Pick<Psbt, 'tx'> & {
  readonly inputs: readonly PsbtInput[];
  readonly feeSats: bigint;
};

/** One escrow's payments, each once. Verifies nothing and costs little: `bad_transaction`. */
export function readPsbt(psbtBase64: string): ReadPsbt {
  const { tx, maps } = decodePsbt(psbtBase64);
  const { outputs } = tx;
  const sighashOf = sighashesOf(tx);
  const seen = new Set<string>();
  const inputs: PsbtInput[] = [];
  for (const [at, map] of maps.entries()) {
    const [first] = inputs;
    const { witnessUtxo, witnessScript, escrow } = spentBy(map, at, first ?? null);
    const spent = inputOf(tx.inputs[at] as Uint8Array);
    const outpoint = `${spent.txid}:${spent.vout}`;
    if (seen.has(outpoint)) throw bad(`input ${at} of the PSBT repeats ${outpoint}`);
    seen.add(outpoint);
    const { amount } = witnessUtxo;
    const sighash = sighashOf(at, witnessScript, amount);
    inputs.push({ ...spent, amount, witnessScript, escrow, sighash, partial: map.partial });
  }
  const paid = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  const feeSats = inputs.reduce((sum, { amount }) => sum + amount, 0n) - paid;
  if (inputs.length === 0 || outputs.length === 0 || feeSats < 0n) {
    throw bad('the PSBT has no inputs, no outputs, or pays more than it spends');
  }
  return { inputs, feeSats, tx };
}

/** The escrow's payment that an input spends: one of the same escrow as the first. */
function spentBy(
  { witnessUtxo, witnessScript, sighashType }: PsbtInputMap,
  at: number,
  first: PsbtInput | null,
) {
  if (witnessUtxo === null || witnessScript === null) {
    throw bad(`input ${at} of the PSBT lacks its witness UTXO or witness script`);
  }
  const isSame = first !== null && equalBytes(first.witnessScript, witnessScript);
  const escrow = isSame ? first.escrow : readEscrowScript(witnessScript);
  if (escrow === null || !equalBytes(witnessUtxo.script, paymentScript(witnessScript))) {
    throw bad(`input ${at} of the PSBT is not a swap escrow: send such a transaction as raw hex`);
  }
  if (first !== null && !isSame) {
    throw bad(`input ${at} of the PSBT spends another escrow than input 0: sign one PSBT for each`);
  }
  if (sighashType !== null && sighashType !== SigHash.ALL) {
    throw bad(`input ${at} of the PSBT asks for sighash type ${sighashType}, not SIGHASH_ALL`);
  }
  return { witnessUtxo, witnessScript, escrow };
}

function paymentScript(witnessScript: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0, 32), sha256(witnessScript));
}

export type Assembled = { readonly raw: string; readonly txid: string };

/**
 * With a preimage a claim, else a refund, or the `verb`: a claim without a preimage has an empty
 * item in its place, and the same txid. Signatures: 64 bytes or DER, made low-S; none given: those
 * in the PSBT. Each is verified. `bad_transaction` names the input.
 */
export function assemble(signed: SignedPsbt, verb?: Verb): Assembled {
  return atOnce(assembling(signed, verb));
}

/** The same in steps of a millisecond or two: a signature each. */
export function* assembling(signed: SignedPsbt, verb?: Verb): Steps<Assembled> {
  return yield* signing(readPsbt(signed.psbtBase64), signed, verb);
}

/** Anybody may have made it up: its escrow is checked first, as signatures are dear. */
export async function assembledWith(
  care: Care | undefined,
  network: BitcoinNetwork,
  signed: SignedPsbt,
  signal: AbortSignal,
): Promise<Assembled> {
  const psbt = readPsbt(signed.psbtBase64);
  if (care === undefined) return atOnce(signing(psbt, signed));
  const script = paymentScript(psbt.inputs[0]?.witnessScript ?? new Uint8Array());
  const escrow = witnessScriptHashAddress(script, network);
  if (!(await care.isOurs(escrow))) {
    const sentence = `the PSBT spends ${escrow}, which is the escrow of no swap here: send such a`;
    throw new ParleyError('bad_transaction', `${sentence} transaction as raw hex`, { escrow });
  }
  return care.inTurns(signing(psbt, signed), signal);
}

function* signing(
  psbt: ReadPsbt,
  { signaturesHex, preimageHex }: Omit<SignedPsbt, 'psbtBase64'>,
  verb: Verb = preimageHex === undefined ? 'refund' : 'claim',
): Steps<Assembled> {
  const preimage = preimageHex === undefined ? null : parseSecret(preimageHex, 'preimageHex');
  if (signaturesHex.length !== 0 && signaturesHex.length !== psbt.inputs.length) {
    throw bad(`${signaturesHex.length} signatures for ${psbt.inputs.length} inputs`);
  }
  const witnesses: Uint8Array[][] = [];
  for (const [at, input] of psbt.inputs.entries()) {
    yield;
    const { escrow } = input;
    if (preimage !== null && !opens(preimage, escrow.hashlock)) {
      throw bad(`input ${at}: sha256(preimage) is not the hashlock ${escrow.hashlock}`);
    }
    const isClaim = verb === 'claim';
    if (!isClaim) mustUnlock(psbt, input, at);
    const signature = signatureFor(input, at, signaturesHex[at], isClaim);
    const branch = isClaim ? [hexToBytes(preimage ?? ''), Uint8Array.of(1)] : [new Uint8Array()];
    witnesses.push([signature, ...branch, input.witnessScript]);
  }
  return finished(psbt.tx, witnesses);
}

function mustUnlock(psbt: ReadPsbt, input: PsbtInput, at: number): void {
  const { lockTime } = psbt.tx;
  if (lockTime < input.escrow.timelock || input.sequence === 0xffff_ffff) {
    throw bad(
      `input ${at}: a refund needs nLockTime of at least ${input.escrow.timelock} and a sequence ` +
        `below 0xffffffff; it has ${lockTime} and ${input.sequence}` +
        ' (a claim needs preimageHex)',
    );
  }
}

/** The input's signature in DER with its flag, checked against the key of the branch. */
function signatureFor(input: PsbtInput, at: number, hex: string | undefined, claim: boolean) {
  const key = claim ? input.escrow.claimer : input.escrow.funder;
  const given = hex === undefined ? input.partial.get(key) : bytesOf(hex, at);
  if (given === undefined) throw bad(`input ${at}: the PSBT holds no signature by ${key}`);
  const signature = parseSignature(given, at);
  const holds = secp256k1.verify(signature.toBytes('compact'), input.sighash, hexToBytes(key), {
    prehash: false,
  });
  if (!holds) {
    throw bad(
      `input ${at}: the signature is not by the ${claim ? 'payout' : 'refund'} key ${key} over ` +
        `sighash ${bytesToHex(input.sighash)}`,
    );
  }
  return concatBytes(signature.toBytes('der'), Uint8Array.of(SigHash.ALL));
}

function bytesOf(hex: string, at: number): Uint8Array {
  if (!/^(?:[0-9a-fA-F]{2}){8,73}$/.test(hex)) {
    throw bad(`input ${at}: a signature must be hex, 64 bytes compact or DER`);
  }
  return hexToBytes(hex);
}

function parseSignature(given: Uint8Array, at: number) {
  const { Signature } = secp256k1;
  try {
    const compact = given.length === 64;
    const signature = Signature.fromBytes(
      compact ? given : withoutFlag(given),
      compact ? 'compact' : 'der',
    );
    if (!signature.hasHighS()) return signature;
    const { n } = secp256k1.Point.CURVE();
    return new Signature(signature.r, n - signature.s);
  } catch (cause) {
    throw bad(`input ${at}: the signature is neither 64 bytes compact nor DER`, cause);
  }
}

/** DER says its own length; one byte more is the sighash flag and must be SIGHASH_ALL. */
function withoutFlag(der: Uint8Array): Uint8Array {
  const length = 2 + (der[1] ?? 0);
  return der.length === length + 1 && der[length] === SigHash.ALL ? der.slice(0, length) : der;
}

/** The caller's own knowledge, and what a server said it built. */
export type SpendToCheck = {
  readonly psbtBase64: string;
  readonly sighashHexes: readonly string[];
  readonly verb: Verb;
  readonly terms: EscrowTerms;
  readonly network: BitcoinNetwork;
  readonly bounds: FeeBounds;
  /** The escrow's payments from the caller's own source; null when it has none. */
  readonly outputs: readonly EscrowOutput[] | null;
};

/** Checks a server-built spend: it must be the bytes that the terms give. Throws `bad_transaction`. */
export function checkSpend(spend: SpendToCheck): {
  readonly feeSats: bigint;
  readonly vsize: number;
} {
  const { psbtBase64, verb, terms, network, bounds, outputs } = spend;
  const { inputs, feeSats } = readPsbt(psbtBase64);
  const must = (holds: boolean, sentence: string) => {
    if (!holds) throw bad(`the ${verb} differs from the terms: ${sentence}`);
  };
  for (const [at, { txid, vout, amount }] of inputs.entries()) {
    const known = outputs?.find((each) => each.txid === txid && each.vout === vout);
    must(
      outputs === null || known?.amount === amount,
      `input ${at} says that ${txid}:${vout} holds ${amount} sats`,
    );
  }
  const value = inputs.reduce((sum, { amount }) => sum + amount, 0n);
  if (verb === 'claim') {
    must(value >= terms.amount, `it claims ${value} sats, less than the agreed ${terms.amount}`);
  }
  const vsize = vsizeOf(terms, network, verb, inputs.length);
  const least = leastFee(bounds, vsize);
  const most = mostFee(bounds, vsize, value);
  must(
    feeSats >= least && feeSats <= most,
    `its fee is ${feeSats} sats, outside ${least} to ${most}`,
  );
  const built = buildSpend(terms, network, verb, inputs, feeSats);
  must(built.psbtBase64 === psbtBase64, 'its bytes are not those that they give');
  const isSame = built.sighashHexes.join() === spend.sighashHexes.join();
  must(isSame, 'a sighash is not that of the PSBT');
  return { feeSats, vsize };
}

/** Ten times a spend of `mostInputs`, before wallets add theirs. */
const maxPsbtCharacters = 400_000;
/** A template has one; the signer for an escrow may divide what it holds. */
const mostOutputs = 10;
/** In one map: a template has three, and a wallet adds its own key's path, twice at the most. */
const mostEntries = 16;

const magic = '70736274ff';
const types = { unsignedTx: '00', witnessUtxo: '01', sighashType: '03', witnessScript: '05' };
const partialSig = '02';

function bad(sentence: string, cause?: unknown): ParleyError {
  return new ParleyError('bad_transaction', sentence, {}, cause === undefined ? {} : { cause });
}

type PsbtOutput = { readonly script: Uint8Array; readonly amount: bigint };

type Unsigned = {
  readonly bytes: Uint8Array;
  readonly lockTime: number;
  /** 36 bytes of outpoint, an empty script, a sequence. */
  readonly inputs: readonly Uint8Array[];
  readonly outputs: readonly PsbtOutput[];
  readonly outputBytes: Uint8Array;
};

type PsbtInputMap = {
  readonly witnessUtxo: PsbtOutput | null;
  readonly witnessScript: Uint8Array | null;
  readonly sighashType: number | null;
  readonly partial: ReadonlyMap<string, Uint8Array>;
};

type Psbt = {
  readonly tx: Unsigned;
  readonly maps: readonly PsbtInputMap[];
};

/** Throws `bad_transaction`. */
function decodePsbt(psbtBase64: string): Psbt {
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

/** A type and a public key: no longer key is looked at. */
const longestKey = 34;

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

function readUnsigned(bytes: Uint8Array): Unsigned {
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
  const lockTime = uint32(take(from, 4));
  if (from.at !== bytes.length) throw new Error('bytes follow after its transaction');
  return { bytes, lockTime, inputs, outputs, outputBytes };
}

function uint32(bytes: Uint8Array): number {
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
  }
  const sighashType = sighash === null ? null : uint32(sighash);
  const witnessScript = entries.get(types.witnessScript) ?? null;
  return { witnessUtxo, witnessScript, sighashType, partial };
}

/** `txid`, `vout` and sequence of an input as it is written. */
function inputOf(input: Uint8Array) {
  const txid = idHex(input.subarray(0, 32));
  return { txid, vout: uint32(input.subarray(32)), sequence: uint32(input.subarray(37)) };
}

/**
 * The parts of an input that SIGHASH_ALL signs (BIP 143). The common part of all inputs is hashed
 * once.
 */
function sighashesOf({ bytes, inputs, outputBytes }: Unsigned) {
  const prevouts = sha256x2(...inputs.map((each) => each.subarray(0, 36)));
  const sequences = sha256x2(...inputs.map((each) => each.subarray(37)));
  // There are less than 253 of them: their count is one byte.
  const paid = sha256x2(outputBytes.subarray(1));
  const all = Uint8Array.of(SigHash.ALL, 0, 0, 0);
  return (at: number, script: Uint8Array, amount: bigint): Uint8Array => {
    const input = inputs[at] ?? new Uint8Array();
    const value = new Uint8Array(8);
    new DataView(value.buffer).setBigUint64(0, amount, true);
    const head = [bytes.subarray(0, 4), prevouts, sequences, input.subarray(0, 36)];
    // A script of an escrow has less than 253 bytes.
    const spent = [Uint8Array.of(script.length), script, value, input.subarray(37)];
    return sha256x2(...head, ...spent, paid, bytes.subarray(-4), all);
  };
}

/** With its witnesses: the transaction in hex, and its id. */
function finished(
  { bytes, inputs, outputBytes }: Unsigned,
  witnesses: readonly (readonly Uint8Array[])[],
): { readonly raw: string; readonly txid: string } {
  const items = witnesses.flatMap((witness) => [
    Uint8Array.of(witness.length),
    // An item is a signature, a secret, a branch or the script: less than 253 bytes each.
    ...witness.flatMap((item) => [Uint8Array.of(item.length), item]),
  ]);
  const raw = concatBytes(
    bytes.subarray(0, 4),
    Uint8Array.of(0, 1, inputs.length),
    ...inputs,
    outputBytes,
    ...items,
    bytes.subarray(-4),
  );
  return { raw: bytesToHex(raw), txid: idHex(sha256x2(bytes)) };
}
