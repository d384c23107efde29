// The controls of every screen: button, fields, dialog, notice, and what is copied or scanned. They are
// the browser's own: names, order of focus and keys come with them. CSS: style/parts.css.

import type { BaseUnits } from '@parley/core/nominal.ts';
import {
  type ComponentProps,
  type InputHTMLAttributes,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { encode } from 'uqr';
import { held } from '../live.ts';
import { useLive } from '../market/use-live.ts';
import { text } from '../texts/texts.ts';
import { typedAmount } from './words.ts';

type PanelProps = {
  title: string;
  className?: string;
  children?: ReactNode;
};

/** A part of a screen under its own heading. */
export function Panel({ title, className = '', children }: PanelProps) {
  const id = useId();
  return (
    <section className={`panel ${className}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

export type ButtonProps = {
  children: ReactNode;
  onPress?: (() => void) | undefined;
  kind?: 'plain' | 'main' | 'danger' | 'quiet' | undefined;
  type?: 'button' | 'submit';
  /** As wide as its place: the one action of a screen. */
  big?: boolean | undefined;
  /** The second press of a double click was meant for what stood here before. */
  single?: boolean | undefined;
  /** Something runs: the button stays where it is, and does nothing. */
  busy?: boolean;
  /** Why it can do nothing yet: a sentence, shown below. */
  blocked?: string | null;
  /** Where the words on it are not enough, such as many times in a list. */
  label?: string;
};

export function Button(props: ButtonProps) {
  const { children, onPress, kind = 'plain', type = 'button', busy = false, label } = props;
  const size = props.big === true ? ' big' : '';
  const blocked = props.blocked ?? null;
  const id = useId();
  const idle = !busy && blocked === null;
  // Not `disabled`: it would lose the focus, and nobody would hear why.
  const button = (
    <button
      type={type}
      className={`button ${kind}${size}`}
      aria-disabled={!idle}
      aria-busy={busy}
      aria-label={label}
      aria-describedby={blocked === null ? undefined : id}
      onClick={(event) => {
        const isSecond = props.single === true && event.detail > 1;
        if (idle && !isSecond) onPress?.();
        else event.preventDefault();
      }}
    >
      {children}
    </button>
  );
  if (blocked === null) return button;
  return (
    <span className="blocked">
      {button}
      <span id={id} className="hint">
        {blocked}
      </span>
    </span>
  );
}

type NoticeProps = {
  kind: 'info' | 'good' | 'warn' | 'bad';
  title?: string;
  children?: ReactNode;
  /** A button or link for the next step. */
  action?: ReactNode;
};

/** `bad` and `warn` are said at once by a screen reader when they appear, the others in turn. */
export function Notice({ kind, title, children, action }: NoticeProps) {
  const isUrgent = kind === 'bad' || kind === 'warn';
  return (
    <div className={`notice ${kind}`} role={isUrgent ? 'alert' : 'status'}>
      <span className="unseen">{text(`notice.${kind}`)}</span>
      {title !== undefined && <p className="notice-title">{title}</p>}
      {children !== undefined && <div>{children}</div>}
      {action !== undefined && <div className="actions">{action}</div>}
    </div>
  );
}

/** The attributes that tie a control to its label and error. */
type Tied = {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
};

type FieldProps = {
  label: string;
  hint?: ReactNode;
  /** A sentence that says what is wrong and what would be right. */
  error?: string | null | undefined;
  children: (tied: Tied) => ReactNode;
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
  value: string;
  onChange: (text: string) => void;
  /** Addresses, keys and code: letters of one width, no corrections. */
  mono?: boolean;
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
    | 'onFocus'
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

type TextAreaProps = Omit<TextFieldProps, 'type' | 'inputMode' | 'onBlur' | 'onFocus'> & {
  rows?: number;
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

type SelectProps<T extends string> = Omit<FieldProps, 'children'> & {
  value: T;
  onChange: (value: T) => void;
  options: readonly { value: T; label: string }[];
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

type CheckBoxesProps<Name extends string> = {
  legend: string;
  all: readonly Name[];
  chosen: ReadonlySet<Name>;
  onChange: (chosen: ReadonlySet<Name>) => void;
  children: (name: Name) => ReactNode;
};

export function CheckBoxes<Name extends string>(props: CheckBoxesProps<Name>) {
  const { legend, all, chosen, onChange, children } = props;
  const toggle = (name: Name) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    onChange(next);
  };
  return (
    <fieldset className="checks">
      <legend>{legend}</legend>
      {all.map((each) => (
        <label key={each}>
          <input type="checkbox" checked={chosen.has(each)} onChange={() => toggle(each)} />
          <span>{children(each)}</span>
        </label>
      ))}
    </fieldset>
  );
}

type AmountFieldProps = {
  label: string;
  symbol: string;
  decimals: number;
  value: string;
  /** `units`: null where nothing, or no amount, is typed. */
  onChange: (typed: string, units: BaseUnits | null) => void;
  hint?: ReactNode;
  /** The fault of an amount that could be read, for example more than there is. */
  error?: string | null;
  readOnly?: boolean;
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
  onType: (typed: string) => void;
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

const said = held('');

export function announce(sentence: string): void {
  // The same sentence again is heard again: a space makes it another text.
  said.set(said.now() === sentence ? `${sentence}\u00a0` : sentence);
}

export const useAnnounced = () => useLive(said);

type CopyProps = {
  value: string;
  /** The name of the copied value: `address`, `amount`. Heard as `Copy the address`. */
  what: string;
};

export function Copy({ value, what }: CopyProps) {
  const [result, setResult] = useState<'done' | 'failed' | null>(null);
  const copy = async () => {
    const outcome = await navigator.clipboard.writeText(value).then(
      () => 'done' as const,
      () => 'failed' as const,
    );
    setResult(outcome);
    announce(text(`copy.${outcome}`, { what }));
    setTimeout(() => setResult(null), 3_000);
  };
  return (
    <Button kind="quiet" label={text('copy.label', { what })} onPress={() => void copy()}>
      {text(result === null ? 'copy.short' : `copy.${result}`, { what })}
    </Button>
  );
}

type DialogProps = {
  title: string;
  open: boolean;
  /** By Esc too: it must be the answer that does nothing. */
  onClose: () => void;
  children: ReactNode;
  /** On the button that closes it. */
  no: string;
  /** The button beside it. */
  yes?: ReactNode;
  /** It stays open until that is over. */
  busy?: boolean;
};

export function Dialog(props: DialogProps) {
  const { title, open, onClose, children, no, yes, busy = false } = props;
  const place = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (open) place.current?.showModal();
    else place.current?.close();
  }, [open]);
  return (
    <dialog
      ref={place}
      className="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!busy) onClose();
      }}
    >
      {open && (
        <>
          <h2 id={id}>{title}</h2>
          <div>{children}</div>
          <div className="actions">
            <Button busy={busy} onPress={onClose}>
              {no}
            </Button>
            {yes}
          </div>
        </>
      )}
    </dialog>
  );
}

const border = 4; // modules of quiet zone (ISO/IEC 18004)

/**
 * `label` names its content, for a person who cannot see it. The same value stands beside it as
 * text.
 */
export function Qr({ value, label }: { value: string; label: string }) {
  const { size, path } = useMemo(() => drawn(value), [value]);
  return (
    <svg className="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`}>
      <rect className="qr-light" width={size} height={size} />
      <path className="qr-dark" d={path} />
    </svg>
  );
}

function drawn(value: string): { size: number; path: string } {
  const { data, size } = encode(value, { ecc: 'M', border });
  const path = data.flatMap((row, y) =>
    row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return { size, path: path.join('') };
}

type ShareProps = {
  title: string;
  /** The effect of the link. */
  what: string;
  path: string;
};

export function Share({ title, what, path }: ShareProps) {
  const [isOpen, setOpen] = useState(false);
  const link = `${window.location.origin}${path}`;
  return (
    <>
      <Button onPress={() => setOpen(true)}>{text('share')}</Button>
      <Dialog title={title} open={isOpen} onClose={() => setOpen(false)} no={text('share.done')}>
        <p>{what}</p>
        <Qr value={link} label={text('share.qr')} />
        <p className="share-link">
          <span className="mono">{link}</span> <Copy value={link} what={text('share.link')} />
        </p>
      </Dialog>
    </>
  );
}
