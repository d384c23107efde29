// Reading PSBTs: the sighashes of one, the finished transaction from one and its signatures, and
// the check of a server-built one against the terms. PURE: server and SDK share it.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { RawTx, SigHash, Transaction } from '@scure/btc-signer';
import { ParleyError } from '../../core/errors.ts';
import { opens, parseHex32 } from '../../core/hashlock.ts';
import { atOnce, type Steps } from '../../core/steps.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type { SignedPsbt } from '../material.ts';
import { type EscrowScript, readEscrowScript } from './escrow-script.ts';
import { type FeeBounds, leastFee, mostFee } from './fees.ts';
import type { BitcoinNetwork } from './networks.ts';
import {
  destination,
  type EscrowOutput,
  escrowBytes,
  replaceableSequence,
  type Verb,
  vsizeOf,
} from './plan.ts';

/** A spend of many outputs is still far below this. */
const maxPsbtCharacters = 400_000;

type PsbtInput = {
  readonly txid: string;
  readonly vout: number;
  readonly sequence: number;
  readonly amount: bigint;
  readonly witnessScript: Uint8Array;
  readonly escrow: EscrowScript;
  readonly sighash: Uint8Array;
  /** Signatures that a wallet put into the PSBT itself, by key. */
  readonly partial: ReadonlyMap<string, Uint8Array>;
};

export type ReadPsbt = {
  readonly inputs: readonly PsbtInput[];
  readonly outputs: readonly { readonly script: Uint8Array; readonly amount: bigint }[];
  readonly version: number;
  readonly lockTime: number;
  readonly feeSats: bigint;
};

function bad(sentence: string, cause?: unknown): ParleyError {
  return new ParleyError('bad_transaction', sentence, {}, cause === undefined ? {} : { cause });
}

/** Reads a PSBT whose every input spends a swap escrow. Throws `bad_transaction`. */
export function readPsbt(psbtBase64: string): ReadPsbt {
  return atOnce(readingPsbt(psbtBase64));
}

function* readingPsbt(psbtBase64: string): Steps<ReadPsbt> {
  if (psbtBase64.length > maxPsbtCharacters) {
    throw bad(`the PSBT has ${psbtBase64.length} characters, more than ${maxPsbtCharacters}`);
  }
  let tx: Transaction;
  try {
    const opts = { allowUnknownInputs: true, allowUnknownOutputs: true };
    tx = Transaction.fromPSBT(base64.decode(psbtBase64), opts);
  } catch (cause) {
    throw bad('psbtBase64 is not a PSBT in base64', cause);
  }
  const inputs: PsbtInput[] = [];
  for (let at = 0; at < tx.inputsLength; at += 1) {
    yield;
    inputs.push(readInput(tx, at));
  }
  const outputs = Array.from({ length: tx.outputsLength }, (_, at) => {
    const { script, amount } = tx.getOutput(at);
    if (script === undefined || amount === undefined) throw bad(`output ${at} is incomplete`);
    return { script, amount };
  });
  const paid = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  const feeSats = inputs.reduce((sum, { amount }) => sum + amount, 0n) - paid;
  if (inputs.length === 0 || outputs.length === 0 || feeSats < 0n) {
    throw bad('the PSBT has no inputs, no outputs, or pays more than it spends');
  }
  return { inputs, outputs, version: tx.version, lockTime: tx.lockTime, feeSats };
}

function readInput(tx: Transaction, at: number): PsbtInput {
  const input = tx.getInput(at);
  const { txid, index, witnessUtxo, witnessScript } = input;
  if (!txid || index === undefined || !witnessUtxo || !witnessScript) {
    throw bad(`input ${at} of the PSBT lacks its outpoint, witness UTXO or witness script`);
  }
  const escrow = readEscrowScript(witnessScript);
  const expected = concatBytes(Uint8Array.of(0, 32), sha256(witnessScript));
  if (escrow === null || bytesToHex(expected) !== bytesToHex(witnessUtxo.script)) {
    throw bad(`input ${at} of the PSBT is not a swap escrow: send such a transaction as raw hex`);
  }
  if (input.sighashType !== undefined && input.sighashType !== SigHash.ALL) {
    throw bad(
      `input ${at} of the PSBT asks for sighash type ${input.sighashType}, not SIGHASH_ALL`,
    );
  }
  const { amount } = witnessUtxo;
  return {
    txid: bytesToHex(txid),
    vout: index,
    sequence: input.sequence ?? 0xffff_ffff,
    amount,
    witnessScript,
    escrow,
    sighash: tx.preimageWitnessV0(at, witnessScript, SigHash.ALL, amount),
    partial: new Map((input.partialSig ?? []).map(([key, sig]) => [bytesToHex(key), sig])),
  };
}

/** A finished transaction. */
export type Assembled = { readonly raw: string; readonly txid: string };

/**
 * The transaction of a PSBT and its signatures: 64-byte compact or DER (with or without its
 * SIGHASH_ALL byte), made low-S; an empty list takes the signatures inside the PSBT. With a
 * preimage it is a claim, without one a refund. Each signature is checked against the sighash and
 * the key of the script before anything is accepted. Throws `bad_transaction` naming the input.
 */
