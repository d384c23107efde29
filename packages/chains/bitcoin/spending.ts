// Which payments a claim or refund takes, at what fee. Pure: mempool conflicts are given to it.

import { larger, smaller } from '@parley/core/amounts.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { SpendTogether } from '../interface/cosigning.ts';
import { type EscrowHistory, fundingPayment, type Payment } from './escrow-facts.ts';
import {
  boundedFee,
  type Conflict,
  defaultFeeBounds,
  type FeeBounds,
  type FeeEstimate,
  type FeeStep,
  feeAt,
  feeLadder,
  incrementOf,
  ladderRate,
  leastFee,
  leastRateFor,
  mostFee,
  rateOf,
  replacementFee,
} from './fees.ts';
import { type BitcoinNetwork, dustSats } from './networks.ts';
import {
  buildSpend,
  destination,
  type EscrowOutput,
  type Path,
  paidTo,
  type Spend,
  type Verb,
  vsizeOf,
} from './plan.ts';

/** For one refund: a third of a request's body, verified in 50 ms. The rest waits for a second. */
export const mostInputs = 50;

function nothing(address: string, sentence: string): ParleyError {
  return new ParleyError('nothing_there', sentence, { escrow: address });
}

/** The payment that a claim takes: the one that funds the escrow, unless its spend is mined. */
export function claimable(history: EscrowHistory, terms: EscrowTerms, address: string): Payment {
  const payment = fundingPayment(history, terms.amount);
  if (payment === null) {
    const most = history.payments.reduce((best, { amount }) => larger(best, amount), 0n);
    throw nothing(
      address,
      `the escrow ${address} holds no payment of ${terms.amount} sats or more` +
        (most === 0n ? '' : ` (the largest is ${most} sats)`),
    );
  }
  if (payment.spend !== null && payment.spend.height !== null) {
    const how = payment.spend.by === 'claim' ? 'claimed' : 'refunded';
    throw nothing(address, `the escrow ${address} was ${how} in ${payment.spend.txid}`);
  }
  return payment;
}

/** The largest first. An unconfirmed claim is left alone: it shows the secret, or both agreed. */
export function untaken({ payments }: Pick<EscrowHistory, 'payments'>): Payment[] {
  return payments
    .filter(
      ({ height, spend }) =>
        height !== null && (spend === null || (spend.height === null && spend.by === 'refund')),
    )
    .sort((a, b) => (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1));
}

export function refundable(history: EscrowHistory, address: string): Payment[] {
  const payments = untaken(history).slice(0, mostInputs);
  if (payments.length === 0) {
    throw nothing(address, `the escrow ${address} holds nothing that a refund could take`);
  }
  return payments;
}

export function rivals(payments: readonly Payment[]): string[] {
  return [...new Set(payments.flatMap(({ spend }) => (spend === null ? [] : [spend.txid])))];
}

export type SpendRequest = {
  readonly verb: Verb;
  readonly terms: EscrowTerms;
  readonly network: BitcoinNetwork;
  readonly payments: readonly Payment[];
  readonly conflicts: readonly Conflict[];
  readonly estimate: FeeEstimate;
  readonly bounds: FeeBounds;
  readonly now: number;
  readonly deadline: number;
  readonly wantedRate: number | null;
  readonly path?: Path;
};

export type Spent = Spend & {
  readonly outputs: readonly EscrowOutput[];
  readonly ladder: readonly FeeStep[];
};

/** Throws `nothing_there`, `bad_fee_rate`, `payout_would_fail`: replacing is above the bounds. */
export function spend(request: SpendRequest): Spent {
  const { verb, terms, network, conflicts, estimate, bounds, now, deadline, path } = request;
  const asked = request.wantedRate;
  const isNumber = asked !== null && Number.isFinite(asked);
  const rate = isNumber ? Math.max(0, asked) : ladderRate(estimate, deadline - now);
  const payments = worthSpending(request, Math.min(rate, bounds.capSatPerVbyte));
  const value = payments.reduce((sum, { amount }) => sum + amount, 0n);
  const vsize = vsizeOf(terms, network, verb, payments.length, path);
  const most = mostFee(bounds, vsize, value);
  const outbids = replacementFee(vsize, conflicts, incrementOf(estimate));
  // An output that the least fee can bring back pays no fee that leaves less than an output needs.
  const spare = value - dustSats[destination(terms, network, verb).kind];
  if (outbids > most) {
    throw new ParleyError(
      'payout_would_fail',
      `replacing ${txidsOf(conflicts)} takes a fee of ${outbids} sats, ` +
        `above the limit of ${most} sats for ${value} sats: wait for it to be mined`,
      { fee: outbids, most, value },
    );
  }
  if (asked !== null) checkRate(asked, request, { vsize, value, most, outbids });
  const fee = smaller(
    boundedFee(bounds, vsize, value, rate),
    larger(spare, leastFee(bounds, vsize)),
  );
  const feeSats = larger(fee, outbids);
  const built = buildSpend(terms, network, verb, payments, feeSats, path);
  const ladder = feeLadder({ estimate, bounds, vsize, value, now, deadline, feeSats });
  return { ...built, outputs: payments, ladder };
}

