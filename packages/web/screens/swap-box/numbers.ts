// Numbers of the box as a person takes them in at once: six digits, rounded against the reader. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { isMoney, readably } from '../../market/pairs.ts';
import type { Price } from '../../market/prices.ts';
import { formatAmount } from '../../texts/people.ts';

export type Way = 'down' | 'up';

/** Whole coins are never cut. */
export function rounded(units: BaseUnits, decimals: number, way: Way, digits = 6): BaseUnits {
  const cut = Math.min(units.toString().length - digits, decimals);
  if (cut <= 0) return units;
  const scale = 10n ** BigInt(cut);
  const down = (units / scale) * scale;
  return way === 'down' || down === units ? down : down + scale;
}

/** Enough that any coin has a price in any other. */
const places = 60;

/** `65 120.5`: so many of `of` for one of `per`, of the amounts of a price. */
export function unitPrice(
  { of, per }: { readonly of: Quantity; readonly per: Quantity },
  way: Way,
  locale?: string,
): string {
  const over = of.units * 10n ** BigInt(per.decimals + places);
  const under = per.units * 10n ** BigInt(of.decimals);
  const down = over / under;
  const exact = way === 'down' || down * under === over ? down : down + 1n;
  return formatAmount(rounded(exact, places, way), places, { locale });
}

type Quantity = { readonly units: BaseUnits; readonly decimals: number };

type Priced = {
  readonly base: Asset;
  readonly quote: Asset;
  /** Whether the person gets the quote asset. */
  readonly isGot: boolean;
};

/** `65 120 USDC` for one `BTC`, whichever of them the person gives. */
export function priceText({ base, quote, isGot }: Priced, price: Price, locale?: string) {
  const { base: per, quote: of } = readably({ base, quote });
  const unitsOf = (asset: Asset) => (asset === base ? price.baseAmount : price.quoteAmount);
  const got = isGot ? quote : base;
  const amounts = {
    of: { units: unitsOf(of), decimals: of.decimals },
    per: { units: unitsOf(per), decimals: per.decimals },
  };
  // Fewer for one that is given, more for one that is wanted.
  const number = unitPrice(amounts, of === got ? 'down' : 'up', locale);
  return { number, of: of.symbol, per: per.symbol };
}

/** `1 302.40`: an amount that is expected, not one to pay. Dollars have their cents. */
export function shortAmount(units: BaseUnits, asset: Asset, way: Way, locale?: string): string {
  const { decimals } = asset;
  const short = formatAmount(rounded(units, decimals, way), decimals, { locale });
  if (!isMoney(asset) || decimals < 2) return short;
  const mark = formatAmount(5n, 1, { locale }).slice(1, -1);
  const [whole, cents = ''] = short.split(mark);
  return `${whole}${mark}${cents.padEnd(2, '0')}`;
}
