// PSBTs of escrows: their inputs and signatures, and the check against the terms. PURE.

import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { type Hashlock, opens, parseSecret } from '@parley/core/hashlock.ts';
import { atOnce, type Steps } from '@parley/core/steps.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { SigHash } from '@scure/btc-signer';
import { equalBytes } from '@scure/btc-signer/utils.js';
import type { SignedPsbt } from '../interface/material.ts';
import type { Care } from '../interface/turns.ts';
import { readEscrowScript } from './escrow-script.ts';
import { readLeaf, scriptOfLeaf } from './escrow-tree.ts';
import { type FeeBounds, leastFee, mostFee } from './fees.ts';
import { type BitcoinNetwork, paidAddress } from './networks.ts';
import { buildSpend, type EscrowOutput, type Verb, vsizeOf } from './plan.ts';
import { bad, decodePsbt, inputOf, type Psbt, type PsbtInputMap } from './psbt.ts';
import { finished, sighashesOf, taprootSighashesOf } from './unsigned.ts';

/** The conditions of an escrow's output that an input spends; the leaf of a tree has one of them. */
type Lock = {
  /** The output's. */
  readonly script: Uint8Array;
  /** The witness ends with these. */
  readonly ends: readonly Uint8Array[];
  readonly leaf: Uint8Array | null;
  readonly claim: { readonly key: string; readonly hashlock: Hashlock } | null;
  readonly refund: { readonly key: string; readonly timelock: number } | null;
};

type PsbtInput = ReturnType<typeof inputOf> & {
  readonly amount: bigint;
  readonly sighash: Uint8Array;
  /** Signatures that a wallet put into the PSBT itself, by key. */
  readonly partial: ReadonlyMap<string, Uint8Array>;
};

export type ReadPsbt = Pick<Psbt, 'tx'> & {
  readonly inputs: readonly PsbtInput[];
  readonly lock: Lock;
  readonly feeSats: bigint;
};

/** One escrow's payments, each once. Verifies nothing and costs little: `bad_transaction`. */
export function readPsbt(psbtBase64: string): ReadPsbt {
  const { tx, maps } = decodePsbt(psbtBase64);
  const [first] = maps;
  if (first === undefined) throw bad('the PSBT has no inputs');
  const lock = lockOf(first);
  const seen = new Set<string>();
  const spent = maps.map((map, at) => {
    const amount = amountOf(map, at, lock, first);
    const input = inputOf(tx.inputs[at] as Uint8Array);
    const outpoint = `${input.txid}:${input.vout}`;
    if (seen.has(outpoint)) throw bad(`input ${at} of the PSBT repeats ${outpoint}`);
    seen.add(outpoint);
    return { ...input, amount, partial: map.partial };
  });
  const { script, leaf, ends } = lock;
  const amounts = spent.map(({ amount }) => amount);
  const sighashOf =
    leaf === null
      ? sighashesOf(tx, { script, amounts }, ends[0] ?? new Uint8Array())
      : taprootSighashesOf(tx, { script, amounts }, leaf);
  const inputs = spent.map((each, at) => ({ ...each, sighash: sighashOf(at) }));
  const { outputs } = tx;
  const paid = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  const feeSats = amounts.reduce((sum, amount) => sum + amount, 0n) - paid;
  if (outputs.length === 0 || feeSats < 0n) {
    throw bad('the PSBT has no outputs, or pays more than it spends');
  }
  return { inputs, lock, feeSats, tx };
}

/** The first input's. */
function lockOf({ witnessUtxo, witnessScript, leaf }: PsbtInputMap): Lock {
  if (witnessUtxo === null || (witnessScript ?? leaf) === null) {
    throw bad('input 0 of the PSBT lacks its witness UTXO, or its witness script or leaf');
  }
  const lock = leaf === null ? ofScript(witnessScript ?? new Uint8Array()) : ofLeaf(leaf);
  if (lock !== null && equalBytes(witnessUtxo.script, lock.script)) return lock;
  throw bad('input 0 of the PSBT is not a swap escrow: send such a transaction as raw hex');
}

function ofScript(witnessScript: Uint8Array): Lock | null {
  const escrow = readEscrowScript(witnessScript);
  if (escrow === null) return null;
  const { hashlock, timelock } = escrow;
  return {
    script: concatBytes(Uint8Array.of(0, 32), sha256(witnessScript)),
    ends: [witnessScript],
    leaf: null,
    claim: { key: escrow.claimer, hashlock },
    refund: { key: escrow.funder, timelock },
  };
}

/** The other leaf of its tree is not known here: its escrow's address is what tells that. */
function ofLeaf({ script: leaf, control }: NonNullable<PsbtInputMap['leaf']>): Lock | null {
  const read = readLeaf(leaf);
  const script = read && scriptOfLeaf(leaf, control);
  if (read === null || script === null) return null;
  return {
    script,
    ends: [leaf, control],
    leaf,
    claim: read.verb === 'claim' ? read : null,
    refund: read.verb === 'refund' ? read : null,
  };
}

