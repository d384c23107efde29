// The actions that each side can do now. A party that acts only when this list says so loses
// nothing.

import { isFunded, isUnknown, legStatus, unknownOutcome } from './facts.ts';
import { awaitsLane, fundBy } from './gates.ts';
import type { UnixSeconds } from './nominal.ts';
import { isGivenUp, isOut, isShown, isTaproot, releaseOf, takesRelease } from './release.ts';
import {
  type Clocks,
  hasPassed,
  type Leg,
  longOf,
  pessimistic,
  type SwapState,
  shortOf,
} from './swap.ts';
import type { LegName, Role } from './trade.ts';

export const actions = [
  'set_address',
  'open_lane',
  'fund',
  'claim',
  'refund',
  'release',
  'cosign',
  'wait',
] as const;
export type Action = (typeof actions)[number];

export type Step = {
  readonly by: Role;
  readonly action: Action;
  readonly leg: LegName | null;
  /** After which the step is no longer open; null = no limit of ours. */
  readonly before: UnixSeconds | null;
  readonly why: string;
  /** The warnings to know before it; only the server, which asks the chains, adds them. */
  readonly warnings?: readonly { readonly code: string; readonly text: string }[];
};

/**
 * Empty when nothing is left to do. Steps of escrows that a leg moved off, and of spends that both
 * sides sign, apps/market/settle/view.ts adds.
 */
export function nextSteps(swap: SwapState, clocks: Clocks): Step[] {
  const steps: Step[] = [];
  for (const role of ['initiator', 'counterparty'] as const) {
    const open = stepsOf(swap, clocks, role);
    steps.push(...(open.length > 0 ? open : waiting(swap, clocks, role)));
  }
  return steps;
}

function stepsOf(swap: SwapState, clocks: Clocks, role: Role): Step[] {
  const own = role === 'initiator' ? longOf(swap) : shortOf(swap);
  const other = role === 'initiator' ? shortOf(swap) : longOf(swap);
  return [
    ...addresses(swap, clocks, role, own, other),
    ...opening(swap, clocks, role, other),
    ...funding(swap, clocks, role, own),
    ...claiming(swap, clocks, role, other),
    ...refunding(clocks, role, own),
    ...releasing(swap, clocks, role, { own, other }),
  ];
}

/** Whether anything may still be funded. */
function fundable(swap: SwapState, clocks: Clocks, leg: Leg): boolean {
  const now = Math.max(pessimistic(clocks, swap.legs.a), pessimistic(clocks, swap.legs.b));
  return (
    !swap.lapsed &&
    swap.secret === null &&
    !isGivenUp(swap) &&
    !swap.legs.a.strayed &&
    !swap.legs.b.strayed &&
    unknownLeg(swap) === undefined &&
    Object.values(swap.legs).every(({ facts }) => (facts.refunded ?? facts.claimed) === null) &&
    now <= fundBy(swap, leg) &&
    legStatus(leg.facts) === 'unfunded'
  );
}

function unknownLeg({ legs }: SwapState): Leg | undefined {
  return [legs.a, legs.b].find(({ facts }) => isUnknown(facts));
}

function addressesSet(leg: Leg): boolean {
  return leg.payoutAddress !== null && leg.refundAddress !== null;
}

function addresses(swap: SwapState, clocks: Clocks, role: Role, own: Leg, other: Leg): Step[] {
  const steps: Step[] = [];
  const before = swap.deadlines.initiatorFundBy;
  if (!fundable(swap, clocks, longOf(swap)) && !fundable(swap, clocks, shortOf(swap))) return [];
  if (own.refundAddress === null) {
    const why = `say where leg ${own.leg} comes from and is refunded to`;
    steps.push({ by: role, action: 'set_address', leg: own.leg, before, why });
  }
  if (other.payoutAddress === null) {
    const why = `say where leg ${other.leg} pays you`;
    steps.push({ by: role, action: 'set_address', leg: other.leg, before, why });
  }
  return steps;
}

/** The payee's lane: to its owner, who signs for it. */
function opening(swap: SwapState, clocks: Clocks, role: Role, other: Leg): Step[] {
  if (other.laneAwaitedUntil === undefined || !fundable(swap, clocks, other)) return [];
  const why = `sign for your lane, in which leg ${other.leg} costs its funder less`;
  return [{ by: role, action: 'open_lane', leg: other.leg, before: fundBy(swap, other), why }];
}

function funding(swap: SwapState, clocks: Clocks, role: Role, own: Leg): Step[] {
  if (!fundable(swap, clocks, own)) return [];
  if (!addressesSet(swap.legs.a) || !addressesSet(swap.legs.b)) return [];
  const long = longOf(swap);
  if (!own.long && legStatus(long.facts) !== 'funded') return [];
  if (awaitsLane(own, clocks)) {
    const why = 'the other side has yet to sign for its lane';
    return [{ by: role, action: 'wait', leg: own.leg, before: own.laneAwaitedUntil ?? null, why }];
  }
  const why = own.long
    ? 'you fund first; the other side funds when yours is deep'
    : `leg ${long.leg} is funded and deep`;
  return [{ by: role, action: 'fund', leg: own.leg, before: fundBy(swap, own), why }];
}

