// The result of a swap, from the facts of its escrows: status, secret, and when to read again.
// Pure.

import {
  type EscrowFacts,
  holdsPayment,
  isUnknown,
  legStatus,
  nothingSeen,
} from '@parley/core/facts.ts';
import { opens } from '@parley/core/hashlock.ts';
import { isHeld, lateWatchSeconds } from '@parley/core/remains.ts';
import { isUntouched, type SwapStatus, swapStatus } from '@parley/core/status.ts';
import type { Leg, SwapState } from '@parley/core/swap.ts';
import type { LegName } from '@parley/core/trade.ts';

/** How often a leg is read whose outcome is unknown: the node may tell it later, or another one. */
export const unknownRetrySeconds = 600;

/** An escrow of the swap, with the newest facts known. */
type KnownEscrow = {
  readonly leg: LegName;
  readonly address: string;
  readonly facts: EscrowFacts;
};

export type Look = {
  readonly escrows: readonly KnownEscrow[];
  /** Whether every escrow was read just now; else some facts are of an earlier read. */
  readonly full: boolean;
  /** Unix seconds. */
  readonly wall: number;
  /** Stored as done: one chain that shows nothing else reopens nothing. */
  readonly wasDone?: boolean;
};

export type Outcome = {
  readonly state: SwapState;
  readonly status: SwapStatus;
  /** Unix seconds at which time alone changes something, null = only a chain can. */
  readonly dueAt: number | null;
  readonly done: boolean;
};

export function outcome(before: SwapState, look: Look): Outcome {
  const { escrows, full, wall, wasDone = false } = look;
  const shown = escrows.map((each) => each.facts.secret);
  const secret =
    before.secret ?? shown.find((each) => each !== null && opens(each, before.hashlock)) ?? null;
  const legs = { a: withFacts(before.legs.a, escrows), b: withFacts(before.legs.b, escrows) };
  const { expiresAt } = before.deadlines;
  const quietAt = Math.max(legs.a.timelock, legs.b.timelock) + lateWatchSeconds;
  const isQuiet = full && wall >= quietAt;
  const facts = [legs.a.facts, legs.b.facts];
  // Both legs were untouched in all that time, and neither can be funded any more.
  const isForgotten = isQuiet && facts.some(isUnknown) && facts.every(isUntouched);
  const state = { ...before, legs, secret, lapsed: before.lapsed || isForgotten };
  // That nothing was funded in time is only known when both chains were asked after it.
  const status = swapStatus(state, full ? wall : Math.min(wall, expiresAt));
  const lapsed = state.lapsed || status === 'expired';
  const statuses = [legStatus(legs.a.facts), legStatus(legs.b.facts)];
  const ended = statuses.every((each) => each === 'claimed' || each === 'refunded');
  const empty = escrows.every(({ facts }) => facts.empty && facts.balance === 0n);
  const held = escrows.some((each) => isHeld(each.facts, legs[each.leg].amount));
  // An escrow that a stranger can renew without end is followed so long: its refund stays open.
  const over = wall >= quietAt ? !held : empty && ended;
  const isDone = over && (full || wasDone);
  const untouched = statuses.every((each) => each === 'unfunded');
  const waits = untouched && !lapsed && status === 'agreed';
  const dueAt = () => {
    if (isDone) return null;
    if (over) return wall;
    if (waits) return expiresAt + 1;
    if (isUnknown(legs.a.facts) || isUnknown(legs.b.facts)) return wall + unknownRetrySeconds;
    return held ? null : quietAt;
  };
  return { state: { ...state, lapsed }, status, done: isDone, dueAt: dueAt() };
}

function withFacts(leg: Leg, escrows: readonly KnownEscrow[]): Leg {
  const ofLeg = escrows.filter((each) => each.leg === leg.leg);
  const own = ofLeg.find((each) => each.address === leg.escrow);
  const strayed = ofLeg.some((each) => each !== own && holdsPayment(each.facts, leg.amount));
  return { ...leg, facts: own?.facts ?? nothingSeen, strayed };
}
