// One thing that is typed: its label, a hint, what is wrong with it.

import { type InputHTMLAttributes, type ReactNode, useId } from 'react';

/** The attributes that tie a control to its label and error. */
type Tied = {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
};

export type FieldProps = {
  readonly label: string;
  readonly hint?: ReactNode;
  /** A sentence that says what is wrong and what would be right. */
  readonly error?: string | null | undefined;
  readonly children: (tied: Tied) => ReactNode;
};

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const isWrong = error !== undefined && error !== null;
  const parts = [hint === undefined ? '' : `${id}-hint`, isWrong ? `${id}-error` : ''];
  const described = parts.filter((part) => part !== '').join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': isWrong,
      })}
      {hint !== undefined && (
        <div id={`${id}-hint`} className="hint">
          {hint}
        </div>
      )}
      {isWrong && (
        <div id={`${id}-error`} className="error" role="alert">
          {error}
        </div>
      )}
    </div>
  );
}

type TextFieldProps = Omit<FieldProps, 'children'> & {
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** Addresses, keys and code: letters of one width, no corrections. */
  readonly mono?: boolean;
} & Pick<
    InputHTMLAttributes<HTMLInputElement>,
    | 'type'
    | 'inputMode'
    | 'autoComplete'
    | 'name'
    | 'required'
    | 'maxLength'
    | 'placeholder'
    | 'readOnly'
    | 'onBlur'
  >;

export function TextField(props: TextFieldProps) {
  const { label, hint, error, value, onChange, mono = false, ...input } = props;
  return (
    <Field label={label} hint={hint} error={error}>
      {(tied) => (
        <input
          type="text"
          {...input}
          {...tied}
          className={mono ? 'mono' : undefined}
          spellCheck={mono ? false : undefined}
          autoCapitalize={mono ? 'none' : undefined}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

type TextAreaProps = Omit<TextFieldProps, 'type' | 'inputMode' | 'onBlur'> & {
  readonly rows?: number;
};

export function TextArea(props: TextAreaProps) {
  const { label, hint, error, value, onChange, mono = false, rows = 3, ...area } = props;
  return (
    <Field label={label} hint={hint} error={error}>
      {(tied) => (
        <textarea
          {...area}
          {...tied}
          rows={rows}
          className={mono ? 'mono' : undefined}
          spellCheck={mono ? false : undefined}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