function txidsOf(conflicts: readonly Conflict[]): string {
  return conflicts.map(({ txid }) => txid).join(', ');
}

/** A rate that is a mistake whatever a mempool says: refused before anything is read. */
export function mustBeRate(rate: number, bounds: FeeBounds = defaultFeeBounds): void {
  const { floorSatPerVbyte: least, capSatPerVbyte: most } = bounds;
  if (rate >= least && rate <= most) return;
  const sentence = `the fee rate may be from ${least} to ${most} sat per vbyte; got ${rate}`;
  throw new ParleyError('bad_fee_rate', sentence, { least, most, got: rate });
}

/** The caller's rate must be relayed, replace what is in the way, and be no mistake. */
function checkRate(
  rate: number,
  { estimate, bounds, conflicts }: SpendRequest,
  spent: { vsize: number; value: bigint; most: bigint; outbids: bigint },
): void {
  const { vsize, value, most, outbids } = spent;
  const floor = Math.max(bounds.floorSatPerVbyte, estimate.least);
  const least = Math.max(floor, leastRateFor(outbids, vsize));
  const highest = Math.min(bounds.capSatPerVbyte, rateOf(most, vsize));
  if (Number.isFinite(rate) && rate >= least && rate <= highest) return;
  const why =
    rate < least && least > floor
      ? `less than ${outbids} sats do not replace ${txidsOf(conflicts)}`
      : rate < least
        ? `mempools take no less than ${floor}`
        : `${vsize} vbytes may pay ${most} sats of ${value}`;
  throw new ParleyError(
    'bad_fee_rate',
    `the fee rate may be from ${least} to ${highest} sat per vbyte; got ${rate}: ${why}`,
    { least, most: highest, got: rate, mostFeeSats: most, replaceFeeSats: outbids },
  );
}

/**
 * Payments that bring more than their input costs; the largest always. Dust that pays a refund only
 * together and at the least fee is taken so.
 */
function worthSpending(request: SpendRequest, rate: number): Payment[] {
  const { terms, network, verb, payments, bounds, path } = request;
  const { kind } = destination(terms, network, verb);
  const vsize = (inputs: number) => vsizeOf(terms, network, verb, inputs, path);
  const worthAt = (satPerVbyte: number) => {
    const cost = feeAt(vsize(2) - vsize(1), satPerVbyte);
    return payments.filter(({ amount }, at) => at === 0 || amount > cost);
  };
  const worth = worthAt(rate);
  const value = worth.reduce((sum, { amount }) => sum + amount, 0n);
  const pays = value - leastFee(bounds, vsize(worth.length)) >= dustSats[kind];
  return pays ? worth : worthAt(bounds.floorSatPerVbyte);
}

type Together = Pick<SpendRequest, 'terms' | 'network' | 'payments' | 'bounds'>;

/**
 * Whether a spend of both sides takes some of these payments, each once, at a fee that no claim or
 * refund by one side exceeds. Throws `bad_field`, `bad_fee_rate`, `bad_address`, `wrong_network`.
 */
export function checkTogether(
  { verb, outputs, feeSats, paysTo }: SpendTogether,
  { terms, network, payments, bounds }: Together,
): void {
  const nameOf = ({ txid, vout, amount }: EscrowOutput) => `${txid}:${vout} of ${amount} sats`;
  const left = new Set(payments.map(nameOf));
  for (const output of outputs) {
    const name = nameOf(output);
    if (left.delete(name)) continue;
    const sentence = `the output ${name} is none that this ${verb} may take, or is named twice`;
    throw new ParleyError('bad_field', sentence, { verb });
  }
  const value = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  const vsize = vsizeOf(paidTo(terms, network, verb, paysTo), network, verb, outputs.length, 'key');
  const least = leastFee(bounds, vsize);
  const most = mostFee(bounds, vsize, value);
  if (feeSats >= least && feeSats <= most) return;
  const sentence = `the fee of ${vsize} vbytes and ${value} sats may be from ${least} to ${most} sats; got ${feeSats}`;
  throw new ParleyError('bad_fee_rate', sentence, { least, most, got: feeSats });
}
