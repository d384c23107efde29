// A kept swap, under whatever formula it was agreed: a newer version makes no liar of the market,
// and no escrow unclaimed.

import { openContracts } from '../chains/escrows/plan.ts';
import { fundBy } from '../core/gates.ts';
import { SettleError, VerificationError } from './errors.ts';
import { mayBeFunded, type SwapRecord } from './stores/store.ts';
import { type ChainView, type ChainViews, givenLeg, ownLegs } from './trade.ts';
import type { Swap } from './types.ts';
import {
  type ExpectedLeg,
  legBy,
  mustBeSwap,
  mustHaveTimes,
  type SaidLeg,
  type VerifiedLeg,
  type VerifiedSwap,
  verifyDeadlines,
  verifyLeg,
  verifyParties,
} from './verify.ts';

/** Throws unless all is as kept but the other side's destinations and their escrows. */
export function verifyAgain(
  swap: Swap,
  { trade, swap: kept }: SwapRecord,
  views: ChainViews,
): VerifiedSwap {
  mustBeSwap(swap, kept.id);
  const from = { trade: { ...trade, hashlock: kept.hashlock }, hashlock: kept.hashlock };
  verifyParties(swap, from.trade, kept.legs.a.long ? 'a' : 'b');
  mustHaveTimes(kept.deadlines, swap.deadlines);
  const expected = (leg: VerifiedLeg): ExpectedLeg => {
    const view = views.get(leg.chain);
    if (view === undefined) throw new Error(`no pinned facts about chain "${leg.chain}"`);
    const fundBefore = fundBy({ deadlines: kept.deadlines }, leg);
    return {
      ...leg,
      fundBefore,
      asset: leg.assetId === trade.base.id ? trade.base : trade.quote,
      view,
    };
  };
  const { a, b } = kept.legs;
  const legs = {
    a: verifyLeg(swap.legs.a, expected(a), from),
    b: verifyLeg(swap.legs.b, expected(b), from),
  };
  return { ...kept, legs };
}

/** SettleError `terms_outdated` unless the kept swap is what would be verified today. */
export function mustFollowToday(record: SwapRecord, views: ChainViews, now: number): void {
  const { trade, swap: kept } = record;
  // Until something of it may be funded the own leg can leave such a contract, when it is built.
  const leaves = mayBeFunded(record) ? null : givenLeg(trade.party);
  try {
    const own = ownLegs(trade, views);
    const { times } = verifyDeadlines(kept.deadlines, trade, own, now);
    const { hashlock, legs } = kept;
    for (const name of ['a', 'b'] as const) {
      verifyLeg(shown(legs[name]), legBy(own, times, name), { trade, hashlock });
      if (name !== leaves) mustTakeNew(legs[name], own[name].view);
    }
  } catch (error) {
    const why =
      error instanceof VerificationError
        ? `${error.field} is ${error.got}, and would be ${error.expected}`
        : String(error);
    const sentence =
      `swap ${kept.id} was agreed under another formula or other policies than today's (${why}): ` +
      'it is not funded. What an escrow holds is claimed and refunded all the same';
    throw new SettleError('terms_outdated', sentence, { cause: error });
  }
}

export function mustTakeNew({ leg, escrow }: VerifiedLeg, view: ChainView): void {
  if ((view.family !== 'evm' && view.family !== 'tron') || escrow === null) return;
  const open = openContracts(view.deployment);
  const { contract = view.deployment.contract } = escrow.terms.lane ?? {};
  if (open.includes(contract)) return;
  throw new VerificationError(`legs.${leg}.lane.contract`, open.join(' or '), contract);
}

function shown({ escrow, ...leg }: VerifiedLeg): SaidLeg {
  const { payout = null, refund = null } = escrow?.terms ?? {};
  return {
    ...leg,
    amount: leg.amount.toString(),
    escrow: escrow?.address ?? null,
    lane: escrow?.terms.lane ?? null,
    redeemScript: escrow?.redeemScript ?? null,
    payoutAddress: payout?.address ?? null,
    payoutPubkey: payout?.pubkey ?? null,
    refundAddress: refund?.address ?? null,
    refundPubkey: refund?.pubkey ?? null,
  };
}
