// Prices as one side sees them. Base units. Every division rounds against the reader: a person gets
// no less than is displayed, and pays no more.

import type { BaseUnits } from '@parley/core/nominal.ts';
import { type Direction, exchange, type Party } from '@parley/core/trade.ts';
import type { Level } from '@parley/sdk/types.ts';

export type Side = { readonly assetId: string; readonly amount: BaseUnits };

type Asked = {
  readonly direction: Direction;
  readonly baseAssetId: string;
  readonly baseAmount: string;
  readonly quoteAssetId: string;
};

/** The amounts that a party gives and gets at a price of `quoteAmount`. */
export function sidesOf(
  rfq: Asked,
  quoteAmount: BaseUnits,
  party: Party,
): { readonly gives: Side; readonly gets: Side } {
  const { a, b } = exchange({ ...rfq, baseAmount: BigInt(rfq.baseAmount), quoteAmount });
  return party === 'taker' ? { gives: b, gets: a } : { gives: a, gets: b };
}

/** Whether the party is paid in the asset of the price: more is better for it then. */
export function getsQuote({ direction }: Pick<Asked, 'direction'>, party: Party): boolean {
  return (direction === 'sell_base') === (party === 'taker');
}

/** So much of the quote asset for so much of the base asset, each more than nothing. */
export type Price = { readonly baseAmount: BaseUnits; readonly quoteAmount: BaseUnits };

/**
 * `levels`: the best first. The first level of a maker that has settled swaps, else the best; null:
 * no level.
 */
export function indicated(levels: readonly Level[]): Level | null {
  return levels.find((each) => settledBy(each) > 0) ?? levels[0] ?? null;
}

export const settledBy = ({ makerStanding }: Level): number => makerStanding?.settled ?? 0;

/** The price in an answer of the market; null where that is no price. */
export function priceIn(told: {
  readonly baseAmount: string;
  readonly quoteAmount: string;
}): Price | null {
  const price = { baseAmount: BigInt(told.baseAmount), quoteAmount: BigInt(told.quoteAmount) };
  return price.baseAmount > 0n && price.quoteAmount > 0n ? price : null;
}

/**
 * The worth of `baseAmount`: rounded down for a party that gets the quote asset, up for one that
 * gives it.
 */
export function quoteAt(price: Price, baseAmount: BaseUnits, isGot: boolean): BaseUnits {
  const product = baseAmount * price.quoteAmount;
  const down = product / price.baseAmount;
  return isGot || down * price.baseAmount === product ? down : down + 1n;
}

/**
 * How much better `quoteAmount` is than `expected`, in basis points of that; negative is worse.
 * Rounded down, so that a price never looks better than it is. null where nothing is expected.
 */
export function advantageBps(
  quoteAmount: BaseUnits,
  expected: BaseUnits,
  isGot: boolean,
): number | null {
  if (expected <= 0n) return null;
  const better = (isGot ? quoteAmount - expected : expected - quoteAmount) * 10_000n;
  const down = better / expected;
  const bps = better < 0n && down * expected !== better ? down - 1n : down;
  // Beyond that a number says no more: a hundredfold.
  const most = 1_000_000n;
  return Number(bps > most ? most : bps < -most ? -most : bps);
}

/** From here on a price is confirmed twice: 3 % is more than majors move in most hours. */
export const farBps = 300;

export function isFar(bps: number | null): boolean {
  return bps !== null && Math.abs(bps) >= farBps;
}
