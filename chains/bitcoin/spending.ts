// Which payments a claim or a refund takes, and at what fee: from an escrow's history and an
// estimate to the unsigned spend. Pure: what it asks of a mempool arrives as `conflicts`.

import { ParleyError } from '../../core/errors.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import { type EscrowHistory, fundingPayment, type Payment } from './escrow-facts.ts';
import {
  boundedFee,
  type Conflict,
  type FeeBounds,
  type FeeEstimate,
  feeAt,
  ladderRate,
  larger,
  mostFee,
  replacementFee,
} from './fees.ts';
import type { BitcoinNetwork } from './networks.ts';
import { buildSpend, type Spend, type Verb, vsizeOf } from './plan.ts';

/** More inputs would near the size that nodes relay; what is left waits for a second refund. */
const maxInputs = 200;

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
    const how = payment.spend.secret === null ? 'refunded' : 'claimed';
    throw nothing(address, `the escrow ${address} was ${how} in ${payment.spend.txid}`);
  }
  return payment;
}

/**
 * What a refund takes: every mined payment that nothing spends, or that only an unconfirmed refund
 * does (to be replaced). An unconfirmed claim is left alone: its sender has shown the secret.
 */
export function refundable(history: EscrowHistory, address: string): Payment[] {
  const payments = history.payments
    .filter(
      ({ height, spend }) =>
        height !== null && (spend === null || (spend.height === null && spend.secret === null)),
    )
    .sort((a, b) => (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1))
    .slice(0, maxInputs);
  if (payments.length === 0) {
    throw nothing(address, `the escrow ${address} holds nothing that a refund could take`);
  }
  return payments;
}

/** The unconfirmed transactions that spending these would replace. */
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
  /** Seconds until it must be mined; null when nothing presses. */
  readonly secondsLeft: number | null;
  /** The caller's own rate, sat per vbyte. */
  readonly wantedRate: number | null;
};

/** The caller's rate within the bounds. Throws `bad_field`. */
function checkRate(rate: number | null, bounds: FeeBounds): void {
  if (rate === null) return;
  const { floorSatPerVbyte: least, capSatPerVbyte: most } = bounds;
  if (Number.isFinite(rate) && rate >= least && rate <= most) return;
  throw new ParleyError(
    'bad_field',
    `the fee rate must be from ${least} to ${most} sat per vbyte; got ${rate}`,
    { least, most },
  );
}

/** The unsigned spend. Throws `nothing_there`, or `payout_would_fail` where fees forbid it. */
export function spend(request: SpendRequest): Spend {
  const { verb, terms, network, conflicts, estimate, bounds } = request;
  checkRate(request.wantedRate, bounds);
  const rate = request.wantedRate ?? ladderRate(estimate, request.secondsLeft);
  const payments = worthSpending(request, Math.min(rate, bounds.capSatPerVbyte));
  const value = payments.reduce((sum, { amount }) => sum + amount, 0n);
  const vsize = vsizeOf(terms, network, verb, payments.length);
  const wanted = boundedFee(bounds, vsize, value, rate);
  const fee = larger(wanted, replacementFee(vsize, conflicts));
  const most = mostFee(bounds, vsize, value);
  if (fee > most) {
    throw new ParleyError(
      'payout_would_fail',
      `replacing ${conflicts.map(({ txid }) => txid).join(', ')} takes a fee of ${fee} sats, ` +
        `above the limit of ${most} sats for ${value} sats: wait for it to be mined`,
      { fee, most, value },
    );
  }
  return buildSpend(terms, network, verb, payments, fee);
}

/** Payments that bring more than their input costs; the largest always. */
function worthSpending(request: SpendRequest, rate: number): Payment[] {
  const { terms, network, verb, payments } = request;
  const each = vsizeOf(terms, network, verb, 2) - vsizeOf(terms, network, verb, 1);
  const cost = feeAt(each, rate);
  return payments.filter(({ amount }, at) => at === 0 || amount > cost);
}
