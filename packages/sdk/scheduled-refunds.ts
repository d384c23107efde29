// Refunds of an own Bitcoin leg, signed before they are due and left with the market. They can only
// pay, after the timelock, the refund address or the one that the wallet names.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import {
  defaultFeeBounds,
  feeAt,
  mostBumps,
  rateOf,
  reserve,
  signedLadder,
} from '@parley/chains/bitcoin/fees.ts';
import { buildSpend, type EscrowOutput, type Spend, vsizeOf } from '@parley/chains/bitcoin/plan.ts';
import { assemble } from '@parley/chains/bitcoin/signed-psbt.ts';
import { mostRefundInputs } from '@parley/chains/bitcoin/signed-refunds.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import type { DeepPayment } from '@parley/chains/interface/scheduled.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { has } from '@parley/core/families.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { ChainSource } from './chains.ts';
import type { ParleyClient } from './client.ts';
import { VerificationError } from './errors.ts';
import type { ScheduledRefunds } from './types.ts';
import { mustEqual } from './verify.ts';
import { outputsOf, paidWhere, verifyMaterial } from './verify-material.ts';
import { signaturesOf } from './wallets/bitcoin.ts';
import type { BitcoinKey } from './wallets/wallet.ts';

export type ScheduleInput = {
  readonly client: Pick<ParleyClient, 'scheduleRefunds'>;
  readonly swapId: string;
  readonly leg: LegName;
  /** As verified; `former` where the leg has moved off it. */
  readonly escrow: WatchedEscrow;
  readonly former?: boolean;
  readonly source: ChainSource;
  /** The wallet of the refund key and its payout. It is asked once, for all the signatures. */
  readonly wallet: Pick<BitcoinKey, 'pubkey' | 'signSighashes' | 'signLeaves' | 'payout'>;
  readonly signal: AbortSignal;
};

export type LeftRefunds = ScheduledRefunds & Pick<RefundPlan, 'leftOut'>;

/**
 * Signs a fee bump schedule of refunds of what is final, and has the market keep it. Throws
 * `nothing_there` while no payment is final.
 */
export async function scheduleRefunds(
  input: ScheduleInput,
  plan?: RefundPlan,
): Promise<LeftRefunds> {
  const { client, swapId, leg, escrow, former = false, wallet, signal } = input;
  const planned = plan ?? (await planRefunds(input));
  const made = await signPlan(planned, escrow.terms, wallet, signal);
  const transactions = made.map(({ raw }) => raw);
  const body = { transactions, ...(former ? { escrow: escrow.address } : {}) };
  const kept = await client.scheduleRefunds(swapId, leg, body, { signal });
  mustEqual('scheduledRefunds.escrow', escrow.address, kept.escrow);
  mustEqual('scheduledRefunds.count', made.length, kept.count);
  const txids = made.map(({ txid }) => txid).join();
  mustEqual('scheduledRefunds.txids', txids, [kept.txids].flat().join());
  return { ...kept, leftOut: planned.leftOut };
}

export async function signedRefunds({
  escrow,
  source,
  wallet,
  signal,
}: Pick<ScheduleInput, 'escrow' | 'source' | 'wallet' | 'signal'>): Promise<Refund[]> {
  const plan = await planRefunds({ escrow, source, wallet, signal });
  return signPlan(plan, escrow.terms, wallet, signal);
}

export type Refund = { readonly txid: string; readonly raw: string };

/** A payment that no refund of the schedule spends. */
export type LeftOut = {
  readonly outpoint: string;
  readonly sats: bigint;
  /** From this rate on, in sat per vbyte, spending it costs what it brings, or more. */
  readonly notWorthFrom: number;
};

export type RefundPlan = {
  readonly spends: readonly Spend[];
  readonly inputs: number;
  readonly outpoints: readonly string[];
  /** Final, and too small for the highest rate, or more than one transaction takes. */
  readonly leftOut: readonly LeftOut[];
  /** All that is final and that a refund of now would take. */
  readonly deepSats: bigint;
  readonly allDeepSats: bigint;
  readonly highestFeeRate: number;
};

