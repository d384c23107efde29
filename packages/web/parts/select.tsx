// One of a few choices. The browser's own: phones show it as a wheel, keys work as everywhere.

import { Field, type FieldProps } from './field.tsx';

type SelectProps<T extends string> = Omit<FieldProps, 'children'> & {
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly options: readonly { readonly value: T; readonly label: string }[];
};

export function Select<T extends string>(props: SelectProps<T>) {
  const { label, hint, error, value, onChange, options } = props;
  return (
    <Field label={label} hint={hint} error={error}>
      {(tied) => (
        <select
          {...tied}
          value={value}
          onChange={({ target }) => {
            const chosen = options.find((each) => each.value === target.value);
            if (chosen !== undefined) onChange(chosen.value);
          }}
        >
          {options.map((each) => (
            <option key={each.value} value={each.value}>
              {each.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
