// When a leg may be funded, claimed and refunded: one set of gates for builders, broadcast and SDK.

import { at, type Fact, ParleyError } from './errors.ts';
import { type EscrowFacts, isFunded, isUnknown, legStatus, unknownOutcome } from './facts.ts';
import { has } from './families.ts';
import { opens, type Secret } from './hashlock.ts';
import type { UnixSeconds } from './nominal.ts';
import { isOut, isShown, mustGoOn, mustWant, takesRelease } from './release.ts';
import {
  type Clocks,
  hasPassed,
  type Leg,
  longOf,
  pessimistic,
  type SwapState,
  shortOf,
} from './swap.ts';
import { type LegName, otherLeg, type Party } from './trade.ts';

/** Last moment to send this leg's funding. */
export function fundBy(
  { deadlines }: Pick<SwapState, 'deadlines'>,
  { long }: Pick<Leg, 'long'>,
): UnixSeconds {
  return long ? deadlines.initiatorFundBy : deadlines.counterpartyFundBy;
}

export function mustFund(leg: Leg, by: Party): void {
  if (leg.funder !== by) {
    const sentence = `leg ${leg.leg} is funded by the ${leg.funder}, not you`;
    throw new ParleyError('not_your_leg', sentence, { leg: leg.leg });
  }
}

export function mustReceive(leg: Leg, by: Party): void {
  if (leg.funder === by) {
    throw new ParleyError('not_your_leg', `leg ${leg.leg} pays the other side, not you`, {
      leg: leg.leg,
    });
  }
}

/** Whether a leg may be funded now; throws the first refusal that applies. */
export function fundGate(swap: SwapState, name: LegName, clocks: Clocks): void {
  const leg = swap.legs[name];
  if (leg.payoutAddress === null || leg.refundAddress === null || leg.escrow === null) {
    const missing = leg.payoutAddress === null ? 'payout' : 'refund';
    throw new ParleyError('addresses_missing', `leg ${name} has no ${missing} address yet`, {
      leg: name,
      missing,
    });
  }
  mustBeKnown(swap);
  if (legStatus(leg.facts) !== 'unfunded') {
    throw new ParleyError('already_funded', `leg ${name} is already ${legStatus(leg.facts)}`, {
      leg: name,
    });
  }
  if (swap.secret !== null) {
    throw new ParleyError('too_late_to_fund', 'the secret is already public: do not fund', {});
  }
  mustGoOn(swap);
  mustNotStray(swap);
  const other = swap.legs[otherLeg(name)];
  if (other.facts.refunded !== null || other.facts.claimed !== null) {
    const what = other.facts.refunded === null ? 'claimed' : 'refunded';
    throw new ParleyError(`already_${what}`, `leg ${other.leg} is being ${what}: do not fund`, {
      leg: other.leg,
    });
  }
  const deadline = fundBy(swap, leg);
  const now = Math.max(pessimistic(clocks, leg), pessimistic(clocks, swap.legs[otherLeg(name)]));
  if (swap.lapsed) {
    throw new ParleyError('too_late_to_fund', 'the swap expired: neither side may fund now', {});
  }
  if (now > deadline) {
    throw new ParleyError(
      'too_late_to_fund',
      `leg ${name} had to be funded by ${at(deadline)}; it is ${at(now)}`,
      { leg: name, deadline, now },
    );
  }
  const long = longOf(swap);
  if (!leg.long && legStatus(long.facts) !== 'funded') {
    const have = long.facts.funded?.confirmations ?? 0;
    throw new ParleyError(
      'not_fundable_yet',
      `leg ${long.leg} must be funded first: it is ${legStatus(long.facts)} with ${have} of ` +
        `${long.requiredConfirmations} confirmations`,
      { leg: name, confirmations: have, required: long.requiredConfirmations },
    );
  }
  if (other.payoutAddress === null || other.refundAddress === null) {
    throw new ParleyError(
      'addresses_missing',
      `leg ${other.leg} has no ${other.payoutAddress === null ? 'payout' : 'refund'} address ` +
        'yet: fund only when both legs can be completed',
      { leg: other.leg },
    );
  }
  if (awaitsLane(leg, clocks)) {
    const left = (leg.laneAwaitedUntil ?? 0) - clocks.wall;
    const sentence = `the payee of leg ${name} has ${left} s left to sign for its lane`;
    throw new ParleyError('not_fundable_yet', sentence, { leg: name, left });
  }
}

