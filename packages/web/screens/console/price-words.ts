// A price with its unit, the way round in which it is one or more: 0.00000324 is hard to read.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Quantity } from '@parley/sdk/people.ts';
import type { Asset } from '@parley/sdk/types.ts';
import type { Price } from '../../market/prices.ts';
import { formatPrice } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';

type Coin = Pick<Asset, 'symbol' | 'decimals'>;

/** Significant digits. */
const most = 6;

export function priceWords(price: Price, base: Coin, quote: Coin): string {
  const of: Quantity = { units: price.quoteAmount, decimals: quote.decimals };
  const per: Quantity = { units: price.baseAmount, decimals: base.decimals };
  return isLess(of, per)
    ? text('console.price', {
        price: formatPrice(per, of, { most }),
        of: base.symbol,
        per: quote.symbol,
      })
    : text('console.price', {
        price: formatPrice(of, per, { most }),
        of: quote.symbol,
        per: base.symbol,
      });
}

const scaled = ({ units }: Quantity, decimals: number): BaseUnits =>
  units * 10n ** BigInt(decimals);

function isLess(one: Quantity, other: Quantity): boolean {
  return scaled(one, other.decimals) < scaled(other, one.decimals);
}
