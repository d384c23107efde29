// Are the unsigned bytes exactly what the verified terms demand, and nothing more?

import { bytesToHex } from '@noble/hashes/utils.js';
import {
  defaultFeeBounds,
  type FeeBounds,
  publicClaimBounds,
  rateOf,
} from '@parley/chains/bitcoin/fees.ts';
import { type EscrowOutput, paidTo, paymentUri } from '@parley/chains/bitcoin/plan.ts';
import { checkSpend, readPsbt } from '@parley/chains/bitcoin/signed-psbt.ts';
import { fundingOfLength } from '@parley/chains/escrows/plan.ts';
import { claimCall, fundCalls, refundCall, releaseCall } from '@parley/chains/evm/plan.ts';
import { type Aliases, aliasesOf, aliasNames } from '@parley/chains/interface/aliases.ts';
import type { Allowance } from '@parley/chains/interface/fund-ways.ts';
import type { EvmCall, Material } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { materialProblems as solanaProblems, type Wanted } from '@parley/chains/solana/plan.ts';
import { materialProblems as tronProblems } from '@parley/chains/tron/plan.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import { opens, type Secret } from '@parley/core/hashlock.ts';
import type { BitcoinAddress } from '@parley/core/nominal.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { VerificationError } from './errors.ts';
import type { ChainView } from './trade.ts';
import { escrowOf, mustBe, mustEqual } from './verify.ts';

export type Asked =
  | {
      readonly verb: 'fund';
      readonly allowance?: Allowance;
      /** EVM, TRON: the payee's, for a lane of its own. */
      readonly laneSignature?: string;
    }
  | { readonly verb: 'claim'; readonly secret: Secret }
  /**
   * Before the timelock too: `release`, by the payee's signature (EVM, TRON); `isReleased`, by its
   * own transaction (Solana).
   */
  | { readonly verb: 'refund'; readonly release?: string; readonly isReleased?: true };

/** The latest a transaction may be sent by the customer's own deadlines; null = no limit. */
export type Limits = {
  readonly validUntil: number | null;
  /**
   * The escrow's outputs for Bitcoin claims and refunds, from the customer's own source: inputs
   * could be coins that do not exist.
   */
  readonly outputs: readonly EscrowOutput[] | null;
  /** Whether the secret is: a claim on Bitcoin may then cost nearly all that it takes. */
  readonly isPublic?: boolean;
  /** Unix seconds; default the machine's clock. A TRON transaction may live for an hour. */
  readonly now?: number;
};

/** Most that one TRON transaction may burn for energy unless the view says otherwise: 500 TRX. */
const mostFeeLimitSun = 500_000_000n;
/** A funding that no block takes must die soon; see hands/account.ts. */
const longestTronLifeMs = 3_600_000;

/**
 * Throws VerificationError unless the material is what `asked` of these terms comes to. It says
 * nothing of `alternatives`: no text of those is signed before `verifyTypedData`.
 */
export function verifyMaterial(
  material: Material & { validUntil?: number | null },
  asked: Asked,
  terms: EscrowTerms,
  view: ChainView,
  limits: Limits = { validUntil: null, outputs: null },
): void {
  try {
    verifyAll(material, asked, terms, view, limits);
  } catch (error) {
    if (asked.verb !== 'claim' || !(error instanceof VerificationError)) throw error;
    const { field, expected } = error;
    // A value that a node or the market put there.
    const got = String(error.got);
    const short = cut(expected);
    const said = cut(got);
    const more = short === said ? `, others from character ${firstOther(expected, got)} on` : '';
    throw new VerificationError(field, short, `${said}${more}`);
  }
}

function firstOther(expected: string, got: string): number {
  const at = [...expected].findIndex((letter, index) => letter !== got[index]);
  return at === -1 ? expected.length : at;
}

/** Long words, in whatever letters they are: one of a claim may hold the secret. */
function cut(text: string): string {
  return text.replace(/\S{43,}/g, (word) => `${word.slice(0, 10)}… (${word.length} characters)`);
}

function verifyAll(
  material: Material & { validUntil?: number | null },
  asked: Asked,
  terms: EscrowTerms,
  view: ChainView,
  limits: Limits,
): void {
  const escrow = escrowOf('terms', terms, view);
  if (asked.verb === 'claim' && !opens(asked.secret, terms.hashlock)) {
    throw new VerificationError('secret', `a preimage of ${terms.hashlock}`, 'another');
  }
  mustEqual('chain', view.chain, material.chain);
  mustEqual('family', view.family, material.family);
  mustEqual('escrow', escrow.address, material.escrow);
  verifyValidUntil(material.validUntil ?? null, limits.validUntil);
  switch (view.family) {
    case 'evm':
      verifyEvm(material, asked, terms, view);
      break;
    case 'tron':
      verifyTron(material, asked, terms, view, limits.now);
      break;
    case 'solana':
      verifySolana(material, asked, terms, view);
      break;
    case 'bitcoin':
      if (asked.verb === 'fund') verifyPayment(material, escrow.address, terms);
      else verifySpend(material, asked.verb, terms, view, limits);
      break;
    default:
      // A family that nobody checks is no family that is right.
      unknownFamily(view satisfies never);
  }
  verifyAliases(material, asked.verb === 'claim' ? asked.secret : null);
}