/** Whether the payee still has time to sign for its lane. Later the leg moves to the funder's. */
export function awaitsLane(leg: Leg, { wall }: Clocks): boolean {
  return wall < (leg.laneAwaitedUntil ?? 0);
}

function mustNotStray(swap: SwapState): void {
  const strayed = [swap.legs.a, swap.legs.b].find((leg) => leg.strayed);
  if (strayed === undefined) return;
  throw new ParleyError(
    'former_escrow_funded',
    `leg ${strayed.leg} has money in an escrow that it moved off, which the same secret opens: ` +
      'neither fund nor reveal; refund it after the timelock',
    { leg: strayed.leg },
  );
}

function mustBeKnown(swap: SwapState): void {
  const unknown = [swap.legs.a, swap.legs.b].find(({ facts }) => isUnknown(facts));
  if (unknown === undefined) return;
  throw new ParleyError('outcome_unknown', `neither fund nor reveal: ${unknownOutcome(unknown)}`, {
    leg: unknown.leg,
    chain: unknown.chain,
  });
}

/** `secret` must open the hashlock: `wrong_secret` otherwise. Checked before every other gate. */
export function mustOpen(swap: SwapState, secret: Secret): void {
  if (!opens(secret, swap.hashlock)) {
    throw new ParleyError('wrong_secret', `sha256(secret) is not the hashlock ${swap.hashlock}`, {
      hashlock: swap.hashlock,
    });
  }
}

/** Throws what took the money out of an escrow of this leg, if anything did. */
export function mustNotBeSpent(name: LegName, { claimed, refunded }: EscrowFacts): void {
  const spent = claimed ?? refunded;
  if (spent === null) return;
  const how = claimed === null ? 'refunded' : 'claimed';
  const depth = spent.deep ? '' : `, which has ${spent.confirmations} confirmations so far`;
  throw new ParleyError(`already_${how}`, `leg ${name} was ${how} by ${spent.txid}${depth}`, {
    leg: name,
    txid: spent.txid,
  });
}

/** Once the secret is public only the chain may refuse. */
export function claimGate(swap: SwapState, name: LegName, clocks: Clocks): void {
  if (swap.secret !== null) return;
  const leg = swap.legs[name];
  const status = legStatus(leg.facts);
  if (status === 'claimed' || status === 'refunded') mustNotBeSpent(name, leg.facts);
  mustWant(leg);
  mustNotStray(swap);
  mustBeKnown(swap);
  for (const each of [longOf(swap), shortOf(swap)]) {
    if (!isFunded(each.facts)) {
      const have = each.facts.funded?.confirmations ?? 0;
      throw new ParleyError(
        'not_both_funded',
        `leg ${each.leg} is ${legStatus(each.facts)} with ${have} of ` +
          `${each.requiredConfirmations} confirmations: a claim now would reveal the secret early`,
        { leg: each.leg, confirmations: have, required: each.requiredConfirmations },
      );
    }
    // A leg that is being refunded cannot pay for a secret revealed now.
    if (each.facts.refunded !== null) {
      throw new ParleyError('already_refunded', `leg ${each.leg} is being refunded`, {
        leg: each.leg,
      });
    }
  }
  // The initiator's claim is the one that reveals; a party that claims the long leg has the secret.
  if (leg.long) return;
  const { revealBy } = swap.deadlines;
  const now = Math.max(pessimistic(clocks, swap.legs.a), pessimistic(clocks, swap.legs.b));
  if (now > revealBy) {
    throw new ParleyError(
      'too_late_to_reveal',
      `the secret had to be revealed by ${at(revealBy)}; it is ${at(now)}: do not claim, ` +
        'refund after the timelock',
      { revealBy, now },
    );
  }
}

