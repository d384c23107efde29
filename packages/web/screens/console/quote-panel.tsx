// A quote while it is typed: the amounts given, got and locked, and its distance from recent
// trades. Sent by Enter; a price that is far off is confirmed first.

import { has } from '@parley/core/families.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { Asset, Pair, PairLeg, Thread } from '@parley/sdk/types.ts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { priceOf, usePrice } from '../../market/pairs.ts';
import type { Price, Side } from '../../market/prices.ts';
import { estimateText } from '../../parts/amount-text.ts';
import { announce } from '../../parts/announce.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { BitcoinKey, useGiving } from '../../parts/giving.tsx';
import { assetName, chainName } from '../../parts/names.ts';
import { Notice } from '../../parts/notice.tsx';
import { formatAmount, formatDuration, formatPercent } from '../../texts/people.ts';
import { type TextKey, text } from '../../texts/texts.ts';
import { countedMarket } from './budget.ts';
import { drafted, type Offer } from './offer.ts';
import { priceWords } from './price-words.ts';
import type { Row } from './rows.ts';

type QuotePanelProps = {
  readonly row: Row;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly quoted: Thread | undefined;
  readonly onSent: (thread: Thread) => void;
  readonly onBack: () => void;
};

export function QuotePanel(props: QuotePanelProps) {
  return (
    <>
      <Giving row={props.row} />
      <QuoteForm {...props} />
    </>
  );
}

