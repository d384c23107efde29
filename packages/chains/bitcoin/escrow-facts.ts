// From the payments to one escrow and what spent them to the facts of its leg. Pure.
//
// The rules, and why:
// - Funded is ONE payment of at least the amount: a heap of dust can cost more to claim than it is
//   worth. The one of several that came to depth first counts (lowest block; by outpoint within
//   one), so that a later payment cannot change what already counts.
// - But if any such payment was claimed, that one counts: the claimer has been paid, whichever of
//   them it chose.
// - Claimed and refunded speak about that payment alone. Underpayments and further payments never
//   make a leg funded, claimed or refunded; while they lie there they are `balance`, which the
//   funder takes back after the timelock. Refunding dust does not make a funded leg refunded, and
//   a second full payment left behind does not undo a refund.
// - Dust that no refund can bring back at any allowed fee (packages/core/remains.ts) counts for nothing:
//   anyone may send it, again and again, and it must keep no swap open.
// - A spend by a transaction without the secret is a refund, unless the keys of both signed it: then
//   its sequence says which it is (keySequences).

import type { EscrowFacts, Sighting } from '@parley/core/facts.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import { type LeastRefund, refundableOf } from '@parley/core/remains.ts';
import type { EscrowPayment } from '../interface/reading.ts';

export type EscrowSpend = {
  readonly txid: string;
  /** Null in the mempool. */
  readonly height: number | null;
  readonly by: 'claim' | 'refund';
};

export type Payment = {
  readonly txid: string;
  readonly vout: number;
  readonly amount: bigint;
  readonly height: number | null;
  readonly coinbase: boolean;
  readonly spend: EscrowSpend | null;
};

export type EscrowHistory = {
  readonly payments: readonly Payment[];
  /** The secret, if any transaction ever showed it, however it ended. */
  readonly secret: Secret | null;
  readonly tip: number;
  readonly leastRefund: LeastRefund;
};

/** Blocks beyond its depth that a spend is looked after: by then nothing takes it back. */
export const furtherBlocks = 6;

/** A coinbase output cannot be spent before (consensus: COINBASE_MATURITY). */
export const coinbaseMaturity = 100;

function confirmations(height: number | null, tip: number): number {
  return height === null ? 0 : Math.max(0, tip - height + 1);
}

function sighting(
  tx: { readonly txid: string; readonly height: number | null },
  tip: number,
  required: number,
): Sighting {
  const count = confirmations(tx.height, tip);
  return { txid: tx.txid, confirmations: count, deep: count >= required };
}

function requiredFor(payment: Payment, required: number): number {
  return payment.coinbase ? Math.max(required, coinbaseMaturity) : required;
}

/** Whether it counts: no reorganisation of less than this depth takes it back. */
export function isDeep(payment: Payment, tip: number, required: number): boolean {
  return confirmations(payment.height, tip) >= requiredFor(payment, required);
}

function earlier(a: Payment, b: Payment): number {
  const byHeight = (a.height ?? Infinity) - (b.height ?? Infinity);
  if (a.height !== b.height && !Number.isNaN(byHeight)) return byHeight;
  return a.txid === b.txid ? a.vout - b.vout : a.txid < b.txid ? -1 : 1;
}

export function fundingPayment(
  history: Pick<EscrowHistory, 'payments'>,
  amount: bigint,
): Payment | null {
  const enough = history.payments.filter((each) => each.amount >= amount).sort(earlier);
  const claimed = enough.filter(({ spend }) => spend?.by === 'claim');
  // A mined claim before one that may still be replaced.
  const mined = claimed.find(({ spend }) => spend !== null && spend.height !== null);
  return mined ?? claimed[0] ?? enough[0] ?? null;
}

/** In the order in which the chain took them, the mempool last. */
export function paymentsOf(
  history: Pick<EscrowHistory, 'payments' | 'tip'>,
  amount: bigint,
): EscrowPayment[] {
  const funding = fundingPayment(history, amount);
  return [...history.payments].sort(earlier).map((each) => {
    const { txid, vout, spend } = each;
    const other = each.amount < amount ? 'too_little' : 'further';
    return {
      txid,
      vout,
      amount: each.amount,
      confirmations: confirmations(each.height, history.tip),
      is: each === funding ? 'funding' : other,
      spent: spend === null ? null : { txid: spend.txid, by: spend.by },
    };
  });
}

export function escrowFacts(
  history: EscrowHistory,
  amount: bigint,
  requiredConfirmations: number,
): EscrowFacts {
  const { payments, tip, secret, leastRefund } = history;
  const funding = fundingPayment(history, amount);
  const spend = funding?.spend ?? null;
  const spent = spend === null ? null : sighting(spend, tip, requiredConfirmations);
  const isGone = (payment: Payment) =>
    payment.spend === null ||
    confirmations(payment.spend.height, tip) >= requiredConfirmations + furtherBlocks;
  const unspent = payments.filter((payment) => payment.spend === null);
  const mined = unspent.filter(({ height }) => height !== null);
  return {
    funded:
      funding === null ? null : sighting(funding, tip, requiredFor(funding, requiredConfirmations)),
    claimed: spend?.by === 'claim' ? spent : null,
    refunded: spend?.by === 'refund' ? spent : null,
    secret,
    balance: refundableOf(mined, leastRefund).reduce((sum, each) => sum + each.amount, 0n),
    empty: payments.every(isGone) && refundableOf(unspent, leastRefund).length === 0,
  };
}
