// A maker's quote: named, for somebody else's order, and taken back.

import { ParleyApiError } from '@parley/sdk/errors.ts';
import type { Asset, Rfq, Thread } from '@parley/sdk/types.ts';
import { type ReactNode, useState } from 'react';
import { getsQuote, type Standing } from '../market/prices.ts';
import { market, queries } from '../market/site.ts';
import { text } from '../texts/texts.ts';
import { Do, Form } from './act.tsx';
import { AmountField, announce, Notice } from './controls.tsx';
import { Ready } from './ready-list.tsx';
import { assetAmountText, typedAmount } from './words.ts';

type PriceFormProps = {
  title: string;
  /** In a dialog, which is a panel with this title already. */
  inDialog?: boolean;
  /** The label of the field, such as "You would get". */
  label: string;
  hint: string;
  /** On the button. */
  go: string;
  quote: Asset;
  /** Base units of the price that stands, which is none to name again. */
  stands?: string;
  send: (units: bigint) => Promise<unknown>;
  children?: ReactNode;
};

export function PriceForm(props: PriceFormProps) {
  const { title, inDialog = false, label, hint, go, quote, stands, send, children } = props;
  const [typed, setTyped] = useState('');
  const { units } = typedAmount(typed, quote);
  const wrong =
    units === 0n ? text('price.zero') : `${units}` === stands ? text('price.same') : null;
  const sends = async () => {
    await send(units ?? 0n);
    setTyped('');
  };
  return (
    <Form
      className={inDialog ? 'way' : 'panel'}
      label={title}
      go={go}
      // The field says what is wrong with the amount.
      blocked={units === null || wrong !== null ? text('amount.empty') : null}
      send={sends}
    >
      {!inDialog && <h2>{title}</h2>}
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
    </Form>
  );
}

/** Before a quote the market says of a private order to nobody else whom it is for. */
function isForAnother(error: unknown): boolean {
  return error instanceof ParleyApiError && error.code === 'not_addressed';
}

type QuoteFormProps = {
  rfq: Rfq;
  assets: readonly Asset[];
  sent: (threadId: string) => unknown;
};

export function QuoteForm({ rfq, assets, sent }: QuoteFormProps) {
  const [isReady, setReady] = useState(false);
  const [isNotYours, setNotYours] = useState(false);
  const base = assets.find(({ id }) => id === rfq.baseAssetId);
  const quote = assets.find(({ id }) => id === rfq.quoteAssetId);
  const send = async (units: bigint) => {
    try {
      const { id } = await market.quote(rfq.id, units.toString());
      await sent(id);
    } catch (error) {
      setNotYours(isForAnother(error));
      throw error;
    }
  };
  const isGot = getsQuote(rfq, 'maker');
  if (base === undefined || quote === undefined) return null;
  if (isNotYours) {
    return (
      <Notice kind="info" title={text('order.quote.not_yours')}>
        {text('order.quote.not_yours.why')}
      </Notice>
    );
  }
  const known = assetAmountText(BigInt(rfq.baseAmount), base);
  const [give, get] = isGot ? [known, quote.symbol] : [quote.symbol, known];
  const [gives, gets] = isGot ? [base, quote] : [quote, base];
  return (
    <>
      <Ready give={gives} get={gets} onKnown={setReady} />
      {isReady && (
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
      )}
    </>
  );
}

type Props = { thread: Thread; standing: Standing; label?: string };

/** Draws nothing where no quote can be taken back, or the maker's own acceptance stands. */
export function WithdrawQuote({ thread, standing, label }: Props) {
  const take = async () => {
    queries.setQueryData(['thread', thread.id], await market.withdrawQuote(thread.id));
    void queries.invalidateQueries({ queryKey: ['quotes'] });
    announce(text('deal.withdraw.done'));
  };
  if (!isFree(standing)) return null;
  return (
    <Do kind="quiet" work={take} {...(label === undefined ? {} : { label })}>
      {text('deal.withdraw')}
    </Do>
  );
}

function isFree({ is }: Standing): boolean {
  return is !== 'waits_for_them' && is !== 'closed' && is !== 'agreed';
}