/** The escrow's payment that an input spends: one of the same escrow as the first. */
function amountOf(map: PsbtInputMap, at: number, lock: Lock, first: PsbtInputMap): bigint {
  const { witnessUtxo, witnessScript, leaf, sighashType } = map;
  const isSame =
    witnessUtxo !== null &&
    equalBytes(witnessUtxo.script, lock.script) &&
    isEqual(witnessScript, first.witnessScript) &&
    isEqual(leaf?.script, first.leaf?.script) &&
    isEqual(leaf?.control, first.leaf?.control);
  if (!isSame) {
    throw bad(`input ${at} of the PSBT spends another escrow than input 0: sign one PSBT for each`);
  }
  const wanted = lock.leaf === null ? 'ALL' : 'DEFAULT';
  if (sighashType !== null && sighashType !== SigHash[wanted]) {
    const sentence = `input ${at} of the PSBT asks for sighash type ${sighashType}`;
    throw bad(`${sentence}, not SIGHASH_${wanted}`);
  }
  return witnessUtxo.amount;
}

function isEqual(one: Uint8Array | null | undefined, other: typeof one): boolean {
  return one && other ? equalBytes(one, other) : one === other;
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
  const escrow = paidAddress(psbt.lock.script, network)?.address ?? '';
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
  const { lock } = psbt;
  const isClaim = verb === 'claim';
  const spent = isClaim ? lock.claim : lock.refund;
  if (spent === null) {
    const verbs = isClaim ? ['claim', 'refund'] : ['refund', 'claim'];
    throw bad(`a ${verbs[0]} (by preimageHex) does not sign the leaf of a ${verbs[1]}`);
  }
  if (preimage !== null && lock.claim !== null && !opens(preimage, lock.claim.hashlock)) {
    throw bad(`input 0: sha256(preimage) is not the hashlock ${lock.claim.hashlock}`);
  }
  const branch = isClaim ? [hexToBytes(preimage ?? '')] : [];
  // OP_IF takes a 1, or an empty item.
  if (lock.leaf === null) branch.push(isClaim ? Uint8Array.of(1) : new Uint8Array());
  const side = isClaim ? 'payout' : 'refund';
  const witnesses: Uint8Array[][] = [];
  for (const [at, input] of psbt.inputs.entries()) {
    yield;
    if (!isClaim) mustUnlock(psbt, input, at);
    const hex = signaturesHex[at];
    const given = hex === undefined ? input.partial.get(spent.key) : bytesOf(hex, at);
    if (given === undefined) throw bad(`input ${at}: the PSBT holds no signature by ${spent.key}`);
    const by = { key: spent.key, side, sighash: input.sighash, at };
    const signature = lock.leaf === null ? ecdsa(given, by) : bip340(given, by);
    witnesses.push([signature, ...branch, ...lock.ends]);
  }
  return finished(psbt.tx, witnesses);
}

function mustUnlock({ tx, lock }: ReadPsbt, input: PsbtInput, at: number): void {
  const { lockTime } = tx;
  const timelock = lock.refund?.timelock ?? 0;
  if (lockTime < timelock || input.sequence === 0xffff_ffff) {
    throw bad(
      `input ${at}: a refund needs nLockTime of at least ${timelock} and a sequence ` +
        `below 0xffffffff; it has ${lockTime} and ${input.sequence}` +
        ' (a claim needs preimageHex)',
    );
  }
}

type By = {
  readonly key: string;
  readonly side: string;
  readonly sighash: Uint8Array;
  readonly at: number;
};

function notBy({ key, side, sighash, at }: By): ParleyError {
  const sentence = `input ${at}: the signature is not by the ${side} key ${key} over sighash `;
  return bad(sentence + bytesToHex(sighash));
}

/** In DER with its flag. */
function ecdsa(given: Uint8Array, by: By): Uint8Array {
  const signature = parseSignature(given, by.at);
  const compact = signature.toBytes('compact');
  const options = { prehash: false };
  if (!secp256k1.verify(compact, by.sighash, hexToBytes(by.key), options)) throw notBy(by);
  return concatBytes(signature.toBytes('der'), Uint8Array.of(SigHash.ALL));
}

/** 64 bytes: no flag stands for SIGHASH_DEFAULT (BIP 341). */
function bip340(given: Uint8Array, by: By): Uint8Array {
  if (given.length !== 64) {
    throw bad(`input ${by.at}: a signature of Taproot has 64 bytes (BIP 340), not ${given.length}`);
  }
  if (!schnorr.verify(given, by.sighash, hexToBytes(by.key))) throw notBy(by);
  return given;
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