/** By its chain's own clock (Bitcoin: median time past must be beyond it; others: at or beyond). */
export function refundGate(leg: Leg, timelock: UnixSeconds, clocks: Clocks): void {
  const clock = clocks[leg.leg];
  if (hasPassed(leg, timelock, clocks)) return;
  const behind = clocks.wall - clock;
  const which = has(leg, 'medianTime') ? "the chain's median time past" : "the chain's clock";
  throw new ParleyError(
    'too_early_to_refund',
    `leg ${leg.leg} is refundable from ${at(timelock)}; ${which} is ${at(clock)}, ` +
      `${Math.max(0, timelock - clock)} s short and ${Math.max(0, behind)} s behind wall time`,
    { leg: leg.leg, timelock, clock, behind },
  );
}

/** Whether a side may say that it will not go on: not once the secret is public, or was shown. */
export function wishGate(swap: SwapState, name: LegName, clocks: Clocks): void {
  const leg = swap.legs[name];
  mustNotBeSpent(name, leg.facts);
  if (swap.secret !== null) throw unreleasable(name, 'the secret is public, so claim it');
  if (isShown(leg, clocks)) {
    throw unreleasable(name, 'its claim was told to the market, so claim it');
  }
}

/**
 * Whether the payee may release this leg; throws the first refusal that applies. The initiator may
 * at any time before its secret is shown: without it nobody takes its own leg. The other side may
 * once its own leg is back at depth, or was never funded and cannot be.
 */
export function releaseGate(swap: SwapState, name: LegName, clocks: Clocks): void {
  const leg = swap.legs[name];
  if (!takesRelease(leg)) throw unreleasable(name, `${leg.chain} has refunds by time alone`);
  if (leg.escrow === null) throw unreleasable(name, 'it has no escrow yet');
  wishGate(swap, name, clocks);
  const own = swap.legs[otherLeg(name)];
  if (!leg.long || isOut(own, clocks, 'was not sent')) return;
  const { facts, requiredConfirmations: required } = own;
  const confirmations = facts.refunded?.confirmations ?? 0;
  const why =
    `your leg ${own.leg} may still be claimed: do it once its refund is at depth; it is ` +
    `${legStatus(facts)}, and its refund has ${confirmations} of ${required} confirmations`;
  throw unreleasable(name, why, { confirmations, required });
}

/** Whether the side that a leg would pay may ask the other one to sign with it. */
export function askGate(swap: SwapState, name: LegName, verb: 'claim' | 'refund'): void {
  const leg = swap.legs[name];
  mustNotBeSpent(name, leg.facts);
  if (verb === 'claim') mustBePublic(swap, name);
  else if (leg.release === null) throw unreleasable(name, 'its payee has not given it up');
}

/** Whether the other side may sign: the funder a claim, the payee a refund. */
export function answerGate(
  swap: SwapState,
  name: LegName,
  verb: 'claim' | 'refund',
  clocks: Clocks,
): void {
  if (verb === 'refund') {
    releaseGate(swap, name, clocks);
    return;
  }
  const leg = swap.legs[name];
  mustNotBeSpent(name, leg.facts);
  mustBePublic(swap, name);
  if (hasPassed(leg, leg.timelock, clocks)) {
    throw unreleasable(name, 'its timelock has passed, so its funder may refund it');
  }
}

/** Without the secret the funder has no claim of its own. */
function mustBePublic({ secret }: SwapState, name: LegName): void {
  if (secret === null) throw unreleasable(name, 'the secret is not public');
}

function unreleasable(leg: LegName, why: string, more: Readonly<Record<string, Fact>> = {}) {
  const sentence = `leg ${leg} cannot be released or cosigned: ${why}`;
  return new ParleyError('not_releasable', sentence, { leg, ...more });
}
