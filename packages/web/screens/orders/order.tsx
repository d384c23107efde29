// One order. Its creator sees the quotes as they come, best first; any other person with the link
// may quote it.

import { pageLimit } from '@parley/core/limits.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Asset, Rfq, Thread } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { priceOf, useAssets, usePrice } from '../../market/answers.ts';
import { now } from '../../market/config.ts';
import { getsQuote, type Offer, offersOf, oneOfEach } from '../../market/prices.ts';
import { useSession } from '../../market/session.ts';
import { market, queries } from '../../market/site.ts';
import { announce, Notice, Share } from '../../parts/controls.tsx';
import { Confirm } from '../../parts/forms.tsx';
import { Answer, Empty, Screen } from '../../parts/page.tsx';
import { QuoteForm } from '../../parts/quoting.tsx';
import { AssetAmount, Clock, Countdown, Table, useNow } from '../../parts/shown.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { tell, useTellState } from '../../parts/tell.ts';
import { TellMe } from '../../parts/tell-me.tsx';
import { assetAmountText, recordText } from '../../parts/words.ts';
import { formatPercent, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { isLive, sidesOfOrder, statusOf } from './views.ts';
import './orders.css';

/** How often the market is asked for quotes, and whether the order still stands. */
const pollMs = 2_000;
/** While nobody looks, and somebody wants to be told. */
const awayPollMs = 15_000;

export function Order() {
  const { id } = useParams({ from: '/orders/$id' });
  const session = useSession();
  const assets = useAssets();
  const rfq = useQuery({
    queryKey: ['rfq', id],
    queryFn: ({ signal }) => market.rfq(id, { signal }),
    enabled: session.status === 'account',
    refetchInterval: ({ state }) =>
      state.data !== undefined && !isLive(state.data, now() * 1_000) ? false : pollMs,
  });
  const userId = session.status === 'account' ? session.account.id : null;
  const isOwn = rfq.data !== undefined && rfq.data.creatorId === userId;
  return (
    <Screen
      title={titleOf(rfq.data, assets.data)}
      aside={rfq.data && <Actions rfq={rfq.data} isOwn={isOwn} />}
    >
      <SignedIn why={text('order.stranger')}>
        {() =>
          isNone(rfq.error) ? (
            <None />
          ) : (
            <Answer of={rfq}>
              {(order) => (
                <Answer of={assets}>
                  {(listed) => <Shown key={id} rfq={order} assets={listed} isOwn={isOwn} />}
                </Answer>
              )}
            </Answer>
          )
        }
      </SignedIn>
    </Screen>
  );
}

/** The link is wrong, or the order is not for this account: the market says no more of it. */
function isNone(error: Error | null): boolean {
  return error instanceof ParleyApiError && (error.status === 404 || error.status === 400);
}

function None() {
  const book = (
    <Link to="/book" className="button">
      {text('order.to_book')}
    </Link>
  );
  return (
    <Notice kind="info" title={text('order.no_such')} action={book}>
      {text('order.no_such.why')}
    </Notice>
  );
}

function titleOf(rfq: Rfq | undefined, assets: readonly Asset[] | undefined): string {
  if (rfq === undefined || assets === undefined) return text('order.one');
  const said = ({ assetId, amount }: Sided) => {
    const asset = assets.find((each) => each.id === assetId);
    return amount === null ? (asset?.symbol ?? '') : assetAmountText(amount, asset);
  };
  const { gives, gets } = sidesOfOrder(rfq);
  return text('order.title', { give: said(gives), get: said(gets) });
}

function Actions({ rfq, isOwn }: { rfq: Rfq; isOwn: boolean }) {
  if (!isLive(rfq, useNow() * 1_000)) return null;
  const { id, visibility, targetAddress } = rfq;
  const cancel = async () => {
    const cancelled = await market.cancelRfq(id);
    queries.setQueryData(['rfq', id], cancelled);
    void queries.invalidateQueries({ queryKey: ['rfqs', 'own'] });
    void queries.invalidateQueries({ queryKey: ['threads', id] });
  };
  return (
    <div className="row">
      <Share
        title={text('order.share.title')}
        what={
          targetAddress === undefined
            ? text(`order.share.${visibility}`)
            : text('order.share.address', { address: targetAddress })
        }
        path={`/orders/${id}`}
      />
      {isOwn && (
        <Confirm
          title={text('order.cancel.title')}
          what={<p>{text('order.cancel.why')}</p>}
          onConfirm={cancel}
        >
          {text('order.cancel')}
        </Confirm>
      )}
    </div>
  );
}

type ShownProps = { rfq: Rfq; assets: readonly Asset[]; isOwn: boolean };

function Shown({ rfq, assets, isOwn }: ShownProps) {
  // To the second: an order ends between two answers.
  const status = statusOf(rfq, useNow() * 1_000);
  const live = status === 'open' || status === 'negotiating';
  const { gives, gets } = sidesOfOrder(rfq);
  const named = (assetId: string) => assets.find((each) => each.id === assetId);
  return (
    <>
      <dl className="order-facts">
        <div>
          <dt>{text(isOwn ? 'orders.give' : 'order.they_give')}</dt>
          <dd>
            <SideOf side={gives} asset={named(gives.assetId)} />
          </dd>
        </div>
        <div>
          <dt>{text(isOwn ? 'orders.get' : 'order.they_get')}</dt>
          <dd>
            <SideOf side={gets} asset={named(gets.assetId)} />
          </dd>
        </div>
        {live && (
          <div>
            <dt>{text('order.closes')}</dt>
            <dd>
              <Clock at={secondsOf(rfq.expiresAt)} />
            </dd>
          </div>
        )}
      </dl>
      {rfq.askAmount !== null && (
        <p>
          {text(isOwn ? 'order.you_ask' : 'order.they_ask', {
            amount: assetAmountText(BigInt(rfq.askAmount), named(rfq.quoteAssetId)),
          })}
        </p>
      )}
      {rfq.visibility === 'private' && (
        <p className="soft">
          {rfq.targetAddress
            ? text('order.private.address', { address: rfq.targetAddress })
            : text(isOwn ? 'order.private.link' : 'order.private.visitor')}
        </p>
      )}
      {typeof rfq.minSettled === 'number' && (
        <p className="soft">{text('order.settled', { count: rfq.minSettled })}</p>
      )}
      {!isOwn && (
        <p className="soft">
          {text('order.asked_by')}: {recordText(rfq.creatorStanding)}
        </p>
      )}
      {!live && <Ended status={status} isOwn={isOwn} />}
      {isOwn ? (
        <Quotes rfq={rfq} live={live} assets={assets} />
      ) : (
        <Visitor rfq={rfq} live={live} assets={assets} />
      )}
    </>
  );
}

type Sided = ReturnType<typeof sidesOfOrder>['gives'];

function SideOf({ side, asset }: { side: Sided; asset: Asset | undefined }) {
  if (side.amount !== null) return <AssetAmount units={side.amount} asset={asset} withChain />;
  return (
    <>
      {asset?.symbol} <span className="soft">{text('orders.quotes_decide')}</span>
    </>
  );
}

type EndedProps = Pick<ShownProps, 'isOwn'> & { status: Rfq['status'] };

function Ended({ status, isOwn }: EndedProps) {
  if (status === 'open' || status === 'negotiating') return null;
  if (status !== 'agreed') return <Notice kind="info">{text(`order.ended.${status}`)}</Notice>;
  const swaps = (
    <Link to="/swaps" className="button">
      {text('layout.swaps')}
    </Link>
  );
  return (
    <Notice kind="info" action={isOwn ? swaps : undefined}>
      {text(isOwn ? 'order.ended.agreed' : 'order.ended.taken')}
    </Notice>
  );
}

const mostPages = 20;

/** All of them: the best one may be the oldest. */
function useThreads(rfqId: string, live: boolean) {
  const telling = useTellState();
  return useQuery({
    queryKey: ['threads', rfqId],
    queryFn: async ({ signal }) => {
      const found: Thread[] = [];
      const page = (from: object) =>
        market.threadsOfRfq(rfqId, { limit: pageLimit.most, ...from }, { signal });
      for await (const { threads } of pagesOf(mostPages, page)) found.push(...threads);
      return oneOfEach(found);
    },
    // Each page is a request of the account's budget.
    refetchInterval: ({ state: { data = [] } }) =>
      live && everyMs() * Math.max(1, Math.ceil(data.length / pageLimit.most)),
    // A person who wants to be told of a quote looks elsewhere meanwhile.
    refetchIntervalInBackground: telling === 'on',
  });
}

const everyMs = () => (document.visibilityState === 'visible' ? pollMs : awayPollMs);

function Quotes({ rfq, live, assets }: { rfq: Rfq; live: boolean; assets: readonly Asset[] }) {
  const threads = useThreads(rfq.id, live);
  const price = usePrice({ baseAssetId: rfq.baseAssetId, quoteAssetId: rfq.quoteAssetId });
  const quote = assets.find(({ id }) => id === rfq.quoteAssetId);
  const isGot = getsQuote(rfq, 'taker');
  return (
    <section aria-labelledby="quotes">
      <h2 id="quotes">{text('order.quotes')}</h2>
      <Answer of={threads}>
        {(found) => {
          const offers = offersOf(found, priceOf(price.data), now() * 1_000);
          return (
            <>
              <Told offers={offers} quote={quote} rfqId={rfq.id} />
              {offers.length === 0 && live && (
                <Empty>
                  {text(rfq.visibility === 'private' ? 'order.none.private' : 'order.none')}
                </Empty>
              )}
              {offers.length > 0 && (
                <>
                  <p className="hint">{text(`order.quotes.best_${isGot ? 'get' : 'give'}`)}</p>
                  <Offers offers={offers} quote={quote} isGot={isGot} />
                </>
              )}
              {live && <TellMe path={`/orders/${rfq.id}`} />}
            </>
          );
        }}
      </Answer>
    </section>
  );
}

type ToldProps = {
  offers: readonly Offer[];
  quote: Asset | undefined;
  rfqId: string;
};

/** A quote that comes while one looks elsewhere on the page is said once. */
function Told({ offers, quote, rfqId }: ToldProps) {
  const known = useRef<ReadonlyMap<string, bigint> | null>(null);
  useEffect(() => {
    const now = new Map(
      offers.flatMap(({ thread, quoteAmount }) =>
        quoteAmount === null ? [] : [[thread.id, quoteAmount] as const],
      ),
    );
    const before = known.current;
    known.current = now;
    if (before === null) return;
    for (const [id, amount] of now) {
      if (before.get(id) === amount) continue;
      announce(text('order.new_quote', { amount: assetAmountText(amount, quote) }));
      const said = { title: text('tell.quote'), body: text('tell.quote.why') };
      tell({ ...said, key: `quote ${id} ${amount}`, path: `/orders/${rfqId}` });
    }
  });
  return null;
}

function Visitor({ rfq, live, assets }: { rfq: Rfq; live: boolean; assets: readonly Asset[] }) {
  const threads = useThreads(rfq.id, live);
  const navigate = useNavigate();
  const sent = (id: string) => navigate({ to: '/deals/$id', params: { id } });
  const mine = threads.data?.[0];
  if (mine !== undefined) {
    return (
      <Notice
        kind="info"
        title={text('order.quote.sent')}
        action={
          <Link to="/deals/$id" params={{ id: mine.id }} className="button main">
            {text('order.quote.open')}
          </Link>
        }
      />
    );
  }
  return live ? <QuoteForm rfq={rfq} assets={assets} sent={sent} /> : null;
}

type OffersProps = {
  offers: readonly Offer[];
  quote: Asset | undefined;
  /** Whether the taker is paid in the asset of the price. */
  isGot: boolean;
};

function Offers({ offers, quote, isGot }: OffersProps) {
  return (
    <Table
      caption={text('order.quotes')}
      rows={offers}
      keyOf={({ thread }) => thread.id}
      columns={[
        {
          label: text(isGot ? 'order.col.get' : 'order.col.give'),
          cell: (offer) => (
            <>
              {offer.quoteAmount === null ? (
                text('order.unknown')
              ) : (
                <AssetAmount units={offer.quoteAmount} asset={quote} />
              )}
              {isBest(offers, offer) && <span className="order-best">{text('order.best')}</span>}
            </>
          ),
        },
        {
          label: text('order.col.recent'),
          cell: ({ advantageBps }) => <Against bps={advantageBps} />,
        },
        {
          label: text('order.col.maker'),
          cell: ({ thread }) => recordText(thread.makerStanding),
        },
        {
          label: text('order.col.move'),
          cell: (offer) => <Move offer={offer} quote={quote} />,
        },
        {
          label: text('order.col.open'),
          cell: ({ thread, quoteAmount }) => (
            <Link
              to="/deals/$id"
              params={{ id: thread.id }}
              className="button"
              aria-label={text('order.view.of', {
                amount: assetAmountText(quoteAmount ?? BigInt(thread.quoteAmount), quote),
              })}
            >
              {text('order.view')}
            </Link>
          ),
        },
      ]}
    />
  );
}

/** The first of several: alone, "best" says nothing. */
function isBest(offers: readonly Offer[], offer: Offer): boolean {
  const { is } = offer.standing;
  return offers.length > 1 && offers[0] === offer && is !== 'closed' && is !== 'price_over';
}

type MoveProps = { offer: Offer; quote: Asset | undefined };

/** The party whose move it is, and for how long the price still holds. */
function Move({ offer: { standing, countered }, quote }: MoveProps) {
  if (standing.is === 'my_price') {
    return <>{text('order.move.my_price', { amount: assetAmountText(countered ?? 0n, quote) })}</>;
  }
  const said = text(`order.move.${standing.is}`);
  if (standing.is !== 'their_price' || standing.holdsUntilMs === null) return <>{said}</>;
  return (
    <>
      {said} <span className="soft">{text('order.holds')}</span>{' '}
      <Countdown at={Math.floor(standing.holdsUntilMs / 1_000)} />
    </>
  );
}

function Against({ bps }: { bps: number | null }) {
  if (bps === null) return <span className="soft">{text('order.unknown')}</span>;
  if (bps === 0) return <>{text('order.even')}</>;
  const percent = formatPercent(bps);
  return (
    <span className={bps > 0 ? 'good-ink' : 'warn-ink'}>
      {text(bps > 0 ? 'order.better' : 'order.worse', { percent })}
    </span>
  );
}
