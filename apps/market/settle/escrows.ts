// From a swap to the escrows that its chains know.

import { fundBy } from '@parley/core/gates.ts';
import type { Leg } from '@parley/core/swap.ts';
import { type Destination, type EscrowTerms, formOf, type Lane } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import type { PlannedEscrow } from '@parley/watchtower/port.ts';
import { type EscrowRow, factsOf, termsOf } from '../db/escrows.ts';
import type { Swap } from '../db/swaps.ts';

export type Destinations = {
  readonly payout: Destination | null;
  readonly refund: Destination | null;
  /** EVM, TRON: whether the payee lends a lane of its own. */
  readonly ownLane: boolean;
};

export function destinationsOf(swap: Swap, name: LegName): Destinations {
  const leg = swap.state.legs[name];
  const { payoutAddress, payoutPubkey, payoutForm, refundAddress, refundPubkey, refundForm } = leg;
  return {
    payout: destination(payoutAddress, payoutPubkey, payoutForm),
    refund: destination(refundAddress, refundPubkey, refundForm),
    ownLane: leg.ownLane ?? false,
  };
}

function destination(
  address: string | null,
  pubkey: string | null,
  form: Leg['payoutForm'] = null,
): Destination | null {
  return address === null ? null : { address, pubkey, ...(form && { form }) };
}

/** The signature that opens the payee's lane, where the escrow is in one. */
export function openingOf({
  laneSignature = null,
}: {
  readonly laneSignature?: string | null;
}): Pick<PlannedEscrow, 'laneSignature'> {
  return laneSignature === null ? {} : { laneSignature };
}

/** The terms of a leg, null until both destinations are known. */
export function termsOfLeg(
  swap: Swap,
  name: LegName,
  destinations = destinationsOf(swap, name),
  lane: Lane | null = swap.lanes[name],
): EscrowTerms | null {
  const { payout, refund } = destinations;
  if (payout === null || refund === null) return null;
  const leg = swap.state.legs[name];
  const { chain, amount, timelock } = leg;
  const { hashlock } = swap.state;
  const placed = lane === null ? {} : { fundBefore: fundBy(swap.state, leg), lane };
  const { [name]: token } = swap.tokens;
  const where = { payout, refund, ...formOf(payout, refund) };
  return { chain, hashlock, ...where, token, amount, timelock, ...placed };
}

/**
 * A leg's current escrow as its adapter takes it, null until it is planned, and where one in a
 * common contract has lost its row: it cannot be read without its lane.
 */
export function currentEscrow(swap: Swap, name: LegName): PlannedEscrow | null {
  const { escrow, requiredConfirmations, facts } = swap.state.legs[name];
  const terms = termsOfLeg(swap, name);
  if (escrow === null || terms === null) return null;
  if (escrow.includes(':') && terms.lane === undefined) return null;
  const { agreedAt: since } = swap;
  const found = { address: escrow, terms, requiredConfirmations, since, stored: facts };
  return { ...found, ...openingOf({ laneSignature: swap.laneSignatures[name] }) };
}

export function escrowOfRow(swap: Swap, row: EscrowRow): PlannedEscrow {
  const { requiredConfirmations } = swap.state.legs[row.leg];
  const { address } = row;
  const stored = factsOf(row.facts);
  const { agreedAt: since } = swap;
  const found = { address, terms: termsOf(row.terms), requiredConfirmations, since, stored };
  return { ...found, ...openingOf(row) };
}
