// Which would-be quotes count as won, by what a market shows to everyone. An RFQ that was agreed
// elsewhere while the own quote stood is won if its taker would have lost nothing by the own price.
// Anything less certain is not counted. Pure.

import type { Millis } from '@parley/core/nominal.ts';
import type { Direction } from '@parley/core/trade.ts';
import type { Agreement, Rfq } from '@parley/sdk/types.ts';

/** The market shows the minute of an agreement. */
const minuteMs = 60_000;
/** The clocks of both, and the way of a frame. */
const apartMs = 5_000;

/** An RFQ that left the book as agreed while a quote of one's own stood. */
export type Left = {
  readonly rfq: Pick<Rfq, 'id' | 'direction' | 'baseAssetId' | 'quoteAssetId' | 'baseAmount'>;
  /** The price of one's own quote, base units of the RFQ's quote. */
  readonly ours: bigint;
  readonly leftAtMs: Millis;
};

/** Whether an agreement may be the one of this RFQ. Assets are the same already. */
export function mayBeOf({ rfq, leftAtMs }: Left, agreement: Agreement): boolean {
  if (agreement.direction !== rfq.direction || agreement.baseAmount !== rfq.baseAmount)
    return false;
  const from = Date.parse(agreement.agreedAt);
  return leftAtMs >= from - apartMs && leftAtMs < from + minuteMs + apartMs;
}

/** Whether a taker gets at least as much, or pays at most as much, by `ours` as by `theirs`. */
export function isAsGood(direction: Direction, ours: bigint, theirs: bigint): boolean {
  return direction === 'sell_base' ? ours >= theirs : ours <= theirs;
}

/**
 * If several may be the one, it is the best for the taker, so that a doubt counts against one's own
 * quote. null: no agreement is shown yet.
 */
export function decidedBy<Shown extends { readonly agreement: Agreement }>(
  left: Left,
  shown: readonly Shown[],
): Shown | null {
  const fits = shown.filter(({ agreement }) => mayBeOf(left, agreement));
  const { direction } = left.rfq;
  return fits.reduce<Shown | null>((best, each) => {
    const isBetter =
      best === null ||
      isAsGood(direction, BigInt(each.agreement.quoteAmount), BigInt(best.agreement.quoteAmount));
    return isBetter ? each : best;
  }, null);
}
