// A swap as its two parties read it: stored facts, and the steps open to each side by the clocks.

import {
  holdsPayment,
  isUnknown,
  legStatus,
  type Sighting,
  unknownOutcome,
} from '@parley/core/facts.ts';
import { nextSteps, type Step } from '@parley/core/next.ts';
import { isTaproot } from '@parley/core/release.ts';
import { type Clocks, hasPassed, type Leg } from '@parley/core/swap.ts';
import { type LegName, type Party, roleOf } from '@parley/core/trade.ts';
import { clocksOf, type FormerEscrow, type Swap } from '../db/swaps.ts';
import { type LegWarning, withWarnings } from './warnings.ts';

export type Sender = 'party' | 'keeper';
export type SwapView = ReturnType<typeof swapView>;

export function swapView(
  swap: Swap,
  party: Party,
  nowMs: number,
  warnings: readonly LegWarning[] = [],
) {
  const { id, threadId, rfqId, status, rules, state, makerId, takerId, createdAt, updatedAt } =
    swap;
  const { hashlock, secret, deadlines } = state;
  const clocks = clocksOf(swap, nowMs);
  const beside = [
    ...formerSteps(swap, clocks),
    ...rentSteps(swap, clocks),
    ...depositedSteps(swap, party),
    ...cosignSteps(swap, clocks),
  ];
  const shown = { id, threadId, rfqId, status, hashlock, secret, makerId, takerId, deadlines };
  return {
    ...shown,
    rules,
    role: roleOf(party, swap.long),
    initiatorUserId: swap.initiator === 'maker' ? makerId : takerId,
    legs: { a: legView(swap, 'a', party), b: legView(swap, 'b', party) },
    next: withWarnings([...nextSteps(state, clocks).map(cosigned(swap)), ...beside], warnings),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

function legView(swap: Swap, name: LegName, party: Party) {
  const {
    facts,
    strayed: _,
    handed: __,
    shown: ___,
    laneAwaitedUntil: ____,
    amount,
    ...leg
  } = swap.state.legs[name];
  const { funded, claimed, refunded, rentLeft = null, balance } = facts;
  return {
    ...leg,
    amount: amount.toString(),
    status: legStatus(facts),
    outcome: facts.outcome ?? null,
    ownLane: leg.ownLane ?? false,
    lane: swap.lanes[name],
    laneSignature: swap.laneSignatures[name],
    redeemScript: swap.redeemScripts[name],
    fundTx: funded?.txid ?? null,
    claimTx: claimed?.txid ?? null,
    refundTx: refunded?.txid ?? null,
    claimedBy: senderOf(claimed, swap.byKeeper.claimed[name]),
    refundedBy: senderOf(refunded, swap.byKeeper.refunded[name]),
    // The confirmations of the last event.
    confirmations: (refunded ?? claimed ?? funded)?.confirmations ?? 0,
    balance: balance.toString(),
    rentLeft: rentLeft && { ...rentLeft, lamports: rentLeft.lamports.toString() },
    formerEscrows: swap.former
      .filter((each) => each.leg === name)
      .map((each) => formerView(each, leg.funder === party)),
    scheduledRefunds: leg.funder === party ? swap.scheduled.refund[name] : null,
    scheduledClaims: leg.funder === party ? null : swap.scheduled.claim[name],
  };
}

function formerView(former: FormerEscrow, isFunder: boolean) {
  const { address: escrow, facts, refundedByKeeper, scheduledRefunds } = former;
  return {
    escrow,
    balance: facts.balance.toString(),
    refundTx: facts.refunded?.txid ?? null,
    refundedBy: senderOf(facts.refunded, refundedByKeeper),
    scheduledRefunds: isFunder ? scheduledRefunds : null,
  };
}

function senderOf(seen: Sighting | null, byKeeper: boolean): Sender | null {
  if (seen === null) return null;
  return byKeeper ? 'keeper' : 'party';
}

/**
 * Payments to an escrow that the leg moved off go back to their funder with `?escrow=`. Dust there
 * is not waited for: it stops nothing.
 */
function formerSteps(swap: Swap, clocks: Clocks): Step[] {
  return swap.former.flatMap(({ leg: name, address, facts }): Step[] => {
    const leg = swap.state.legs[name];
    const by = roleOf(leg.funder, swap.long);
    const passed = hasPassed(leg, leg.timelock, clocks);
    const { balance, refunded } = facts;
    const what = balance === 0n ? 'a payment is' : `${balance} are`;
    const how = `refund with ?escrow=${address}`;
    if (passed && balance > 0n) {
      const why = `${what} in the former escrow ${address}: ${how}`;
      return [{ by, action: 'refund', leg: name, before: null, why }];
    }
    if (refunded !== null && !refunded.deep) {
      const why = `refund ${refunded.txid} of the former escrow ${address} is not yet at depth`;
      return [{ by, action: 'wait', leg: name, before: null, why }];
    }
    if (isUnknown(facts)) {
      // The outcome of the leg settles it.
      if (['claimed', 'refunded'].includes(legStatus(leg.facts))) return [];
      const why = `the former escrow ${address}: ${unknownOutcome(leg)}`;
      return [{ by, action: 'wait', leg: name, before: null, why }];
    }
    if (!holdsPayment(facts, leg.amount)) return [];
    const when = passed ? 'when it is in a block' : `when the chain's clock passes ${leg.timelock}`;
    const why = `${what} in the former escrow ${address}: ${how} ${when}`;
    return [{ by, action: 'wait', leg: name, before: passed ? null : leg.timelock, why }];
  });
}

/** Whether what a claim or a release left goes to its funder now. */
export function isRentDue(leg: Leg, clocks: Clocks): boolean {
  const { rentLeft, claimed, refunded } = leg.facts;
  if (rentLeft === undefined || !(claimed ?? refunded)?.deep) return false;
  return rentLeft.from === null || hasPassed(leg, rentLeft.from, clocks);
}

function rentSteps({ state: { legs }, long }: Swap, clocks: Clocks): Step[] {
  return [legs.a, legs.b].flatMap((leg): Step[] => {
    const { rentLeft } = leg.facts;
    if (rentLeft === undefined || !isRentDue(leg, clocks)) return [];
    const what = `${rentLeft.lamports} lamports of what funding leg ${leg.leg} took are yours`;
    const why = `${what} and still in its escrow: a refund takes them`;
    const by = roleOf(leg.funder, long);
    return [{ by, action: 'refund', leg: leg.leg, before: null, why }];
  });
}

/** To the payee alone: the market claims for it once the secret is public. */
function depositedSteps({ state: { legs, secret }, scheduled, long }: Swap, party: Party): Step[] {
  return [legs.a, legs.b].flatMap((leg): Step[] => {
    const kept = scheduled.claim[leg.leg];
    const isOpen = ['seen', 'funded'].includes(legStatus(leg.facts));
    if (kept === null || leg.funder === party || !isOpen) return [];
    const when = secret === null ? 'once the secret is public' : 'now';
    const why =
      `the market keeps ${kept.count} signed claims of leg ${leg.leg}, up to ` +
      `${kept.highestFeeRate} sat per vbyte, and sends them ${when}`;
    return [{ by: roleOf(party, long), action: 'wait', leg: leg.leg, before: leg.timelock, why }];
  });
}

/** To the funder of a leg whose claim it may sign, once the secret is public. */
function cosignSteps({ state: { legs, secret }, toCosign, long }: Swap, clocks: Clocks): Step[] {
  return [legs.a, legs.b].flatMap((leg): Step[] => {
    const { leg: name, facts, timelock: before } = leg;
    const isOpen = (facts.claimed ?? facts.refunded) === null && !hasPassed(leg, before, clocks);
    if (secret === null || !isOpen || !toCosign[name].includes('claim')) return [];
    const why = `the secret is public: signed by both sides, the claim of leg ${name} is smaller`;
    return [{ by: roleOf(leg.funder, long), action: 'cosign', leg: name, before, why }];
  });
}

/** A leg of Taproot is released by the payee's answer to its funder. */
const cosigned =
  ({ state: { legs }, toCosign }: Swap) =>
  (step: Step): Step => {
    const leg = step.action === 'release' && step.leg !== null ? legs[step.leg] : null;
    if (leg === null || leg.release === null || !isTaproot(leg)) return step;
    const { leg: name } = leg;
    if (toCosign[name].includes('refund')) {
      const why = `leg ${name} goes back at once if you sign the refund that its funder asks for`;
      return { ...step, action: 'cosign', why };
    }
    const why = `leg ${name} goes back at once when its funder asks you to sign its refund`;
    return { ...step, action: 'wait', why };
  };
