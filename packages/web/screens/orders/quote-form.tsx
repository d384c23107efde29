// A price for somebody else's order, by who has its link.

import { messageOf, ParleyApiError } from '@parley/sdk/errors.ts';
import type { Asset, Rfq } from '@parley/sdk/types.ts';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { market } from '../../market/client.ts';
import { getsQuote } from '../../market/prices.ts';
import { AmountField } from '../../parts/amount-field.tsx';
import { assetAmountText } from '../../parts/amount-text.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { typedAmount } from '../../parts/typed-amount.ts';
import { text } from '../../texts/texts.ts';

/** Before a quote the market says of a private order to nobody else whom it is for. */
function isForAnother(error: Error | null): boolean {
  return error instanceof ParleyApiError && error.code === 'not_addressed';
}

export function QuoteForm({ rfq, assets }: { rfq: Rfq; assets: readonly Asset[] }) {
  const [typed, setTyped] = useState('');
  const navigate = useNavigate();
  const base = assets.find(({ id }) => id === rfq.baseAssetId);
  const quote = assets.find(({ id }) => id === rfq.quoteAssetId);
  const quoting = useMutation({
    mutationFn: (units: bigint) => market.quote(rfq.id, units.toString()),
    onSuccess: ({ id }) => navigate({ to: '/deals/$id', params: { id } }),
  });
  if (quote === undefined) return null;
  if (isForAnother(quoting.error)) {
    return (
      <Notice kind="info" title={text('order.quote.not_yours')}>
        {text('order.quote.not_yours.why')}
      </Notice>
    );
  }
  const { units, fault } = typedAmount(typed, quote);
  const isGot = getsQuote(rfq, 'maker');
  const known = assetAmountText(BigInt(rfq.baseAmount), base);
  const [give, get] = isGot ? [known, quote.symbol] : [quote.symbol, known];
  const blocked = fault ?? (units === null ? text('amount.empty') : null);
  return (
    <form
      className="panel"
      aria-labelledby="quote-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (units !== null && units > 0n && !quoting.isPending) quoting.mutate(units);
      }}
    >
      <h2 id="quote-form">{text('order.quote.title')}</h2>
      <p>{text('order.quote.lead', { give, get })}</p>
      <AmountField
        label={text(isGot ? 'order.quote.get' : 'order.quote.give')}
        symbol={quote.symbol}
        decimals={quote.decimals}
        value={typed}
        onChange={setTyped}
        hint={text('order.quote.hint')}
        error={units === 0n ? text('order.quote.zero') : null}
      />
      {quoting.error !== null && (
        <Notice kind="bad" title={text('order.quote.failed')}>
          {messageOf(quoting.error)}
        </Notice>
      )}
      <Button
        kind="main"
        type="submit"
        busy={quoting.isPending}
        blocked={units === 0n ? text('order.quote.zero') : blocked}
      >
        {text('order.quote.action')}
      </Button>
    </form>
  );
}
