// A price for the whole amount of an order, by either party of it.

import { messageOf } from '@parley/sdk/errors.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { text } from '../texts/texts.ts';
import { AmountField } from './amount-field.tsx';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import { typedAmount } from './typed-amount.ts';

type PriceFormProps = {
  readonly title: string;
  /** The label of the field: what this side gets or gives. */
  readonly label: string;
  readonly hint: string;
  /** On the button. */
  readonly go: string;
  readonly quote: Asset;
  /** Base units of the price that stands, which is none to name again. */
  readonly stands?: string;
  readonly send: (units: bigint) => Promise<unknown>;
  readonly children?: ReactNode;
};

export function PriceForm(props: PriceFormProps) {
  const { title, label, hint, go, quote, stands, send, children } = props;
  const [typed, setTyped] = useState('');
  const sending = useMutation({ mutationFn: send, onSuccess: () => setTyped('') });
  const { units, fault } = typedAmount(typed, quote);
  const wrong =
    units === 0n
      ? text('price.zero')
      : units?.toString() === stands && units !== null
        ? text('price.same')
        : null;
  const blocked = fault ?? wrong ?? (units === null ? text('amount.empty') : null);
  return (
    <form
      className="panel"
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        if (units !== null && blocked === null && !sending.isPending) sending.mutate(units);
      }}
    >
      <h2>{title}</h2>
      {children}
      <AmountField
        label={label}
        symbol={quote.symbol}
        decimals={quote.decimals}
        value={typed}
        onChange={setTyped}
        hint={hint}
        error={wrong}
      />
      {sending.error !== null && (
        <Notice kind="bad" title={text('price.failed')}>
          {messageOf(sending.error)}
        </Notice>
      )}
      <Button type="submit" busy={sending.isPending} blocked={blocked}>
        {go}
      </Button>
    </form>
  );
}
