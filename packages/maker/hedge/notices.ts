// A hedge's notices of a deal, derived from the deal as the journal has it on disk: so a crash
// loses no notice, and each is the same whenever it is told. Pure.

import { formatUnits } from '@parley/core/amounts.ts';
import { isoTime } from '@parley/sdk/people.ts';
import type { Deal, End } from '../journal.ts';
import type { AssetRule } from '../rules/decide.ts';

/** `nothing`: the swap ended, and no coin moved. */
export type NoticeType = 'agreed' | 'settled' | 'refunded' | 'lost' | 'nothing';

export type NoticeSide = {
  /** As the settings name it. */
  readonly asset: string;
  /** null, as `token` and `coins`: the settings do not name the asset any more. */
  readonly chain: string | null;
  /** null: the chain's own coin. */
  readonly token: string | null;
  /** Base units. */
  readonly amount: string;
  /** Whole coins. */
  readonly coins: string | null;
};

/** The body, as JSON. */
export type Notice = {
  /** The same at each try, and of no other notice: the swap's id and `agreed` or `ended`. */
  readonly id: string;
  readonly type: NoticeType;
  /** When it was agreed, or ended. */
  readonly at: string;
  readonly swapId: string;
  readonly threadId: string;
  readonly rfqId: string;
  readonly takerId: string;
  /** By the names of the settings. */
  readonly pair: string;
  readonly gives: NoticeSide;
  readonly gets: NoticeSide;
};

const typeOf: Readonly<Record<End, NoticeType>> = {
  received: 'settled',
  refunded: 'refunded',
  lost: 'lost',
  nothing: 'nothing',
  refused: 'nothing',
  lapsed: 'nothing',
};

type Assets = ReadonlyMap<string, Pick<AssetRule, 'chain' | 'token' | 'decimals'>>;

/** In the order in which they are told. A deal that was agreed without a hedge has none. */
export function noticesOf(deal: Deal, assets: Assets): readonly Notice[] {
  const { swapId, end, acceptedAt, endedAt, hedged = false } = deal;
  if (!hedged || swapId === null) return [];
  const notice = (type: NoticeType, at: number): Notice => ({
    id: `${swapId}:${type === 'agreed' ? 'agreed' : 'ended'}`,
    type,
    at: isoTime(at),
    swapId,
    threadId: deal.threadId,
    rfqId: deal.rfqId,
    takerId: deal.takerId,
    pair: deal.pair,
    gives: sideOf(deal, deal.gives, assets),
    gets: sideOf(deal, deal.gives === 'base' ? 'quote' : 'base', assets),
  });
  const agreed = notice('agreed', acceptedAt);
  return end === null ? [agreed] : [agreed, notice(typeOf[end], endedAt ?? acceptedAt)];
}

function sideOf(deal: Deal, side: 'base' | 'quote', assets: Assets): NoticeSide {
  const [base = '', quote = ''] = deal.pair.split('/');
  const name = side === 'base' ? base : quote;
  const amount = deal[side];
  const asset = assets.get(name);
  return {
    asset: name,
    chain: asset?.chain ?? null,
    token: asset?.token ?? null,
    amount: amount.toString(),
    coins: asset === undefined ? null : formatUnits(amount, asset.decimals),
  };
}
