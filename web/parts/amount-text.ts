// An amount in a sentence: exact, with its unit, and no line break between them.

import type { BaseUnits } from '../../core/nominal.ts';
import type { Asset } from '../../sdk/types.ts';
import { formatAmount } from '../texts/people.ts';

/** In base units where the market lists the asset no more, or has not answered. */
export function amountText(units: BaseUnits, asset: Asset | undefined): string {
  if (asset === undefined) return units.toString();
  return `${formatAmount(units, asset.decimals)}\u00a0${asset.symbol}`;
}
