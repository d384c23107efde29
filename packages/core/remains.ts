// The remains in an escrow beside its funding, where anybody may pay it: which of it can be brought
// back, and how long it keeps a swap open. A stranger's dust keeps nothing open. Pure.

import { type EscrowFacts, isMuch } from './facts.ts';
import type { BaseUnits } from './nominal.ts';

/** The cost of a refund at the least fee that its chain's policy allows, in base units. */
export type LeastRefund = {
  /** The fee of a refund that spends so many payments. */
  readonly feeOf: (payments: number) => BaseUnits;
  /** A chain takes no refund that pays less. */
  readonly leastPaid: BaseUnits;
  /** Payments that one refund spends. */
  readonly most: number;
};

export const freeRefund: LeastRefund = { feeOf: () => 0n, leastPaid: 0n, most: 1 };

/** The payments that refunds can bring back, the largest first; each refund pays its own fee. */
export function refundableOf<Payment extends { readonly amount: BaseUnits }>(
  payments: readonly Payment[],
  { feeOf, leastPaid, most }: LeastRefund,
): Payment[] {
  const each = feeOf(2) - feeOf(1);
  const worth = payments
    .filter(({ amount }) => amount > each)
    .sort((a, b) => (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1));
  const found: Payment[] = [];
  for (let at = 0; at < worth.length; at += most) {
    const taken = worth.slice(at, at + most);
    const value = taken.reduce((sum, { amount }) => sum + amount, 0n);
    if (value - feeOf(taken.length) < leastPaid) break;
    found.push(...taken);
  }
  return found;
}

/** Until when a payment sent late is looked for, after a swap's last timelock: a week. */
export const lateWatchSeconds = 7 * 86_400;

/**
 * Blocks that take a settling back nowhere: a day of Bitcoin's. An escrow that is never empty, as
 * strangers pay it, is followed no longer.
 */
const finalBlocks = 144;

/**
 * Whether an escrow is followed however late it is: a block has a whole payment or a hundredth of
 * it, or what took that may still be taken back. With less, or with what no block takes, anyone
 * could have it followed for ever.
 */
export function isHeld(
  { funded, claimed, refunded, balance, empty }: EscrowFacts,
  amount: BaseUnits,
): boolean {
  const settled = claimed ?? refunded;
  const isMined = funded !== null && funded.confirmations > 0;
  const mayMove = settled === null || settled.confirmations < finalBlocks;
  return !empty && ((isMined && mayMove) || isMuch(balance, amount));
}
