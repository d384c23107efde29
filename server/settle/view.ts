// A swap as its two parties read it: stored facts, and the steps open to each side by the clocks.

import {
  type EscrowFacts,
  holdsPayment,
  isUnknown,
  type LegStatus,
  legStatus,
  type Sighting,
  unknownOutcome,
} from '../../core/facts.ts';
import type { Family } from '../../core/families.ts';
import type { Hashlock, Secret } from '../../core/hashlock.ts';
import { nextSteps, type Step } from '../../core/next.ts';
import type { Rules } from '../../core/rules.ts';
import type { SwapStatus } from '../../core/status.ts';
import { type Clocks, hasPassed, type Leg } from '../../core/swap.ts';
import type { Lane } from '../../core/terms.ts';
import { type LegName, type Party, type Role, roleOf } from '../../core/trade.ts';
import type { ScheduledView } from '../db/scheduled-refunds.ts';
import { clocksOf, type FormerEscrow, type Swap } from '../db/swaps.ts';
import { type LegWarning, withWarnings } from './warnings.ts';

export type LegView = {
  leg: LegName;
  chain: string;
  family: Family;
  assetId: string;
  amount: string;
  funder: Party;
  long: boolean;
  status: LegStatus;
  /** `unknown`: nobody can tell what became of it; `next` says which node would. */
  outcome: 'unknown' | null;
  timelock: number;
  escrow: string | null;
  lane: Lane | null;
  redeemScript: string | null;
  payoutAddress: string | null;
  refundAddress: string | null;
  payoutPubkey: string | null;
  refundPubkey: string | null;
  fundTx: string | null;
  claimTx: string | null;
  refundTx: string | null;
  /** Who sent it: `party` is anybody but the keeper. */
  claimedBy: Sender | null;
  refundedBy: Sender | null;
  confirmations: number;
  requiredConfirmations: number;
  balance: string;
  rentLeft: { lamports: string; from: number | null } | null;
  formerEscrows: FormerEscrowView[];
  scheduledRefunds: ScheduledView | null;
};

export type FormerEscrowView = {
  escrow: string;
  balance: string;
  refundTx: string | null;
  refundedBy: Sender | null;
  scheduledRefunds: ScheduledView | null;
};

export type Sender = 'party' | 'keeper';

export type SwapView = {
  id: string;
  threadId: string;
  rfqId: string;
  status: SwapStatus;
  hashlock: Hashlock;
  secret: Secret | null;
  role: Role;
  initiatorUserId: string;
  makerId: string;
  takerId: string;
  legs: { a: LegView; b: LegView };
  deadlines: {
    initiatorFundBy: number;
    expiresAt: number;
    counterpartyFundBy: number;
    revealBy: number;
    refundAt: { a: number; b: number };
  };
  rules: Rules | null;
  next: Step[];
  createdAt: string;
  updatedAt: string;
};

export function swapView(
  swap: Swap,
  party: Party,
  nowMs: number,
  warnings: readonly LegWarning[] = [],
): SwapView {
  const { state, makerId, takerId } = swap;
  const clocks = clocksOf(swap, nowMs);
  const beside = [...formerSteps(swap, clocks), ...rentSteps(swap, clocks)];
  return {
    id: swap.id,
    threadId: swap.threadId,
    rfqId: swap.rfqId,
    status: swap.status,
    hashlock: state.hashlock,
    secret: state.secret,
    role: roleOf(party, swap.long),
    initiatorUserId: swap.initiator === 'maker' ? makerId : takerId,
    makerId,
    takerId,
    legs: { a: legView(swap, 'a', party), b: legView(swap, 'b', party) },
    deadlines: state.deadlines,
    rules: swap.rules,
    next: withWarnings([...nextSteps(state, clocks), ...beside], warnings),
    createdAt: swap.createdAt.toISOString(),
    updatedAt: swap.updatedAt.toISOString(),
  };
}

function legView(swap: Swap, name: LegName, party: Party): LegView {
  const leg = swap.state.legs[name];
  const { facts } = leg;
  return {
    leg: name,
    chain: leg.chain,
    family: leg.family,
    assetId: leg.assetId,
    amount: leg.amount.toString(),
    funder: leg.funder,
    long: leg.long,
    status: legStatus(facts),
    outcome: facts.outcome ?? null,
    timelock: leg.timelock,
    escrow: leg.escrow,
    lane: swap.lanes[name],
    redeemScript: swap.redeemScripts[name],
    payoutAddress: leg.payoutAddress,
    refundAddress: leg.refundAddress,
    payoutPubkey: leg.payoutPubkey,
    refundPubkey: leg.refundPubkey,
    fundTx: facts.funded?.txid ?? null,
    claimTx: facts.claimed?.txid ?? null,
    refundTx: facts.refunded?.txid ?? null,
    claimedBy: senderOf(facts.claimed, swap.byKeeper.claimed[name]),
    refundedBy: senderOf(facts.refunded, swap.byKeeper.refunded[name]),
    confirmations: newest(facts)?.confirmations ?? 0,
    requiredConfirmations: leg.requiredConfirmations,
    balance: facts.balance.toString(),
    rentLeft: facts.rentLeft
      ? { ...facts.rentLeft, lamports: facts.rentLeft.lamports.toString() }
      : null,
    formerEscrows: swap.former
      .filter((each) => each.leg === name)
      .map((each) => formerView(each, leg.funder === party)),
    scheduledRefunds: leg.funder === party ? swap.scheduled[name] : null,
  };
}

function formerView(former: FormerEscrow, isFunder: boolean): FormerEscrowView {
  const { address, facts, refundedByKeeper, scheduled } = former;
  return {
    escrow: address,
    balance: facts.balance.toString(),
    refundTx: facts.refunded?.txid ?? null,
    refundedBy: senderOf(facts.refunded, refundedByKeeper),
    scheduledRefunds: isFunder ? scheduled : null,
  };
}

function senderOf(seen: Sighting | null, byKeeper: boolean): Sender | null {
  if (seen === null) return null;
  return byKeeper ? 'keeper' : 'party';
}

/** The confirmations shown are those of what happened last. */
function newest({ funded, claimed, refunded }: EscrowFacts) {
  return refunded ?? claimed ?? funded;
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
      // What the leg came to settles it.
      if (['claimed', 'refunded'].includes(legStatus(leg.facts))) return [];
      const why = `of the former escrow ${address}: ${unknownOutcome(leg)}`;
      return [{ by, action: 'wait', leg: name, before: null, why }];
    }
    if (!holdsPayment(facts, leg.amount)) return [];
    const when = passed ? 'when it is in a block' : `when the chain's clock passes ${leg.timelock}`;
    const why = `${what} in the former escrow ${address}: ${how} ${when}`;
    return [{ by, action: 'wait', leg: name, before: passed ? null : leg.timelock, why }];
  });
}

/** Whether what a claim left goes to its funder now. */
export function isRentDue(leg: Leg, clocks: Clocks): boolean {
  const { rentLeft } = leg.facts;
  if (rentLeft === undefined || !leg.facts.claimed?.deep) return false;
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
