// An amount in its unit. Where digits are cut, the exact ones are there on hover and when copied.

import type { BaseUnits } from '@parley/core/nominal.ts';
import { formatAmount } from '../texts/people.ts';

type AmountProps = {
  readonly units: BaseUnits;
  readonly decimals: number;
  readonly symbol: string;
  /** Most decimals shown; default all. */
  readonly most?: number;
};

export function Amount({ units, decimals, symbol, most = decimals }: AmountProps) {
  const exact = formatAmount(units, decimals);
  const shown = formatAmount(units, decimals, { most });
  if (shown === exact) return <span className="amount">{`${exact}\u00a0${symbol}`}</span>;
  return (
    <span
      className="amount"
      title={`${exact} ${symbol}`}
      onCopy={(event) => {
        event.clipboardData.setData('text/plain', `${exact} ${symbol}`);
        event.preventDefault();
      }}
    >
      {`${shown}\u00a0${symbol}`}
    </span>
  );
}
