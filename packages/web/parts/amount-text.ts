// An amount in a sentence: exact, with its unit, and no line break between them.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { formatAmount } from '../texts/people.ts';

type Unit = { readonly decimals: number; readonly symbol: string };

export function amountText(units: BaseUnits, decimals: number, symbol: string): string {
  return `${formatAmount(units, decimals)}\u00a0${symbol}`;
}

/** At most 8 decimals: for estimates, never for an amount to pay. */
export function estimateText(units: BaseUnits, { decimals, symbol }: Unit): string {
  return `${formatAmount(units, decimals, { most: 8 })}\u00a0${symbol}`;
}

/** In base units where the market lists the asset no more, or has not answered. */
export function assetAmountText(units: BaseUnits, asset: Asset | undefined): string {
  if (asset === undefined) return units.toString();
  return amountText(units, asset.decimals, asset.symbol);
}
