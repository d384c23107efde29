// The market's answers, as tools show them: named assets, both units, and whose turn it is.

import { isoTime, timedText } from '@parley/sdk/people.ts';
import type { Rfq, Standing, Swap, Thread } from '@parley/sdk/types.ts';
import type { z } from 'zod';
import { amountOf, type Desk, type Names } from '../desk.ts';
import type { Driven } from '../driver.ts';
import { foreign, idIn, instantIn, orNull, placeIn, word } from '../foreign.ts';
import type {
  drivenOut,
  rfqOut,
  standingOut,
  stepOut,
  swapMade as swapMadeOut,
  swapOut,
  threadOut,
} from '../schemas.ts';

/** null: no instant. */
const at = (seconds: number | null) => (seconds === null ? null : isoTime(seconds));

export function standingView(said: Standing | null | undefined): z.infer<typeof standingOut> {
  if (said == null) return null;
  const { agreed, settled, abandoned, refunded, medianFundSeconds } = said;
  return { agreed, settled, abandoned, refunded, medianFundSeconds };
}

export function rfqView(rfq: Rfq, names: Names, userId: string): z.infer<typeof rfqOut> {
  const base = names.of(rfq.baseAssetId);
  const quote = names.of(rfq.quoteAssetId);
  return {
    rfqId: idIn(rfq.id),
    status: word(rfq.status),
    side: rfq.direction === 'sell_base' ? 'sell' : 'buy',
    base: amountOf(rfq.baseAmount, base),
    quoteAsset: quote.name,
    asks: rfq.askAmount === null ? null : amountOf(rfq.askAmount, quote),
    pinned: base.pinned && quote.pinned,
    mine: rfq.creatorId === userId,
    visibility: word(rfq.visibility),
    minSettled: rfq.minSettled ?? null,
    endsAt: instantIn(rfq.expiresAt),
    creator: standingView(rfq.creatorStanding),
  };
}

export function threadView(
  thread: Thread,
  names: Names,
  userId: string,
): z.infer<typeof threadOut> {
  const role = thread.makerId === userId ? 'maker' : 'taker';
  const other = role === 'maker' ? 'taker' : 'maker';
  const { rfq, makerStanding } = thread;
  const { rfqId, side, base, pinned } = rfqView(rfq, names, userId);
  return {
    threadId: idIn(thread.id),
    rfqId,
    side,
    base,
    pinned,
    role,
    status: word(thread.status),
    price: amountOf(thread.quoteAmount, names.of(rfq.quoteAssetId)),
    proposedBy: thread.proposedBy === role ? 'you' : 'them',
    youAccepted: thread[`${role}Accepted`],
    theyAccepted: thread[`${other}Accepted`],
    acceptanceEndsAt: orNull(instantIn, thread.acceptanceExpiresAt),
    priceEndsAt: orNull(instantIn, thread.quoteExpiresAt),
    fundsFirst: thread.initiator === role ? 'you' : 'them',
    swapId: orNull(idIn, thread.swapId),
    otherSide: standingView(role === 'taker' ? makerStanding : rfq.creatorStanding),
  };
}

export function stepsView({ next, role }: Pick<Swap, 'next' | 'role'>): z.infer<typeof stepOut>[] {
  return next.map(({ by, action, leg, before, why }) => ({
    by: by === role ? 'you' : 'them',
    action: word(action),
    leg,
    before: at(before),
    why: foreign(timedText(why)),
  }));
}

export function drivenView(driven: Driven | null): z.infer<typeof drivenOut> {
  if (driven === null) return null;
  const { doubts: _, ...rest } = driven;
  return { ...rest, at: isoTime(driven.at) };
}

export async function swapMade(desk: Desk, swap: Swap): Promise<z.infer<typeof swapMadeOut>> {
  const { id, status, legs } = swap;
  const names = await desk.names();
  const inLeg = ({ amount, assetId }: Swap['legs']['a']) => amountOf(amount, names.of(assetId));
  const [gives, gets] =
    swap.makerId === desk.userId ? ([legs.a, legs.b] as const) : ([legs.b, legs.a] as const);
  return {
    swapId: idIn(id),
    status: word(status),
    gives: inLeg(gives),
    gets: inLeg(gets),
    next: stepsView(swap),
    driven: drivenView(desk.held?.driver.of(id) ?? null),
  };
}

export async function swapView(desk: Desk, swap: Swap): Promise<z.infer<typeof swapOut>> {
  const names = await desk.names();
  const { role, deadlines } = swap;
  const own = swap.makerId === desk.userId ? 'maker' : 'taker';
  const { initiatorFundBy, counterpartyFundBy, revealBy } = deadlines;
  const legs = (['a', 'b'] as const).map((name) => {
    const leg = swap.legs[name];
    return {
      leg: name,
      chain: word(leg.chain),
      amount: amountOf(leg.amount, names.of(leg.assetId)),
      fundedBy: leg.funder === own ? ('you' as const) : ('them' as const),
      status: word(leg.status),
      escrow: orNull(placeIn, leg.escrow),
      refundFrom: isoTime(leg.timelock),
      confirmations: leg.confirmations,
      requiredConfirmations: leg.requiredConfirmations,
      fundTx: orNull(placeIn, leg.fundTx),
      claimTx: orNull(placeIn, leg.claimTx),
      refundTx: orNull(placeIn, leg.refundTx),
    };
  });
  const record = await desk.held?.own.store.getSwap(swap.id);
  const driven = desk.held?.driver.of(swap.id) ?? null;
  return {
    swapId: idIn(swap.id),
    threadId: idIn(swap.threadId),
    status: word(swap.status),
    role,
    legs,
    deadlines: {
      initiatorFundBy: isoTime(initiatorFundBy),
      counterpartyFundBy: isoTime(counterpartyFundBy),
      revealBy: isoTime(revealBy),
    },
    next: stepsView(swap),
    driven: drivenView(driven),
    doubts: [...(driven?.doubts ?? [])],
    verified: record != null,
  };
}
