// Equivalents in a currency, by a source that the market's operator names: a hint, and a word of the
// market like any other. The app decides nothing by one.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset, Fiat } from '@parley/sdk/types.ts';

export type Equivalent = {
  readonly currency: string;
  /** Decimal, rounded down to the currency's digits. */
  readonly amount: `${number}`;
  /** There is some, and less than the currency's digits show. */
  readonly isLess: boolean;
  readonly source: string;
  /** RFC 3339. */
  readonly at: string;
};

/** null: the source is none, or does not know the asset. */
export function equivalentOf(
  told: Fiat | undefined,
  units: BaseUnits,
  { id, decimals }: Pick<Asset, 'id' | 'decimals'>,
): Equivalent | null {
  const { currency = null, source = null, at = null, prices = [] } = told ?? {};
  const price = prices.find(({ assetId }) => assetId === id)?.price ?? '';
  const [, whole, part = ''] = /^(\d{1,15})(?:\.(\d{1,18}))?$/.exec(price) ?? [];
  // Another text is no currency, and Intl would throw.
  if (whole === undefined || source === null || at === null) return null;
  if (currency === null || !/^[A-Z]{3}$/.test(currency)) return null;
  const digits = digitsOf(currency);
  const scale = 10n ** BigInt(decimals + part.length);
  const minor = (units * BigInt(whole + part) * 10n ** BigInt(digits)) / scale;
  const isLess = minor === 0n && units > 0n;
  const text = (isLess ? 1n : minor).toString().padStart(digits + 1, '0');
  const cut = text.length - digits;
  const amount = digits === 0 ? text : `${text.slice(0, cut)}.${text.slice(cut)}`;
  return { currency, amount: amount as `${number}`, isLess, source, at };
}

function digitsOf(currency: string): number {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  return maximumFractionDigits ?? 2;
}
