// PSBTs: their sighashes, the finished transaction, and the check against the terms. PURE.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { ParleyError } from '@parley/core/errors.ts';
import { opens, parseSecret } from '@parley/core/hashlock.ts';
import { atOnce, type Steps } from '@parley/core/steps.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { SigHash } from '@scure/btc-signer';
import { equalBytes } from '@scure/btc-signer/utils.js';
import type { SignedPsbt } from '../interface/material.ts';
import type { Care } from '../interface/turns.ts';
import { type EscrowScript, readEscrowScript } from './escrow-script.ts';
import { type FeeBounds, leastFee, mostFee } from './fees.ts';
import { type BitcoinNetwork, witnessScriptHashAddress } from './networks.ts';
import { buildSpend, type EscrowOutput, type Verb, vsizeOf } from './plan.ts';
import {
  badPsbt as bad,
  decodePsbt,
  finished,
  inputOf,
  type Psbt,
  type PsbtInputMap,
  sighashesOf,
} from './psbt.ts';

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
 * With a preimage a claim, else a refund. Signatures: 64 bytes or DER, made low-S; none given:
 * those in the PSBT. Each is verified. `bad_transaction` names the input.
 */
export function assemble(signed: SignedPsbt): Assembled {
  return atOnce(assembling(signed));
}

/** The same in steps of a millisecond or two: a signature each. */
export function* assembling(signed: SignedPsbt): Steps<Assembled> {
  return yield* signing(readPsbt(signed.psbtBase64), signed);
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
    if (preimage === null) mustUnlock(psbt, input, at);
    const signature = signatureFor(input, at, signaturesHex[at], preimage !== null);
    const branch =
      preimage === null ? [new Uint8Array()] : [hexToBytes(preimage), Uint8Array.of(1)];
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
