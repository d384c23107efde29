// The reminders due to a party of a swap now, by the same rules that `next[]` goes by. Pure.

import { fundBy } from '@parley/core/gates.ts';
import { type Action, nextSteps } from '@parley/core/next.ts';
import { hasPassed, type Leg } from '@parley/core/swap.ts';
import { type LegName, otherLeg, roleOf } from '@parley/core/trade.ts';
import { clocksOf, partyOf, type Swap } from '../db/swaps.ts';
import type { ReminderKind } from './texts.ts';

export type Due = {
  readonly kind: ReminderKind;
  readonly leg: LegName;
  readonly chain: string;
  /** Unix seconds. */
  readonly deadline: number;
  /** It funds before the other side. */
  readonly isFirst: boolean;
  /** From when on it may take back its own. */
  readonly refundAt: number;
};

export function dueOf(
  swap: Swap,
  accountId: string,
  kind: ReminderKind,
  nowMs: number,
): Due | null {
  const party = partyOf(swap, accountId);
  if (party === null) return null;
  const { state } = swap;
  const own = state.legs.a.funder === party ? state.legs.a : state.legs.b;
  const other = state.legs[otherLeg(own.leg)];
  const role = roleOf(party, swap.long);
  const steps = nextSteps(state, clocksOf(swap, nowMs)).filter(({ by }) => by === role);
  const may = (...actions: readonly Action[]) =>
    steps.some(({ action }) => actions.includes(action));
  const due = (leg: Leg, deadline: number): Due => {
    const first = role === 'initiator';
    const where = { kind, leg: leg.leg, chain: leg.chain };
    return { ...where, deadline, isFirst: first, refundAt: own.timelock };
  };
  switch (kind) {
    case 'fund_by':
      // A party that still has to give an address misses the same deadline.
      return may('fund', 'set_address') ? due(own, fundBy(state, own)) : null;
    case 'reveal_by':
      return may('claim') && state.secret === null ? due(other, state.deadlines.revealBy) : null;
    case 'claim_now': {
      const isOpen = state.secret !== null && other.facts.claimed === null;
      return may('claim') && isOpen ? due(other, other.timelock) : null;
    }
    case 'refund_possible':
      return holds(swap, own, nowMs) ? due(own, own.timelock) : null;
  }
}

/** Whether an escrow of the leg, a former one too, may be refunded, and nobody claimed from it. */
function holds(swap: Swap, own: Leg, nowMs: number): boolean {
  if (!hasPassed(own, own.timelock, clocksOf(swap, nowMs))) return false;
  const former = swap.former.filter(({ leg }) => leg === own.leg);
  return [own, ...former].some(({ facts }) => facts.balance > 0n && facts.claimed === null);
}