function claiming(swap: SwapState, clocks: Clocks, role: Role, other: Leg): Step[] {
  const { facts } = other;
  // One thing is known of an unknown escrow: it is empty.
  if (facts.funded === null || isUnknown(facts)) return [];
  // A refund that only waits has taken nothing: with the secret public, only a mined one does.
  const { refunded } = facts;
  if (refunded !== null && (swap.secret === null || refunded.confirmations > 0)) return [];
  // A claim that only waits may never be mined at the fee it pays.
  if (facts.claimed !== null && facts.claimed.confirmations > 0) return [];
  if (swap.secret !== null) {
    const why =
      facts.claimed === null
        ? 'the secret is public: claim at once'
        : `claim ${facts.claimed.txid} is unconfirmed: replace it at a higher fee if it stays so`;
    return [{ by: role, action: 'claim', leg: other.leg, before: other.timelock, why }];
  }
  if (role === 'counterparty' || swap.legs.a.strayed || swap.legs.b.strayed) return [];
  // A side that gives up tells no secret.
  if (other.release !== null) return [];
  if (unknownLeg(swap) !== undefined) return [];
  const long = longOf(swap);
  if (!isFunded(facts) || !isFunded(long.facts) || long.facts.refunded !== null) return [];
  const now = Math.max(pessimistic(clocks, swap.legs.a), pessimistic(clocks, swap.legs.b));
  const before = swap.deadlines.revealBy;
  if (now > before) return [];
  const why = 'both legs are funded and deep: claiming reveals the secret';
  return [{ by: role, action: 'claim', leg: other.leg, before, why }];
}

function refunding(clocks: Clocks, role: Role, own: Leg): Step[] {
  const { facts } = own;
  // The balance leaves out an amount that a refund seen already takes; a second payment may be.
  if (facts.balance === 0n) return [];
  const isReleased = releaseOf(own, own.escrow ?? '') !== null;
  if (!isReleased && !hasPassed(own, own.timelock, clocks)) return [];
  const since = isReleased
    ? `the other side has released leg ${own.leg}`
    : `the timelock of leg ${own.leg} has passed`;
  const why = `${since} and ${facts.balance} are in its escrow`;
  return [{ by: role, action: 'refund', leg: own.leg, before: null, why }];
}

type Both = { readonly own: Leg; readonly other: Leg };

/** To a side that loses nothing by it, whatever the other one does, or that gave the swap up. */
function releasing(swap: SwapState, clocks: Clocks, role: Role, { own, other }: Both): Step[] {
  const { facts, release, timelock } = other;
  // The funder of a Taproot leg may ask once more: its answer is lost with its nonces.
  const isGiven = !isTaproot(other) && (release?.at ?? null) !== null;
  if (swap.secret !== null || !takesRelease(other) || isGiven) return [];
  const isSpent = (facts.claimed ?? facts.refunded) !== null;
  if (other.escrow === null || isSpent || isUnknown(facts)) return [];
  if (isShown(other, clocks)) return [];
  // A side that gives up releases a leg whose funding may still come. That of the short leg comes
  // only after the own, long one.
  const mayCome = release !== null && (other.long || !isOut(own, clocks, 'counts'));
  if ((facts.funded === null && !mayCome) || hasPassed(other, timelock, clocks)) return [];
  const isWanted = role === 'initiator' && release !== null;
  // A funding of its own making may be on its way, and nobody was told.
  if (!isWanted && (fundable(swap, clocks, own) || !isOut(own, clocks, 'counts'))) return [];
  const when = isTaproot(other) ? 'when its funder asks' : 'to its funder at once';
  const why = `leg ${other.leg} will not be claimed: released, it goes back ${when}`;
  return [{ by: role, action: 'release', leg: other.leg, before: timelock, why }];
}

function waiting(swap: SwapState, clocks: Clocks, role: Role): Step[] {
  const own = role === 'initiator' ? longOf(swap) : shortOf(swap);
  const other = role === 'initiator' ? shortOf(swap) : longOf(swap);
  const wait = (leg: LegName, before: UnixSeconds | null, why: string): Step[] => [
    { by: role, action: 'wait', leg, before, why },
  ];
  const unknown = unknownLeg(swap);
  if (unknown !== undefined) return wait(unknown.leg, null, unknownOutcome(unknown));
  const moving = [own, other].find(onItsWay);
  if (moving !== undefined) {
    return wait(moving.leg, null, `a transaction on leg ${moving.leg} is not yet at depth`);
  }
  if (own.facts.balance > 0n) {
    const refund = `refund leg ${own.leg} when its chain's clock passes ${own.timelock}`;
    if (own.facts.claimed !== null) {
      const why = `leg ${own.leg} was claimed and ${own.facts.balance} beside it were not: ${refund}`;
      return wait(own.leg, own.timelock, why);
    }
    if (swap.secret !== null) {
      return wait(own.leg, own.timelock, `the other side claims leg ${own.leg}; else ${refund}`);
    }
    if (!isFunded(other.facts) && fundable(swap, clocks, other)) {
      const { counterpartyFundBy } = swap.deadlines;
      return wait(other.leg, counterpartyFundBy, `leg ${other.leg} gets funded; else ${refund}`);
    }
    return wait(own.leg, own.timelock, `${refund}, unless the secret appears before`);
  }
  const long = longOf(swap);
  if (fundable(swap, clocks, long)) {
    const why = `the initiator funds leg ${long.leg} first`;
    return wait(long.leg, swap.deadlines.initiatorFundBy, why);
  }
  return [];
}

function onItsWay({ facts }: Leg): boolean {
  const last = facts.refunded ?? facts.claimed ?? facts.funded;
  return last !== null && !last.deep;
}
