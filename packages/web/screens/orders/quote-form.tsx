// A price for somebody else's order, by who has its link.

import { ParleyApiError } from '@parley/sdk/errors.ts';
import type { Asset, Rfq } from '@parley/sdk/types.ts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { market } from '../../market/client.ts';
import { getsQuote } from '../../market/prices.ts';
import { assetAmountText } from '../../parts/amount-text.ts';
import { useGiving, WalletFirst } from '../../parts/giving.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PriceForm } from '../../parts/price-form.tsx';
import { text } from '../../texts/texts.ts';

/** Before a quote the market says of a private order to nobody else whom it is for. */
function isForAnother(error: unknown): boolean {
  return error instanceof ParleyApiError && error.code === 'not_addressed';
}

export function QuoteForm({ rfq, assets }: { rfq: Rfq; assets: readonly Asset[] }) {
  const [isNotYours, setNotYours] = useState(false);
  const navigate = useNavigate();
  const base = assets.find(({ id }) => id === rfq.baseAssetId);
  const quote = assets.find(({ id }) => id === rfq.quoteAssetId);
  const send = async (units: bigint) => {
    try {
      const { id } = await market.quote(rfq.id, units.toString());
      await navigate({ to: '/deals/$id', params: { id } });
    } catch (error) {
      setNotYours(isForAnother(error));
      throw error;
    }
  };
  const isGot = getsQuote(rfq, 'maker');
  const given = isGot ? base : quote;
  const giving = useGiving(given, true);
  if (quote === undefined) return null;
  if (isNotYours) {
    return (
      <Notice kind="info" title={text('order.quote.not_yours')}>
        {text('order.quote.not_yours.why')}
      </Notice>
    );
  }
  const known = assetAmountText(BigInt(rfq.baseAmount), base);
  const [give, get] = isGot ? [known, quote.symbol] : [quote.symbol, known];
  return (
    <>
      <WalletFirst giving={giving} asset={given} back={`/orders/${rfq.id}`} />
      <PriceForm
        title={text('order.quote.title')}
        label={text(isGot ? 'order.quote.get' : 'order.quote.give')}
        hint={text('order.quote.hint')}
        go={text('order.quote.action')}
        quote={quote}
        send={send}
      >
        <p>{text('order.quote.lead', { give, get })}</p>
      </PriceForm>
    </>
  );
}
