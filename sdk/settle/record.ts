// What follows from a kept record alone, and what it comes to with what the chains show.

import type { WatchedEscrow } from '../../chains/interface/reading.ts';
import { type EscrowFacts, nothingSeen } from '../../core/facts.ts';
import type { Family } from '../../core/families.ts';
import type { Clocks, Leg, SwapState } from '../../core/swap.ts';
import { type LegName, otherLeg } from '../../core/trade.ts';
import { SettleError } from '../errors.ts';
import type { SwapRecord } from '../stores/store.ts';
import { givenLeg, type VerifiedLeg } from '../trade.ts';

export type SetLeg = VerifiedLeg & { readonly escrow: NonNullable<VerifiedLeg['escrow']> };

export function legOf(record: SwapRecord, name: LegName): SetLeg {
  const leg = record.swap.legs[name];
  if (leg.escrow === null) throw new SettleError('bad_record', `leg ${name} has no escrow`);
  return { ...leg, escrow: leg.escrow };
}

/** The leg this customer funds, and the one that pays it. */
export function ownSides(record: Pick<SwapRecord, 'trade'>): { gives: LegName; gets: LegName } {
  const gives = givenLeg(record.trade.party);
  return { gives, gets: otherLeg(gives) };
}

export function watchedOf(record: SwapRecord, name: LegName): WatchedEscrow {
  const { escrow, requiredConfirmations } = legOf(record, name);
  const { address, terms } = escrow;
  const stored = record.seen?.[address];
  const watched = { address, terms, requiredConfirmations, since: record.swap.agreedAt };
  return stored === undefined ? watched : { ...watched, stored };
}

/** One leg as its own chain shows it, and that chain's clock. */
export type LegSeen = { readonly leg: Leg; readonly clock: number };

export type Seen = { readonly state: SwapState; readonly clocks: Clocks };

export function legWith(record: SwapRecord, name: LegName, facts: EscrowFacts): Leg {
  const { escrow, ...leg } = legOf(record, name);
  const { payout, refund } = escrow.terms;
  return {
    ...leg,
    facts,
    // This driver funds one escrow a leg, and follows that one wherever the leg moves.
    strayed: false,
    escrow: escrow.address,
    payoutAddress: payout.address,
    payoutPubkey: payout.pubkey,
    refundAddress: refund.address,
    refundPubkey: refund.pubkey,
  };
}

export function seenOf(
  record: SwapRecord,
  { a, b }: Readonly<Record<LegName, LegSeen>>,
  wall: number,
): Seen {
  const secret = record.publicSecret ?? a.leg.facts.secret ?? b.leg.facts.secret;
  const { hashlock, deadlines } = record.swap;
  const legs = { a: a.leg, b: b.leg };
  return {
    state: { hashlock, deadlines, secret, lapsed: false, legs },
    clocks: { wall, a: a.clock, b: b.clock },
  };
}

/**
 * As if the other chain had shown nothing: for a claim with a public secret and for a refund alone.
 */
export function aloneOf(record: SwapRecord, seen: LegSeen, wall: number): Seen {
  const { leg: name } = seen.leg;
  const other = otherLeg(name);
  const blank = { leg: legWith(record, other, nothingSeen), clock: wall };
  const both = { [name]: seen, [other]: blank } as Record<LegName, LegSeen>;
  return seenOf(record, both, wall);
}

/** One account of one chain, whichever way its address is spelt. */
export function accountKey(chain: string, family: Family, address: string): string {
  return `${chain} ${family === 'evm' ? address.toLowerCase() : address}`;
}
