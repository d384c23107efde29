// An amount in whole coins. What is wrong is said as it is typed.

import type { ReactNode } from 'react';
import type { BaseUnits } from '../../core/nominal.ts';
import { Field } from './field.tsx';
import { typedAmount } from './typed-amount.ts';

export type AmountFieldProps = {
  readonly label: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly value: string;
  /** `units`: null where nothing, or no amount, is typed. */
  readonly onChange: (typed: string, units: BaseUnits | null) => void;
  readonly hint?: ReactNode;
  /** What is wrong with an amount that could be read, such as more than there is. */
  readonly error?: string | null;
  readonly readOnly?: boolean;
};

export function AmountField(props: AmountFieldProps) {
  const { label, symbol, decimals, value, onChange, hint, error = null, readOnly } = props;
  const { fault } = typedAmount(value, decimals);
  return (
    <Field label={`${label} (${symbol})`} hint={hint} error={fault ?? error}>
      {(tied) => (
        <input
          {...tied}
          className="amount-input"
          inputMode="decimal"
          autoComplete="off"
          spellCheck={false}
          readOnly={readOnly}
          value={value}
          onChange={({ target }) =>
            onChange(target.value, typedAmount(target.value, decimals).units)
          }
        />
      )}
    </Field>
  );
}
