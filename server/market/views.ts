// What RFQs, threads and assets look like on the wire: amounts as strings, times as RFC 3339.

import type { Rules } from '../../core/rules.ts';
import type { Direction, Party } from '../../core/trade.ts';
import type { Asset } from '../db/assets.ts';
import type { Rfq, StoredStatus } from '../db/rfqs.ts';
import type { Message, Thread } from '../db/threads.ts';
import type { Deps } from '../ports/deps.ts';
import { type LegPreview, previewLegs } from '../settle/preview.ts';
import { acceptedInRole, acceptedUnder, standsUntil } from './negotiation.ts';
import { isLive, statusAt } from './rfq-life.ts';

export type AssetView = Omit<Asset, 'highValueFrom' | 'closed'>;

export function assetView(asset: Asset): AssetView {
  const { highValueFrom: _, closed: __, ...shown } = asset;
  return shown;
}

export type RfqView = {
  id: string;
  direction: Direction;
  baseAssetId: string;
  baseAmount: string;
  quoteAssetId: string;
  status: StoredStatus;
  visibility: 'public' | 'private';
  askAmount: string | null;
  creatorId: string;
  createdAt: string;
  expiresAt: string;
  targetAddress?: string;
};

export function rfqView(rfq: Rfq, nowMs: number, showsTarget: boolean): RfqView {
  const view: RfqView = {
    id: rfq.id,
    direction: rfq.direction,
    baseAssetId: rfq.base.id,
    baseAmount: rfq.baseAmount.toString(),
    quoteAssetId: rfq.quote.id,
    status: statusAt(rfq, nowMs),
    visibility: rfq.visibility,
    askAmount: rfq.askAmount?.toString() ?? null,
    creatorId: rfq.creatorId,
    createdAt: rfq.createdAt.toISOString(),
    expiresAt: rfq.expiresAt.toISOString(),
  };
  if (showsTarget && rfq.targetAddress !== null) view.targetAddress = rfq.targetAddress;
  return view;
}

export type LegPreviewView = Omit<LegPreview, 'amount' | 'leg'> & { amount: string };

export type ThreadView = {
  id: string;
  rfqId: string;
  makerId: string;
  takerId: string;
  status: Thread['status'];
  quoteAmount: string;
  proposedBy: Party;
  makerAccepted: boolean;
  takerAccepted: boolean;
  acceptanceExpiresAt: string | null;
  initiator: Party;
  legs: { a: LegPreviewView; b: LegPreviewView };
  rules: Rules | null;
  swapId: string | null;
  messages: readonly Message[];
  rfq: RfqView;
  createdAt: string;
  updatedAt: string;
};

/** An open thread of an RFQ that is gone is closed. */
function threadStatusAt(thread: Thread, nowMs: number): Thread['status'] {
  return thread.status === 'open' && !isLive(thread.rfq, nowMs) ? 'closed' : thread.status;
}

/** The thread as its two parties see it; both may know the addressed wallet. */
export function threadView(
  deps: Pick<Deps, 'settings' | 'adapters'>,
  thread: Thread,
  nowMs: number,
): ThreadView {
  const { rfq } = thread;
  const { direction, base, quote, baseAmount } = rfq;
  const { quoteAmount } = thread.price;
  const terms = { direction, base, quote, baseAmount, quoteAmount };
  const plan = previewLegs(deps, terms, thread.agreed);
  const price = acceptedUnder(thread.price, plan.rules);
  const status = threadStatusAt(thread, nowMs);
  const ttlMs = deps.settings.acceptTtlSeconds * 1_000;
  const until = (party: Party) =>
    status === 'open' && acceptedInRole(price, party === plan.initiator)
      ? standsUntil(price, party, nowMs, ttlMs)
      : null;
  const maker = until('maker');
  const taker = until('taker');
  const expires = maker ?? taker;
  return {
    id: thread.id,
    rfqId: rfq.id,
    makerId: thread.makerId,
    takerId: thread.takerId,
    status,
    quoteAmount: quoteAmount.toString(),
    proposedBy: price.proposedBy,
    makerAccepted: status === 'agreed' || maker !== null,
    takerAccepted: status === 'agreed' || taker !== null,
    acceptanceExpiresAt: expires === null ? null : new Date(expires).toISOString(),
    initiator: plan.initiator,
    legs: { a: legView(plan.legs.a), b: legView(plan.legs.b) },
    rules: plan.rules,
    swapId: thread.swapId,
    messages: thread.messages,
    rfq: rfqView(rfq, nowMs, true),
    createdAt: thread.createdAt.toISOString(),
    updatedAt: thread.updatedAt.toISOString(),
  };
}

function legView({ chain, assetId, amount, long, timelockSeconds }: LegPreview): LegPreviewView {
  return { chain, assetId, amount: amount.toString(), long, timelockSeconds };
}
