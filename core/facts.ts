// What a chain shows of one escrow, and what follows for its leg. Facts come from an adapter;
// nothing here is remembered except that a secret was seen.

import type { Hex32 } from './hashlock.ts';
import type { Depth } from './policy.ts';

/** A transaction that did something to an escrow. */
export type Sighting = {
  readonly txid: string;
  /** Blocks that hold it, its own included; 0 = only in the mempool. */
  readonly confirmations: number;
  /** Whether it is at the depth the escrow's amount wants. */
  readonly deep: boolean;
};

/** What one escrow shows now. */
export type EscrowFacts = {
  /** One payment of at least the amount (never a sum of smaller ones). */
  readonly funded: Sighting | null;
  readonly claimed: Sighting | null;
  readonly refunded: Sighting | null;
  /** The preimage, if any transaction ever showed it: mempool and failed claims included. */
  readonly secret: Hex32 | null;
  /** Base units it holds now and that the funder can take back after the timelock. */
  readonly balance: bigint;
  /**
   * Nothing in it, nothing on its way in that was seen, and what emptied it is final: six blocks
   * beyond its depth on Bitcoin, finality elsewhere. Until then a reorganisation is looked for.
   */
  readonly empty: boolean;
};

export const nothingSeen: EscrowFacts = {
  funded: null,
  claimed: null,
  refunded: null,
  secret: null,
  balance: 0n,
  empty: true,
};

export type LegStatus = 'unfunded' | 'seen' | 'funded' | 'claimed' | 'refunded';

/** The leg's status: claims and refunds count at depth, a funding shows from its first sight. */
export function legStatus(facts: EscrowFacts): LegStatus {
  if (facts.claimed?.deep) return 'claimed';
  if (facts.refunded?.deep) return 'refunded';
  if (facts.funded?.deep) return 'funded';
  if (facts.funded !== null || facts.claimed !== null || facts.refunded !== null) return 'seen';
  return 'unfunded';
}

/**
 * Whether an escrow that a leg moved off holds what nobody would give away: a whole payment, also
 * one on its way, or a hundredth of `amount`. Less is dust that anyone could send to stop a swap.
 */
export function holdsPayment(facts: EscrowFacts, amount: bigint): boolean {
  const { funded, claimed, refunded, balance } = facts;
  const left = (claimed?.deep ?? false) || (refunded?.deep ?? false);
  return (funded !== null && !left) || balance * 100n >= amount;
}

/** Funded at depth, or already past it: what a gate means by "funded". */
export function isFunded(facts: EscrowFacts): boolean {
  const status = legStatus(facts);
  return status === 'funded' || status === 'claimed' || (facts.funded?.deep ?? false);
}

/** A sighting from its confirmations and the depth wanted. */
export function sighting(txid: string, confirmations: number, depth: Depth): Sighting {
  return { txid, confirmations, deep: confirmations >= depth.confirmations };
}