function QuoteForm({ row, assets, quoted, onSent, onBack }: QuotePanelProps) {
  const { rfq, quote, isGone } = row;
  const [typed, setTyped] = useState('');
  const [asks, setAsks] = useState<Offer | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const recent = usePrice({ baseAssetId: rfq.baseAssetId, quoteAssetId: rfq.quoteAssetId }).data;
  const indicative = priceOf(recent);
  const count = recent?.agreements.length ?? 0;
  const pair = usePair(row);
  const { offer, fault } = drafted(typed, rfq, quote, indicative);
  const words = (side: Side) => sideWords(side, assets);
  const send = useMutation({
    mutationFn: (of: Offer) => countedMarket.quote(rfq.id, of.quoteAmount.toString()),
    onSuccess: (thread, of) => {
      announce(text('console.quote.sent', { gives: words(of.gives), gets: words(of.gets) }));
      onSent(thread);
    },
  });
  useEffect(() => input.current?.focus(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (offer === null || isGone || send.isPending) return;
    if (offer.isFar) setAsks(offer);
    else send.mutate(offer);
  };
  const hint = indicative === null ? 'console.quote.hint.bare' : 'console.quote.hint';
  return (
    <form
      className="quote-panel"
      onSubmit={submit}
      onKeyDown={({ key }) => key === 'Escape' && asks === null && onBack()}
    >
      {isGone && <Notice kind="warn">{text('console.quote.gone')}</Notice>}
      <Field
        label={`${text('console.quote.price')} (${assetName(quote)})`}
        hint={text(hint)}
        error={fault ?? (send.error && messageOf(send.error))}
      >
        {(tied) => (
          <input
            {...tied}
            ref={input}
            className="amount-input"
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={({ target }) => {
              send.reset();
              setTyped(target.value);
            }}
          />
        )}
      </Field>
      <Facts
        row={row}
        offer={offer}
        indicative={indicative}
        count={count}
        words={words}
        pair={pair}
        assets={assets}
      />
      <p className="hint">{text('console.quote.free')}</p>
      <div className="actions">
        {!isGone && (
          <Button type="submit" kind="main" busy={send.isPending}>
            {text(quoted === undefined ? 'console.quote.send' : 'console.quote.change')}
          </Button>
        )}
        <Button kind="quiet" onPress={onBack}>
          {text('console.quote.back')}
        </Button>
      </div>
      <Far
        offer={asks}
        words={words}
        onBack={() => setAsks(null)}
        onSend={(of) => {
          setAsks(null);
          send.mutate(of);
        }}
      />
    </form>
  );
}

/** Said before a price is typed: the market refuses a quote whose coin the maker cannot give. */
function Giving({ row: { rfq, base, quote } }: Pick<QuotePanelProps, 'row'>) {
  const given = rfq.direction === 'sell_base' ? quote : base;
  const { family, hasWallet } = useGiving(given, true);
  if (hasWallet !== false) return null;
  if (has(family, 'coins')) return <BitcoinKey back="/console" />;
  const chain = chainName(given.chain);
  return (
    <Notice
      kind="warn"
      title={text('swap_box.no_wallet', { chain })}
      action={<Link to="/wallets">{text('swap_box.no_wallet.action')}</Link>}
    />
  );
}

function sideWords({ assetId, amount }: Side, assets: ReadonlyMap<string, Asset>): string {
  const asset = assets.get(assetId);
  if (asset === undefined) return String(amount);
  return `${formatAmount(amount, asset.decimals)} ${assetName(asset)}`;
}

function usePair({ rfq }: Row): Pair | undefined {
  const { direction, baseAssetId, quoteAssetId, baseAmount } = rfq;
  const asked = { direction, baseAssetId, quoteAssetId, baseAmount };
  const { data } = useQuery({
    queryKey: ['pair', asked],
    queryFn: ({ signal }) => countedMarket.pair(asked, { signal }),
    staleTime: 15_000,
  });
  return data;
}

type FactsProps = Pick<QuotePanelProps, 'row' | 'assets'> & {
  readonly offer: Offer | null;
  readonly indicative: Price | null;
  readonly count: number;
  readonly pair: Pair | undefined;
  readonly words: (side: Side) => string;
};

type Fact = readonly [name: TextKey, value: string];

function Facts({ row, offer, indicative, count, pair, words, assets }: FactsProps) {
  const { rfq, base, quote } = row;
  const isByAsk = indicative === null && rfq.askAmount !== null;
  const against = isByAsk ? 'console.quote.against.ask' : 'console.quote.against';
  const shown: readonly Fact[] = [
    ['console.quote.you_give', offer === null ? '–' : words(offer.gives)],
    ['console.quote.you_get', offer === null ? '–' : words(offer.gets)],
    [
      'console.quote.indicative',
      indicative === null
        ? text('console.quote.indicative.none')
        : text('console.quote.indicative.of', {
            price: priceWords(indicative, base, quote),
            count,
          }),
    ],
    [against, offer === null ? '–' : againstWords(offer.bps)],
    ...(pair === undefined ? [] : pairFacts(pair, assets)),
  ];
  return (
    <>
      <dl className="facts" aria-live="polite">
        {shown.map(([name, value]) => (
          <div key={name}>
            <dt>{text(name)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {pair !== undefined && (
        <p>{text(pair.initiator === 'maker' ? 'console.quote.first' : 'console.quote.second')}</p>
      )}
    </>
  );
}

function againstWords(bps: number | null): string {
  if (bps === null) return text('console.quote.unknown');
  if (bps === 0) return text('console.quote.same');
  const percent = formatPercent(bps);
  return text(bps > 0 ? 'console.quote.better' : 'console.quote.worse', { percent });
}

/** Leg `a` is the maker's to fund, and `b` pays it. */
function pairFacts(
  { legs, expected, initiator }: Pair,
  assets: ReadonlyMap<string, Asset>,
): readonly Fact[] {
  const own = expected?.[initiator === 'maker' ? 'initiator' : 'counterparty'];
  const duration = (seconds: number | undefined) =>
    seconds === undefined ? text('console.quote.no_times') : formatDuration(seconds);
  const fee = ({ chain, costs }: PairLeg, verb: 'fund' | 'claim') => {
    if (costs === null) return text('console.quote.no_fee');
    const coin = [...assets.values()].find((each) => each.chain === chain && each.address === null);
    const { usual } = costs[verb];
    if (coin === undefined) return usual;
    return estimateText(BigInt(usual), coin);
  };
  const claim = fee(legs.b, 'claim');
  return [
    ['console.quote.usual', duration(own?.usualSeconds)],
    ['console.quote.locked', duration(own?.worstSeconds)],
    ['console.quote.fee_fund', fee(legs.a, 'fund')],
    [
      'console.quote.fee_claim',
      legs.b.costs?.settlesFromAmount
        ? text('console.quote.fee_claim.amount', { fee: claim })
        : claim,
    ],
  ];
}

type FarProps = {
  readonly offer: Offer | null;
  readonly words: (side: Side) => string;
  readonly onBack: () => void;
  readonly onSend: (offer: Offer) => void;
};

function Far({ offer, words, onBack, onSend }: FarProps) {
  if (offer === null) return null;
  const { bps, gives, gets } = offer;
  const facts = { percent: formatPercent(bps ?? 0), gives: words(gives), gets: words(gets) };
  return (
    <Dialog
      title={text('console.far.title')}
      open
      onClose={onBack}
      no={text('console.far.back')}
      yes={
        <Button kind="danger" onPress={() => onSend(offer)}>
          {text('console.far.send')}
        </Button>
      }
    >
      <p>{text((bps ?? 0) < 0 ? 'console.far.worse' : 'console.far.better', facts)}</p>
    </Dialog>
  );
}
