// An amount in whole coins. The field names a fault as it is typed.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { ComponentProps, ReactNode } from 'react';
import { Field } from './field.tsx';
import { typedAmount } from './typed-amount.ts';

type AmountFieldProps = {
  readonly label: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly value: string;
  /** `units`: null where nothing, or no amount, is typed. */
  readonly onChange: (typed: string, units: BaseUnits | null) => void;
  readonly hint?: ReactNode;
  /** The fault of an amount that could be read, for example more than there is. */
  readonly error?: string | null;
  readonly readOnly?: boolean;
};

export function AmountField(props: AmountFieldProps) {
  const { label, symbol, decimals, value, onChange, hint, error = null, readOnly } = props;
  const { fault } = typedAmount(value, { decimals, symbol });
  return (
    <Field label={`${label} (${symbol})`} hint={hint} error={fault ?? error}>
      {(tied) => (
        <AmountInput
          {...tied}
          readOnly={readOnly}
          value={value}
          onType={(typed) => onChange(typed, typedAmount(typed, { decimals, symbol }).units)}
        />
      )}
    </Field>
  );
}

type AmountInputProps = Omit<ComponentProps<'input'>, 'onChange'> & {
  readonly onType: (typed: string) => void;
};

/** Where an amount is typed, inside a `Field`. */
export function AmountInput({ onType, ...tied }: AmountInputProps) {
  return (
    <input
      {...tied}
      className="amount-input"
      inputMode="decimal"
      autoComplete="off"
      spellCheck={false}
      maxLength={100}
      onChange={({ target }) => onType(target.value)}
    />
  );
}
