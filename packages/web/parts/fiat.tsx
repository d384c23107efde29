// An amount in a currency, beside the amount itself, where the operator has a source of prices.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useFiat } from '../market/answers.ts';
import { now } from '../market/config.ts';
import { equivalentOf } from '../market/fiat.ts';
import { formatMoney, localTime, secondsOf } from '../texts/people.ts';
import { text } from '../texts/texts.ts';

type FiatProps = {
  units: BaseUnits;
  /** undefined: the market lists it no more, or has not answered. */
  asset: Asset | undefined;
};

/** `≈ $1,302.40`; draws nothing without a source, or for an asset that the app cannot vouch for. */
export function Fiat({ units, asset }: FiatProps) {
  const { data } = useFiat();
  // A look-alike is not worth what it looks like.
  if (asset?.verified !== true) return null;
  const found = equivalentOf(data, units, asset);
  if (found === null) return null;
  const { amount, currency, isLess, source, at } = found;
  const title = text('fiat.source', { source, when: localTime(secondsOf(at), now()) });
  return (
    <span className="fiat" title={title}>
      {text(isLess ? 'fiat.less' : 'fiat.about', { money: formatMoney(amount, currency) })}
    </span>
  );
}