function unknownFamily({ family }: { readonly family: string }): never {
  throw new VerificationError('family', 'one that this SDK checks', family);
}

/** The market may be stricter than the customer's own deadline, never laxer. */
function verifyValidUntil(said: number | null, own: number | null): void {
  if (own === null || said === null || said <= own) return;
  throw new VerificationError('validUntil', `${own} at the latest`, String(said));
}

/** A wallet that signs by a second name signs the bytes that were checked by the first. */
function verifyAliases(material: Material & Aliases, secret: string | null): void {
  const right = aliasesOf(material, secret);
  for (const name of aliasNames) {
    const said = material[name];
    if (said !== undefined) mustEqual(name, right[name] ?? 'absent', said);
  }
}

function verifyEvm(
  material: Material,
  asked: Asked,
  terms: EscrowTerms,
  view: ChainView & { family: 'evm' },
): void {
  if (material.sign !== 'evm-tx') throw new VerificationError('sign', 'evm-tx', material.sign);
  mustBe('a list', 'txs', material.txs);
  mustEqual('chainId', view.chainId, material.chainId);
  if (asked.verb === 'fund') mustEqual('from', terms.refund.address, material.from);
  else if (material.from !== undefined) {
    throw new VerificationError('from', 'absent', material.from);
  }
  const { length } = material.txs;
  const expected = consented(asked, () => callsFor(asked, terms, view, length));
  mustEqual('txs.length', expected.length, material.txs.length);
  for (const [at, call] of expected.entries()) {
    const said: Partial<EvmCall> = material.txs[at] ?? {};
    mustEqual(`txs[${at}].to`, call.to, said.to);
    mustBeData(`txs[${at}].data`, call.data, said.data);
    mustEqual(`txs[${at}].value`, call.value, said.value);
    for (const field of Object.keys(said)) {
      if (!Object.hasOwn(call, field)) {
        throw new VerificationError(`txs[${at}].${field}`, 'absent', 'something');
      }
    }
  }
}

/** A consent that was given to the customer is none of these terms. */
function consented<T>(asked: Asked, expected: () => T): T {
  try {
    return expected();
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'bad_signature') throw error;
    const field = asked.verb === 'fund' ? 'laneSignature' : 'release';
    throw new VerificationError(field, "the payee's, for these terms", error.message);
  }
}

/** Says where it differs: 400 characters of it help nobody. */
function mustBeData(field: string, expected: string, got: unknown): void {
  if (got === expected) return;
  mustBe('text', field, got);
  const text = String(got);
  const place = `${text.length} characters, others from character ${firstOther(expected, text)} on`;
  throw new VerificationError(field, cut(expected), place);
}

/** How many approvals come first depends on the token's state: zero, one, or a reset and one. */
function callsFor(
  asked: Asked,
  terms: EscrowTerms,
  { deployment }: ChainView & { family: 'evm' },
  count: number,
): readonly EvmCall[] {
  if (asked.verb === 'claim') return [claimCall(terms, deployment, asked.secret)];
  if (asked.verb === 'refund') {
    const { release } = asked;
    if (release !== undefined) return [releaseCall(terms, deployment, release)];
    return [refundCall(terms, deployment)];
  }
  return fundingOfLength(terms.amount, count, (allowed) =>
    fundCalls(terms, deployment, allowed, asked),
  );
}

function verifyTron(
  { validUntil: _, ...material }: Material & { validUntil?: number | null },
  asked: Asked,
  terms: EscrowTerms,
  view: ChainView & { family: 'tron' },
  now = Math.floor(Date.now() / 1_000),
): void {
  if (material.sign !== 'tron-txid') {
    throw new VerificationError('sign', 'tron-txid', material.sign);
  }
  mustBe('a list', 'transactions', material.transactions);
  const bounds = {
    nowMs: now * 1_000,
    mostFeeLimitSun: view.mostFeeLimitSun ?? mostFeeLimitSun,
    longestLifeMs: longestTronLifeMs,
  };
  const problems = consented(asked, () =>
    tronProblems(material, asked, terms, view.deployment, bounds),
  );
  mustHaveNone(asked, problems);
}

