// Another price for the same amount.

import { messageOf } from '@parley/sdk/errors.ts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { market } from '../../market/client.ts';
import { now } from '../../market/clock.ts';
import type { Standing } from '../../market/offers.ts';
import { getsQuote } from '../../market/prices.ts';
import { queries } from '../../market/queries.ts';
import { AmountField } from '../../parts/amount-field.tsx';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { typedAmount } from '../../parts/typed-amount.ts';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import type { DealProps } from './terms.ts';

export function Counter({ thread, party, quote, standing }: DealProps & { standing: Standing }) {
  const [typed, setTyped] = useState('');
  const naming = useMutation({
    mutationFn: (units: bigint) => market.propose(thread.id, units.toString()),
    onSuccess: (moved) => {
      queries.setQueryData(['thread', thread.id], moved);
      setTyped('');
    },
  });
  if (standing.is === 'waits_for_them') {
    const until = localTime(Math.floor(standing.untilMs / 1_000), now());
    return <p className="hint">{text('deal.counter.bound', { until })}</p>;
  }
  const { units, fault } = typedAmount(typed, quote);
  const wrong =
    units === 0n
      ? text('deal.counter.zero')
      : units?.toString() === thread.quoteAmount
        ? text('deal.counter.same')
        : null;
  const blocked = fault ?? wrong ?? (units === null ? text('amount.empty') : null);
  return (
    <form
      className="panel"
      aria-labelledby="counter"
      onSubmit={(event) => {
        event.preventDefault();
        if (units !== null && blocked === null && !naming.isPending) naming.mutate(units);
      }}
    >
      <h2 id="counter">{text('deal.counter')}</h2>
      <AmountField
        label={text(getsQuote(thread.rfq, party) ? 'deal.counter.get' : 'deal.counter.give')}
        symbol={quote.symbol}
        decimals={quote.decimals}
        value={typed}
        onChange={setTyped}
        hint={text('deal.counter.hint')}
        error={wrong}
      />
      {naming.error !== null && (
        <Notice kind="bad" title={text('deal.counter.failed')}>
          {messageOf(naming.error)}
        </Notice>
      )}
      <Button type="submit" busy={naming.isPending} blocked={blocked}>
        {text('deal.counter.action')}
      </Button>
    </form>
  );
}
