// A form of one thing that is typed: busy while that is looked at, and what is wrong said below it.

import { messageOf } from '@parley/sdk/errors.ts';
import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { TextArea, TextField } from './field.tsx';

type TypedFormProps = {
  readonly label: string;
  readonly hint: string;
  readonly maxLength: number;
  /** On the button. */
  readonly go: string;
  /** null: it is taken, and leaves this form. Else, or thrown, a sentence of what is wrong. */
  readonly take: (typed: string) => Promise<string | null>;
  /** The field has several lines. */
  readonly long?: boolean;
  /** Further buttons. */
  readonly children?: ReactNode;
};

export function TypedForm(props: TypedFormProps) {
  const { label, hint, maxLength, go, take, long = false, children } = props;
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    try {
      const wrong = await take(typed);
      setFault(wrong);
      if (wrong === null) setTyped('');
    } catch (error) {
      setFault(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  const Typed = long ? TextArea : TextField;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Typed
        label={label}
        hint={hint}
        error={fault}
        value={typed}
        onChange={(next) => {
          setTyped(next);
          setFault(null);
        }}
        mono
        autoComplete="off"
        maxLength={maxLength}
      />
      <div className="actions">
        <Button type="submit" kind="main" busy={isBusy}>
          {go}
        </Button>
        {children}
      </div>
    </form>
  );
}
