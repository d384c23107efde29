// From a swap to the escrows that its chains know.

import type { WatchedEscrow } from '../../chains/adapter.ts';
import type { Destination, EscrowTerms } from '../../core/terms.ts';
import type { LegName } from '../../core/trade.ts';
import { type EscrowRow, termsOf } from '../db/escrows.ts';
import type { Swap } from '../db/swaps.ts';

export function destinationsOf(
  swap: Swap,
  name: LegName,
): { payout: Destination | null; refund: Destination | null } {
  const leg = swap.state.legs[name];
  const { payoutAddress, payoutPubkey, refundAddress, refundPubkey } = leg;
  return {
    payout: payoutAddress === null ? null : { address: payoutAddress, pubkey: payoutPubkey },
    refund: refundAddress === null ? null : { address: refundAddress, pubkey: refundPubkey },
  };
}

/** The terms of a leg, null until both destinations are known. */
export function termsOfLeg(
  swap: Swap,
  name: LegName,
  destinations = destinationsOf(swap, name),
): EscrowTerms | null {
  const { payout, refund } = destinations;
  if (payout === null || refund === null) return null;
  const { chain, amount, timelock } = swap.state.legs[name];
  const { hashlock } = swap.state;
  return { chain, hashlock, payout, refund, token: swap.tokens[name], amount, timelock };
}

/** A leg's current escrow as its adapter takes it, null until it is planned. */
export function currentEscrow(swap: Swap, name: LegName): WatchedEscrow | null {
  const { escrow, requiredConfirmations } = swap.state.legs[name];
  const terms = termsOfLeg(swap, name);
  if (escrow === null || terms === null) return null;
  return { address: escrow, terms, requiredConfirmations, since: swap.agreedAt };
}

export function escrowOfRow(swap: Swap, row: EscrowRow): WatchedEscrow {
  const { requiredConfirmations } = swap.state.legs[row.leg];
  const { address } = row;
  return { address, terms: termsOf(row.terms), requiredConfirmations, since: swap.agreedAt };
}