export function assemble(signed: SignedPsbt): Assembled {
  return atOnce(assembling(signed));
}

/** The same in steps of a millisecond or two: a signature each. */
export function* assembling(signed: SignedPsbt): Steps<Assembled> {
  const psbt = yield* readingPsbt(signed.psbtBase64);
  const { signaturesHex, preimageHex } = signed;
  const preimage = preimageHex === undefined ? null : parseHex32(preimageHex, 'preimageHex');
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
    if (preimage === null) mustUnlock(psbt, input, at);
    const signature = signatureFor(input, at, signaturesHex[at], preimage !== null);
    const branch =
      preimage === null ? [new Uint8Array()] : [hexToBytes(preimage), Uint8Array.of(1)];
    witnesses.push([signature, ...branch, input.witnessScript]);
  }
  return encode(psbt, witnesses);
}

function mustUnlock(psbt: ReadPsbt, input: PsbtInput, at: number): void {
  if (psbt.lockTime < input.escrow.timelock || input.sequence === 0xffff_ffff) {
    throw bad(
      `input ${at}: a refund needs nLockTime of at least ${input.escrow.timelock} and a sequence ` +
        `below 0xffffffff; it has ${psbt.lockTime} and ${input.sequence}` +
        ' (a claim needs preimageHex)',
    );
  }
}

/** The input's signature in DER with its flag, checked against the key of the branch. */
function signatureFor(
  input: PsbtInput,
  at: number,
  hex: string | undefined,
  claim: boolean,
): Uint8Array {
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

function encode(psbt: ReadPsbt, witnesses: Uint8Array[][]): Assembled {
  const body = {
    version: psbt.version,
    inputs: psbt.inputs.map(({ txid, vout, sequence }) => ({
      txid: hexToBytes(txid),
      index: vout,
      finalScriptSig: new Uint8Array(),
      sequence,
    })),
    outputs: psbt.outputs.map(({ script, amount }) => ({ amount, script })),
    lockTime: psbt.lockTime,
  };
  const stripped = RawTx.encode({ ...body, segwitFlag: false, witnesses: undefined });
  const raw = RawTx.encode({ ...body, segwitFlag: true, witnesses });
  const txid = bytesToHex(sha256(sha256(stripped)).reverse());
  return { raw: bytesToHex(raw), txid };
}

/** What a server said it built, and what the caller knows itself. */
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

/**
 * Checks a server-built claim or refund field by field against the terms: script, sequence, lock
 * time, inputs, the single output to the right address, fee within bounds, and that the sighashes
 * are those of the PSBT. Throws `bad_transaction` naming the field.
 */
export function checkSpend(spend: SpendToCheck): {
  readonly feeSats: bigint;
  readonly vsize: number;
} {
  const { verb, terms, network, bounds } = spend;
  const psbt = readPsbt(spend.psbtBase64);
  const must = (holds: boolean, sentence: string) => {
    if (!holds) throw bad(`the ${verb} differs from the terms: ${sentence}`);
  };
  const script = bytesToHex(escrowBytes(terms, network).witnessScript);
  const seen = new Set<string>();
  for (const [at, input] of psbt.inputs.entries()) {
    const outpoint = `${input.txid}:${input.vout}`;
    must(bytesToHex(input.witnessScript) === script, `input ${at} spends another script`);
    must(input.sequence === replaceableSequence, `input ${at} has sequence ${input.sequence}`);
    must(!seen.has(outpoint), `input ${at} repeats ${outpoint}`);
    seen.add(outpoint);
    const known = spend.outputs?.find((each) => `${each.txid}:${each.vout}` === outpoint);
    must(
      spend.outputs === null || known?.amount === input.amount,
      `input ${at} says that ${outpoint} holds ${input.amount} sats`,
    );
  }
  const lockTime = verb === 'refund' ? terms.timelock : 0;
  must(psbt.lockTime === lockTime, `nLockTime is ${psbt.lockTime}, not ${lockTime}`);
  must(psbt.version === 2, `the version is ${psbt.version}, not 2`);
  const to = destination(terms, network, verb);
  const [output, ...more] = psbt.outputs;
  must(more.length === 0, `it has ${psbt.outputs.length} outputs, not 1`);
  must(
    output !== undefined && bytesToHex(output.script) === bytesToHex(to.script),
    `it does not pay ${to.address}`,
  );
  const value = psbt.inputs.reduce((sum, { amount }) => sum + amount, 0n);
  if (verb === 'claim') {
    must(value >= terms.amount, `it claims ${value} sats, less than the agreed ${terms.amount}`);
  }
  const vsize = vsizeOf(terms, network, verb, psbt.inputs.length);
  const [least, most] = [leastFee(bounds, vsize), mostFee(bounds, vsize, value)];
  must(
    psbt.feeSats >= least && psbt.feeSats <= most,
    `its fee is ${psbt.feeSats} sats, outside ${least} to ${most}`,
  );
  const sighashes = psbt.inputs.map(({ sighash }) => bytesToHex(sighash));
  must(sighashes.join() === spend.sighashHexes.join(), 'a sighash is not that of the PSBT');
  return { feeSats: psbt.feeSats, vsize };
}