function verifySolana(
  { validUntil: _, ...material }: Material & { validUntil?: number | null },
  asked: Asked,
  terms: EscrowTerms,
  view: ChainView & { family: 'solana' },
): void {
  if (material.sign !== 'solana-tx') {
    throw new VerificationError('sign', 'solana-tx', material.sign);
  }
  mustBe('text', 'transaction', material.transaction);
  const isReleased = asked.verb === 'refund' && asked.isReleased === true;
  const wanted: Wanted = isReleased ? { verb: 'release' } : asked;
  const problems = solanaProblems(material, wanted, terms, view.deployment);
  const { lastValidBlockHeight: height } = material;
  if (!Number.isSafeInteger(height) || height < 0) {
    problems.push(`lastValidBlockHeight is ${String(height)}, no height`);
  }
  mustHaveNone(asked, problems);
}

/** Each problem begins with the path of its field. */
function mustHaveNone({ verb }: Asked, problems: readonly string[]): void {
  // Ids and bytes follow from the rest: any other difference says more.
  const first = problems.find((each) => !/\.(txID|raw_data_hex) /.test(each)) ?? problems[0];
  if (first === undefined) return;
  const [field = ''] = first.split(' ', 1);
  throw new VerificationError(field, `as in the ${verb} of these terms`, problems.join('; '));
}

function verifyPayment(material: Material, escrow: string, terms: EscrowTerms): void {
  if (material.sign !== 'btc-payment') {
    throw new VerificationError('sign', 'btc-payment', material.sign);
  }
  mustEqual('payTo', escrow, material.payTo);
  mustEqual('amountSats', terms.amount.toString(), material.amountSats);
  mustEqual('uri', paymentUri(escrow, terms.amount), material.uri);
}

function verifySpend(
  material: Material,
  verb: 'claim' | 'refund',
  terms: EscrowTerms,
  view: ChainView & { family: 'bitcoin' },
  { outputs, isPublic = false }: Limits,
): void {
  if (material.sign !== 'btc-sighash') {
    throw new VerificationError('sign', 'btc-sighash', material.sign);
  }
  if (outputs === null) {
    throw new VerificationError('outputs', "the escrow's payments, from your own source", 'none');
  }
  const { psbtBase64, sighashHexes } = material;
  mustBe('text', 'psbtBase64', psbtBase64);
  mustBe('a list', 'sighashHexes', sighashHexes);
  mustEqual('scheme', terms.form && 'schnorr', material.scheme);
  const { network } = view;
  const cap = view.mostFeeRateSatPerVbyte ?? defaultFeeBounds.capSatPerVbyte;
  const usual: FeeBounds = { ...defaultFeeBounds, capSatPerVbyte: cap };
  const bounds = verb === 'claim' && isPublic ? publicClaimBounds(usual) : usual;
  try {
    const psbt = readPsbt(psbtBase64);
    const expected = psbt.inputs.map(({ sighash }) => bytesToHex(sighash));
    mustEqual('sighashHexes.length', expected.length, sighashHexes.length);
    for (const [at, hash] of expected.entries()) {
      mustEqual(`sighashHexes[${at}]`, hash, sighashHexes[at]);
    }
    const spend = { psbtBase64, sighashHexes, verb, terms, network, bounds, outputs };
    const { feeSats, vsize } = checkSpend(spend);
    mustEqual('feeSats', feeSats.toString(), material.feeSats);
    const rate = rateOf(feeSats, vsize);
    mustEqual('feeRateSatPerVbyte', rate, material.feeRateSatPerVbyte);
    mustBe('a list', 'ladder', material.ladder);
    // Later steps are advice, and an own node gives better: this code pays by none of them.
    const { feeRateSatPerVbyte, feeSats: first } = material.ladder[0] ?? {};
    mustEqual('ladder[0].feeSats', material.feeSats, first);
    mustEqual('ladder[0].feeRateSatPerVbyte', rate, feeRateSatPerVbyte);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    throw new VerificationError('psbtBase64', `the ${verb} of these terms`, error.message);
  }
}

/**
 * The escrow as its claim or refund is built and checked: on Bitcoin paid to `payout`, where its
 * key's owner names one. Throws `bad_address`, `wrong_network`.
 */
export function paidWhere(
  escrow: WatchedEscrow,
  verb: 'claim' | 'refund',
  view: ChainView,
  payout: BitcoinAddress | undefined,
): WatchedEscrow {
  if (payout === undefined || !has(view, 'coins')) return escrow;
  return { ...escrow, terms: paidTo(escrow.terms, view.network, verb, payout) };
}

/** The payments that a PSBT spends, as it says: for one that the customer's own adapter built. */
export function outputsOf(psbtBase64: string): EscrowOutput[] {
  return readPsbt(psbtBase64).inputs.map(({ txid, vout, amount }) => ({ txid, vout, amount }));
}
