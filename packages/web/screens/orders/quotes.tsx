// The quotes of an own order: the best one large with the one thing to do, the others below it, and
// what can be done while there is none.

import type { Asset, Rfq, Standing, Thread } from '@parley/sdk/types.ts';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { priceOf, useLevels, usePair, usePrice } from '../../market/answers.ts';
import { now } from '../../market/config.ts';
import { keptBps, landingOf, makersIn } from '../../market/offers.ts';
import { getsQuote, isFar, isTakenBack, type Offer, offersOf } from '../../market/prices.ts';
import { announce, Notice, Share } from '../../parts/controls.tsx';
import { Fiat } from '../../parts/fiat.tsx';
import { AssetAmount, Clock, Countdown, useNow } from '../../parts/shown.tsx';
import { tell } from '../../parts/tell.ts';
import { assetAmountText, estimateText, recordText } from '../../parts/words.ts';
import { formatDuration, formatPercent, formatPrice, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';

export type OrderProps = {
  readonly rfq: Rfq;
  readonly base: Asset | undefined;
  readonly quote: Asset | undefined;
  readonly live: boolean;
};

type QuotesProps = OrderProps & { threads: readonly Thread[] };

export function Quotes(props: QuotesProps) {
  const { rfq, live, threads } = props;
  const price = usePrice({ baseAssetId: rfq.baseAssetId, quoteAssetId: rfq.quoteAssetId });
  const offers = offersOf(threads, priceOf(price.data), now() * 1_000);
  const [best, ...others] = offers;
  const isOpen = best !== undefined && live && !isOver(best);
  return (
    <section aria-labelledby="quotes">
      <h2 id="quotes" className="unseen">
        {text('order.quotes')}
      </h2>
      <Told offers={offers} quote={props.quote} rfqId={rfq.id} />
      {isOpen && <Best key={best.thread.id} {...props} offer={best} count={openOf(offers)} />}
      {!isOpen && live && <Waiting {...props} />}
      <Others {...props} best={isOpen ? best : null} offers={isOpen ? others : offers} />
    </section>
  );
}

function isOver({ standing: { is } }: Offer): boolean {
  return is === 'closed' || is === 'price_over';
}

const openOf = (offers: readonly Offer[]) => offers.filter((each) => !isOver(each)).length;

type ToldProps = {
  offers: readonly Offer[];
  quote: Asset | undefined;
  rfqId: string;
};

/** A quote that comes while one looks elsewhere on the page is said once. */
function Told({ offers, quote, rfqId }: ToldProps) {
  const known = useRef<ReadonlyMap<string, bigint> | null>(null);
  useEffect(() => {
    const found = new Map(
      offers.flatMap(({ thread, quoteAmount }) =>
        quoteAmount === null ? [] : [[thread.id, quoteAmount] as const],
      ),
    );
    const before = known.current;
    known.current = found;
    if (before === null) return;
    for (const [id, amount] of found) {
      if (before.get(id) === amount) continue;
      announce(text('order.new_quote', { amount: assetAmountText(amount, quote) }));
      const said = { title: text('tell.quote'), body: text('tell.quote.why') };
      tell({ ...said, key: `quote ${id} ${amount}`, path: `/orders/${rfqId}` });
    }
  });
  return null;
}

/** The amount that arrives for a price, and the fee that was taken out of it. */
function useWorth({ rfq, base, quote }: OrderProps, quoteAmount: bigint) {
  const { direction, baseAssetId, baseAmount, quoteAssetId } = rfq;
  const { data } = usePair({ direction, baseAssetId, baseAmount, quoteAssetId });
  const isGot = getsQuote(rfq, 'taker');
  const { units: arrives, fee } = landingOf(isGot ? quoteAmount : BigInt(baseAmount), data?.legs.a);
  return { isGot, arrives, fee, got: isGot ? quote : base, isKnown: data !== undefined };
}

type FeeProps = { worth: ReturnType<typeof useWorth>; named: string };

function Fee({ worth: { isGot, arrives, fee, got }, named }: FeeProps) {
  if (fee === 0n || got === undefined) return text('order.no_fee');
  const values = { fee: estimateText(fee, got) };
  return isGot
    ? text('order.after_fee', { ...values, amount: named })
    : text('order.after_fee.get', { ...values, amount: estimateText(arrives, got) });
}

type OneProps = OrderProps & { offer: Offer };

function Best(props: OneProps & { count: number }) {
  const { offer, count, quote, rfq, base } = props;
  const { quoteAmount, thread, standing } = offer;
  const worth = useWorth(props, quoteAmount ?? 0n);
  const { isGot, arrives, fee, got, isKnown } = worth;
  if (quoteAmount === null) return <Plain {...props} />;
  const named = assetAmountText(quoteAmount, quote);
  return (
    <article className="panel hero quote-best quote-new" aria-label={named}>
      <p className="eyebrow">
        {text('order.best', { count })} <Holds offer={offer} />
      </p>
      <p className="quote-label">{text(isGot ? 'order.you_get' : 'order.you_pay')}</p>
      <p className="quote-amount" key={`${quoteAmount}`}>
        {isGot ? (
          <About units={arrives} fee={fee} asset={got} />
        ) : (
          <AssetAmount units={quoteAmount} asset={quote} />
        )}
      </p>
      <p className="hint">{isKnown ? <Fee worth={worth} named={named} /> : '\u00a0'}</p>
      <p className="quote-facts">
        <Fiat units={isGot ? arrives : quoteAmount} asset={quote} />
        <UnitPrice rfq={rfq} base={base} quote={quote} quoteAmount={quoteAmount} />
        <Against bps={offer.advantageBps} />
      </p>
      <RecordBar standing={thread.makerStanding} />
      <Link to="/deals/$id" params={{ id: thread.id }} className="button main big">
        {standing.is === 'my_price' || standing.is === 'waits_for_them'
          ? text(`order.go.${standing.is}`)
          : text(isGot ? 'order.accept' : 'order.accept.give', { amount: named })}
      </Link>
      <Moved offer={offer} quote={quote} />
    </article>
  );
}

function About({ units, fee, asset }: { units: bigint; fee: bigint; asset: Asset | undefined }) {
  if (fee === 0n || asset === undefined) return <AssetAmount units={units} asset={asset} />;
  return <span className="amount">≈ {estimateText(units, asset)}</span>;
}

function UnitPrice({
  rfq,
  base,
  quote,
  quoteAmount,
}: Omit<OrderProps, 'live'> & { quoteAmount: bigint }) {
  if (base === undefined || quote === undefined) return null;
  const of = { units: quoteAmount, decimals: quote.decimals };
  const per = { units: BigInt(rfq.baseAmount), decimals: base.decimals };
  const values = { price: formatPrice(of, per), quote: quote.symbol, base: base.symbol };
  return <span>{text('order.unit', values)}</span>;
}

function Against({ bps }: { bps: number | null }) {
  if (bps === null) return <span className="soft">{text('order.against.none')}</span>;
  if (bps === 0) return <span>{text('order.against.even')}</span>;
  const percent = formatPercent(bps);
  // Far better is a reason to look twice, as far worse is.
  const isGood = bps > 0 && !isFar(bps);
  return (
    <span className={isGood ? 'good-ink' : 'warn-ink'}>
      {text(bps > 0 ? 'order.against.better' : 'order.against.worse', { percent })}
    </span>
  );
}

function RecordBar({ standing }: { standing: Standing | null }) {
  const kept = keptBps(standing);
  return (
    <p className="quote-record">
      {kept !== null && (
        <span className="record-bar" aria-hidden="true">
          <span style={{ inlineSize: `${kept / 100}%` }} />
        </span>
      )}
      <span>
        {text('order.maker')}{' '}
        {kept !== null && `${text('order.kept', { percent: formatPercent(kept) })} · `}
        {recordText(standing)}
      </span>
    </p>
  );
}

/** How long the price holds; nothing where it has no end of its own. */
function Holds({ offer: { standing } }: { offer: Offer }) {
  const isHeld = standing.is === 'their_price' || standing.is === 'my_price';
  if (!isHeld || standing.holdsUntilMs === null) return null;
  return (
    <>
      · {text('order.holds')} <Countdown at={Math.floor(standing.holdsUntilMs / 1_000)} />
    </>
  );
}

/** A change of the price since its maker named it. */
function Moved({ offer, quote }: Pick<OneProps, 'offer' | 'quote'>) {
  const { standing, countered } = offer;
  if (standing.is === 'my_price') {
    const amount = assetAmountText(countered ?? 0n, quote);
    return <p className="hint">{text('order.move.my_price', { amount })}</p>;
  }
  if (standing.is === 'their_price' || standing.is === 'agreed') return null;
  const reason = standing.is === 'closed' ? endOf(offer.thread) : standing.is;
  return <p className="hint">{text(`order.move.${reason}`)}</p>;
}

const endOf = (thread: Thread) => (isTakenBack(thread) ? 'taken_back' : 'closed');

type OthersProps = OrderProps & { best: Offer | null; offers: readonly Offer[] };

function Others({ best, offers, ...order }: OthersProps) {
  if (offers.length === 0) return null;
  return (
    <ul className="quote-list">
      {offers.map((offer) => (
        <li
          key={offer.thread.id}
          className={isOver(offer) ? 'panel quote-over' : 'panel quote-new'}
        >
          <Plain {...order} offer={offer} best={best} />
        </li>
      ))}
    </ul>
  );
}

function Plain({ offer, best = null, ...order }: OneProps & { best?: Offer | null }) {
  const { thread, quoteAmount } = offer;
  const { quote } = order;
  const amount = assetAmountText(quoteAmount ?? BigInt(thread.quoteAmount), quote);
  return (
    <>
      <div>
        <p className="quote-other">
          {quoteAmount === null ? text('order.unknown') : amount}{' '}
          <LessThan best={best} offer={offer} quote={quote} />
        </p>
        <p className="hint">
          {text('order.maker')} {recordText(thread.makerStanding)} <Holds offer={offer} />
        </p>
        <Moved offer={offer} quote={quote} />
      </div>
      <Link
        to="/deals/$id"
        params={{ id: thread.id }}
        className="button"
        aria-label={text('order.view.of', { amount })}
      >
        {text('order.look')}
      </Link>
    </>
  );
}

/** By how much it is behind the best one. */
function LessThan({
  best,
  offer,
  quote,
}: {
  best: Offer | null;
  offer: Offer;
  quote: Asset | undefined;
}) {
  const one = best?.quoteAmount ?? null;
  const other = offer.quoteAmount;
  if (one === null || other === null || one === other || isOver(offer)) return null;
  const isLess = other < one;
  const amount = assetAmountText(isLess ? one - other : other - one, quote);
  return <span className="soft">{text(isLess ? 'order.less' : 'order.more', { amount })}</span>;
}

function Waiting(props: OrderProps) {
  const { rfq } = props;
  const isPrivate = rfq.visibility === 'private';
  return (
    <div className="panel hero quote-waiting">
      <p className="eyebrow">
        <span className="live-dot" aria-hidden="true" /> <Since at={secondsOf(rfq.createdAt)} />
      </p>
      <h2>{text('order.waiting')}</h2>
      <p>{isPrivate ? text('order.waiting.private') : <Makers {...props} />}</p>
      <p className="hint">
        {text('order.waiting.until')} <Clock at={secondsOf(rfq.expiresAt)} />
      </p>
      {isPrivate && <ShareOrder rfq={rfq} />}
    </div>
  );
}

function Since({ at }: { at: number }) {
  const seconds = Math.max(1, useNow() - at);
  return <>{text('order.waiting.since', { time: formatDuration(seconds) })}</>;
}

/** Makers that publish a price for it are likely to quote it. */
function Makers({ rfq }: OrderProps): ReactNode {
  const { direction, baseAssetId, baseAmount, quoteAssetId, minSettled } = rfq;
  const levels = useLevels({
    direction,
    baseAssetId,
    baseAmount,
    quoteAssetId,
    minSettled: minSettled ?? 0,
  });
  const count = makersIn(levels.data?.levels ?? []);
  return count === 0 ? text('order.waiting.none') : text('order.waiting.makers', { count });
}

export function ShareOrder({ rfq }: { rfq: Rfq }) {
  const { id, visibility, targetAddress } = rfq;
  return (
    <Share
      title={text('order.share.title')}
      what={
        targetAddress === undefined
          ? text(`order.share.${visibility}`)
          : text('order.share.address', { address: targetAddress })
      }
      path={`/orders/${id}`}
    />
  );
}

type EndedProps = {
  status: 'agreed' | 'cancelled' | 'expired';
  isOwn: boolean;
  threads: readonly Thread[];
};

export function Ended({ status, isOwn, threads }: EndedProps) {
  const swapId = threads.find((each) => each.swapId !== null)?.swapId ?? null;
  const key = status === 'agreed' && swapId === null && !isOwn ? 'taken' : status;
  const way =
    swapId !== null ? (
      <Link to="/swaps/$id" params={{ id: swapId }} className="button main">
        {text('order.to_swap')}
      </Link>
    ) : isOwn && status !== 'agreed' ? (
      <Link to="/" className="button main">
        {text('order.again')}
      </Link>
    ) : undefined;
  return (
    <Notice kind="info" action={way}>
      {text(`order.ended.${key}`)}
    </Notice>
  );
}
