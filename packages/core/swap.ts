// A swap as the rules see it: terms, deadlines, and the facts of both legs.

import type { Deadlines } from './deadlines.ts';
import type { EscrowFacts } from './facts.ts';
import { type ChainKey, type Family, has } from './families.ts';
import type { Hashlock, Secret } from './hashlock.ts';
import type { BaseUnits, UnixSeconds } from './nominal.ts';
import type { Destination } from './terms.ts';
import type { LegName, Party } from './trade.ts';

/** The payee's word that it will not go on. It is never taken back. */
export type Release = {
  /** When it said so: no leg of the swap may be funded from then on. */
  readonly askedAt: UnixSeconds;
  /** When it gave its signature; null: not yet, or its own transaction releases the leg. */
  readonly at: UnixSeconds | null;
  /** With it the funder refunds before the timelock. */
  readonly signature: string | null;
};

/** One leg: its terms, its addresses, and the facts that its chain shows. */
export type Leg = {
  readonly leg: LegName;
  readonly chain: ChainKey;
  readonly family: Family;
  readonly assetId: string;
  readonly amount: BaseUnits;
  readonly funder: Party;
  readonly long: boolean;
  /** Claims before, refunds from then on. */
  readonly timelock: UnixSeconds;
  readonly requiredConfirmations: number;
  readonly payoutAddress: string | null;
  readonly refundAddress: string | null;
  /** Bitcoin only: the compressed keys in the script, 66 hex. */
  readonly payoutPubkey: string | null;
  /** Bitcoin: `p2tr`, where the side asks for an escrow of Taproot. */
  readonly payoutForm?: Destination['form'] | null;
  readonly refundForm?: Destination['form'] | null;
  readonly refundPubkey: string | null;
  readonly escrow: string | null;
  /** EVM, TRON: whether the payee lends a lane of its own. */
  readonly ownLane?: boolean;
  /** The funder waits until then for the payee's signature of its lane. Absent: for none. */
  readonly laneAwaitedUntil?: UnixSeconds;
  readonly facts: EscrowFacts;
  /** Whether an escrow it moved off holds a payment, which the same secret opens. */
  readonly strayed: boolean;
  /** Whether its funding was sent: a funder knows of its own; others may not have been told. */
  readonly handed: 'nothing' | 'unknown' | 'sent';
  /** By its payee; null: it goes on. */
  readonly release: Release | null;
  /** Whether the market gave or sent a claim of it that shows the secret. Absent: it did not. */
  readonly shown?: boolean;
};

export type SwapState = {
  readonly hashlock: Hashlock;
  readonly legs: { readonly a: Leg; readonly b: Leg };
  readonly deadlines: Deadlines;
  /** The secret, once it was seen anywhere public; never forgotten. */
  readonly secret: Secret | null;
  /** Whether the swap ever expired unfunded: neither side may fund after that. */
  readonly lapsed: boolean;
};

/** `wall` ours, `a` and `b` the chains' own (Bitcoin: median time past). */
export type Clocks = {
  readonly wall: UnixSeconds;
  readonly a: UnixSeconds;
  readonly b: UnixSeconds;
};

export function longOf(swap: SwapState): Leg {
  return swap.legs.a.long ? swap.legs.a : swap.legs.b;
}

export function shortOf(swap: SwapState): Leg {
  return swap.legs.a.long ? swap.legs.b : swap.legs.a;
}

/** Whether an escrow's timelock has passed by its chain's clock; Bitcoin's must be beyond it. */
export function hasPassed(leg: Leg, timelock: UnixSeconds, clocks: Clocks): boolean {
  const clock = clocks[leg.leg];
  return has(leg, 'medianTime') ? clock > timelock : clock >= timelock;
}

/** The clock that is worse for acting late on this leg: the later of ours and its chain's. */
export function pessimistic(clocks: Clocks, leg: Leg): UnixSeconds {
  return Math.max(clocks.wall, clocks[leg.leg]);
}