/** The refunds to be signed, up to `leastTop` sat per vbyte at least. Throws `nothing_there`. */
export async function planRefunds({
  escrow: agreed,
  source: { adapter, view },
  wallet: { payout },
  signal,
  leastTop = 0,
}: Pick<ScheduleInput, 'escrow' | 'source' | 'signal'> & {
  readonly wallet: Pick<BitcoinKey, 'payout'>;
  readonly leastTop?: number;
}): Promise<RefundPlan> {
  if (!has(view, 'coins')) throw new VerificationError('family', 'bitcoin', view.family);
  const escrow = paidWhere(agreed, 'refund', view, payout);
  const { terms } = escrow;
  const { network, mostFeeRateSatPerVbyte: cap = defaultFeeBounds.capSatPerVbyte } = view;
  const input = { escrow, feeRateSatPerVbyte: null, isPublic: false };
  const built = await adapter.buildRefund(input, signal);
  if (built.sign !== 'btc-sighash') throw new VerificationError('sign', 'btc-sighash', built.sign);
  const payments = outputsOf(built.psbtBase64);
  const limits = { validUntil: null, outputs: payments };
  verifyMaterial(built, { verb: 'refund' }, terms, view, limits);
  const { found: deep, all } = await deepOf(payments, escrow, adapter, signal);
  const dearest = built.ladder.at(-1)?.feeRateSatPerVbyte ?? built.feeRateSatPerVbyte;
  // The last step of a schedule is twice the rate for the next blocks.
  const rate = Math.max(dearest, leastTop / reserve) / 2;
  const vsize = (inputs: number) => vsizeOf(terms, network, 'refund', inputs);
  const feesOf = (spent: readonly EscrowOutput[]) =>
    signedLadder({
      estimate: { fast: rate, medium: rate, slow: rate, least: 1, at: 0 },
      bounds: { ...defaultFeeBounds, capSatPerVbyte: cap },
      vsize: vsize(spent.length),
      value: sumOf(spent),
    });
  const largest = deep.slice(0, mostRefundInputs);
  const top = rateOf(feesOf(largest).at(-1) ?? 0n, vsize(largest.length));
  const outputs = worthOf(largest, feeAt(vsize(2) - vsize(1), top));
  const fees = feesOf(outputs);
  const spends = fees
    .slice(-mostBumps)
    .map((fee) => buildSpend(terms, network, 'refund', outputs, fee));
  const last = spends.at(-1);
  if (last === undefined) {
    const sats = sumOf(outputs);
    const sentence = `no refund of ${sats} sats pays its fee at ${rate} sat per vbyte`;
    throw new ParleyError('payout_would_fail', sentence, { sats, rate, highest: cap });
  }
  return {
    spends,
    inputs: outputs.length,
    outpoints: outputs.map(outpointOf),
    leftOut: leftOutOf(all, outputs, vsize(2) - vsize(1)),
    deepSats: sumOf(deep),
    allDeepSats: sumOf(all),
    highestFeeRate: rateOf(last.feeSats, last.vsize),
  };
}

/** Anybody can pay dust to an escrow: it must not make the refund of the rest dearer. */
export function worthOf<Output extends { readonly amount: bigint }>(
  largestFirst: readonly Output[],
  inputSats: bigint,
): Output[] {
  return largestFirst.filter(({ amount }, at) => at === 0 || amount > inputSats);
}

function leftOutOf(
  all: readonly DeepPayment[],
  spent: readonly EscrowOutput[],
  inputVsize: number,
): LeftOut[] {
  const taken = new Set(spent.map(outpointOf));
  return all
    .filter((each) => !taken.has(outpointOf(each)))
    .map((each) => {
      const notWorthFrom = rateOf(each.amount, inputVsize);
      return { outpoint: outpointOf(each), sats: each.amount, notWorthFrom };
    });
}

function outpointOf({ txid, vout }: { readonly txid: string; readonly vout: number }): string {
  return `${txid}:${vout}`;
}

function sumOf(outputs: readonly Pick<EscrowOutput, 'amount'>[]): bigint {
  return outputs.reduce((sum, { amount }) => sum + amount, 0n);
}

/** One payment that a reorganisation takes back would make every refund that spends it void. */
async function deepOf(
  payments: readonly EscrowOutput[],
  escrow: WatchedEscrow,
  { scheduledRefunds }: ChainAdapter,
  signal: AbortSignal,
): Promise<{ found: EscrowOutput[]; all: readonly DeepPayment[] }> {
  const all = (await scheduledRefunds?.payments(escrow, signal)) ?? [];
  const outpoints = new Set(all.map(outpointOf));
  const found = payments.filter((each) => outpoints.has(outpointOf(each)));
  if (found.length > 0) return { found, all };
  const { address, requiredConfirmations: wanted } = escrow;
  const sentence = `no payment to the escrow ${address} has ${wanted} confirmations yet`;
  throw new ParleyError('nothing_there', sentence, { escrow: address, wanted });
}

async function signPlan(
  { spends, inputs }: RefundPlan,
  terms: EscrowTerms,
  wallet: ScheduleInput['wallet'],
  signal: AbortSignal,
): Promise<Refund[]> {
  const hashes = spends.flatMap(({ sighashHexes }) => sighashHexes);
  const signatures = await signaturesOf(wallet, terms, hashes, signal);
  return spends.map(({ psbtBase64 }, at) => {
    const from = at * inputs;
    // Verifies each signature against the refund key.
    return assemble({ psbtBase64, signaturesHex: signatures.slice(from, from + inputs) });
  });
}
