// The form of RFQs, threads and assets on the wire: amounts as strings, times as RFC 3339.

import type { Party } from '@parley/core/trade.ts';
import type { Standing } from '../db/agreements.ts';
import type { Asset } from '../db/assets.ts';
import type { Rfq } from '../db/rfqs.ts';
import type { Thread } from '../db/threads.ts';
import type { Deps } from '../ports/deps.ts';
import { type LegPreview, previewLegs } from '../settle/preview.ts';
import { acceptedInRole, acceptedUnder, isLive, standsUntil, statusAt } from './negotiation.ts';
import { standingView } from './standing.ts';

export function assetView(asset: Asset): Omit<Asset, 'highValueFrom' | 'closed'> {
  const { highValueFrom: _, closed: __, ...shown } = asset;
  return shown;
}

export type RfqView = ReturnType<typeof rfqView>;

export function rfqView(rfq: Rfq, nowMs: number, showsTarget: boolean) {
  const { id, direction, base, quote, visibility, creatorId, targetAddress } = rfq;
  return {
    id,
    direction,
    baseAssetId: base.id,
    baseAmount: rfq.baseAmount.toString(),
    quoteAssetId: quote.id,
    status: statusAt(rfq, nowMs),
    visibility,
    askAmount: rfq.askAmount?.toString() ?? null,
    minSettled: rfq.minSettled,
    creatorId,
    creatorStanding: standingOrNull(rfq.creatorStanding),
    createdAt: rfq.createdAt.toISOString(),
    expiresAt: rfq.expiresAt.toISOString(),
    ...(showsTarget && targetAddress !== null && { targetAddress }),
  };
}

const standingOrNull = (kept: Standing | null) => kept && standingView(kept);

export type ThreadView = ReturnType<typeof threadView>;

/** The thread as its two parties see it; both may know the addressed wallet. */
export function threadView(
  deps: Pick<Deps, 'settings' | 'adapters'>,
  thread: Thread,
  nowMs: number,
) {
  const { id, rfq, makerId, takerId, swapId, messages } = thread;
  const { quoteAmount } = thread.price;
  const plan = previewLegs(deps, { ...rfq, quoteAmount }, thread.agreed);
  const price = acceptedUnder(thread.price, plan.rules);
  // An open thread of an RFQ that is gone is closed.
  const status = thread.status === 'open' && !isLive(rfq, nowMs) ? 'closed' : thread.status;
  const ttlMs = deps.settings.acceptTtlSeconds * 1_000;
  const until = (party: Party) =>
    status === 'open' && acceptedInRole(price, party === plan.initiator)
      ? standsUntil(price, party, nowMs, ttlMs)
      : null;
  const maker = until('maker');
  const taker = until('taker');
  const expires = maker ?? taker;
  const { proposedBy } = price;
  const isPending = status === 'open' && (proposedBy === 'maker' ? taker : maker) === null;
  return {
    id,
    rfqId: rfq.id,
    makerId,
    makerStanding: standingOrNull(thread.makerStanding),
    takerId,
    status,
    quoteAmount: quoteAmount.toString(),
    proposedBy,
    // Second names, for clients of the original.
    currentQuoteAmount: quoteAmount.toString(),
    pendingAmount: isPending ? quoteAmount.toString() : null,
    pendingBy: isPending ? proposedBy : null,
    makerAccepted: status === 'agreed' || maker !== null,
    takerAccepted: status === 'agreed' || taker !== null,
    quoteExpiresAt: price.expiresAt === null ? null : new Date(price.expiresAt).toISOString(),
    withdrawnAt: thread.withdrawnAt?.toISOString() ?? null,
    acceptanceExpiresAt: expires === null ? null : new Date(expires).toISOString(),
    initiator: plan.initiator,
    legs: { a: legView(plan.legs.a), b: legView(plan.legs.b) },
    rules: plan.rules,
    swapId,
    messages,
    rfq: rfqView(rfq, nowMs, true),
    createdAt: thread.createdAt.toISOString(),
    updatedAt: thread.updatedAt.toISOString(),
  };
}

function legView({ leg: _, amount, ...shown }: LegPreview) {
  return { ...shown, amount: amount.toString() };
}
