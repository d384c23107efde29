// The median of several sources: one that is far from the others is left out, and with too few left
// there is no price. Pure.

import { distanceBps, isBelow, type Price } from '../rules/price.ts';

export type Judged = {
  readonly price: Price | null;
  /** By source: how far it was from the median of all, basis points. */
  readonly leftOut: ReadonlyMap<string, bigint>;
  readonly counted: number;
};

export function judge(
  readings: ReadonlyMap<string, Price>,
  { outlierBps, quorum }: { readonly outlierBps: bigint; readonly quorum: number },
): Judged {
  const leftOut = new Map<string, bigint>();
  const middle = medianOf([...readings.values()]);
  if (middle === null) return { price: null, leftOut, counted: 0 };
  const near: Price[] = [];
  for (const [name, price] of readings) {
    const bps = distanceBps(price, middle);
    if (bps > outlierBps) leftOut.set(name, bps);
    else near.push(price);
  }
  const price = near.length < quorum ? null : medianOf(near);
  return { price, leftOut, counted: near.length };
}

/** The mean of the two in the middle of an even number; null of no price. */
export function medianOf(prices: readonly Price[]): Price | null {
  const sorted = [...prices].sort((a, b) => (isBelow(a, b) ? -1 : isBelow(b, a) ? 1 : 0));
  const low = sorted[(sorted.length - 1) >> 1];
  const high = sorted[sorted.length >> 1];
  if (low === undefined || high === undefined) return null;
  if (low === high) return low;
  const over = low.over * high.under + high.over * low.under;
  return { over, under: 2n * low.under * high.under };
}
