// The price of one quote before it is sent: where it begins, how it is stepped, and what it would
// bring against recent swaps. Base units of the order's quote asset. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import { advantageBps, type Price, quoteAt } from '../../market/prices.ts';

const wholeBps = 10_000n;

/** The own level at the order's size, rounded in the maker's favour. */
export function fromLevel(level: Price, baseAmount: BaseUnits, isGot: boolean): BaseUnits {
  return quoteAt(level, baseAmount, !isGot);
}

/** So many basis points of `from` more or less: one unit at least, and never nothing. */
export function stepped(from: BaseUnits, bps: number): BaseUnits {
  const part = (from * BigInt(Math.abs(bps))) / wholeBps;
  const step = part > 0n ? part : 1n;
  const next = bps < 0 ? from - step : from + step;
  return next > 0n ? next : 1n;
}

export type Against = {
  /** Basis points of recent swaps' worth; negative is worse for the maker. */
  readonly bps: number | null;
  /** Before network fees. */
  readonly profit: BaseUnits;
};

/** The worth of the base asset rounds up where the maker gives it: the profit never looks larger. */
export function againstMedian(
  quoteAmount: BaseUnits,
  baseAmount: BaseUnits,
  median: Price,
  isGot: boolean,
): Against {
  const worth = quoteAt(median, baseAmount, !isGot);
  return {
    bps: advantageBps(quoteAmount, worth, isGot),
    profit: isGot ? quoteAmount - worth : worth - quoteAmount,
  };
}

/** Bid and ask for all of `size`, so many basis points off recent swaps: rounded away from them. */
export function around(
  median: Price,
  size: BaseUnits,
  bps: number,
): { readonly pays: BaseUnits; readonly takes: BaseUnits } {
  const at = (parts: bigint): Price => ({
    baseAmount: median.baseAmount * wholeBps,
    quoteAmount: median.quoteAmount * parts,
  });
  return {
    pays: quoteAt(at(wholeBps - BigInt(bps)), size, true),
    takes: quoteAt(at(wholeBps + BigInt(bps)), size, false),
  };
}
