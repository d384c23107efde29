// A maker's quote: named, for somebody else's order, and taken back.

import { messageOf, ParleyApiError } from '@parley/sdk/errors.ts';
import type { Asset, Rfq, Thread } from '@parley/sdk/types.ts';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { getsQuote, type Standing } from '../market/prices.ts';
import { market, queries } from '../market/site.ts';
import { text } from '../texts/texts.ts';
import { AmountField, announce, Button, Notice } from './controls.tsx';
import { useGiving, WalletFirst } from './giving.tsx';
import { assetAmountText, typedAmount } from './words.ts';

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

type Props = { readonly thread: Thread; readonly standing: Standing; readonly label?: string };

/** Draws nothing where no quote can be taken back, or the maker's own acceptance stands. */
export function WithdrawQuote({ thread, standing, label }: Props) {
  const taking = useMutation({
    mutationFn: () => market.withdrawQuote(thread.id),
    onSuccess: (withdrawn) => {
      queries.setQueryData(['thread', thread.id], withdrawn);
      void queries.invalidateQueries({ queryKey: ['quotes'] });
      announce(text('deal.withdraw.done'));
    },
  });
  if (!isFree(standing)) return null;
  return (
    <>
      <Button
        kind="quiet"
        busy={taking.isPending}
        onPress={() => taking.mutate()}
        {...(label === undefined ? {} : { label })}
      >
        {text('deal.withdraw')}
      </Button>
      {taking.error !== null && (
        <Notice kind="bad" title={text('deal.withdraw.failed')}>
          {messageOf(taking.error)}
        </Notice>
      )}
    </>
  );
}

function isFree({ is }: Standing): boolean {
  return is !== 'waits_for_them' && is !== 'closed' && is !== 'agreed';
}
