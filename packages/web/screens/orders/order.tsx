// One order. Its creator sees the quotes as they come, best first; any other person with the link
// may quote it.

import { pageLimit } from '@parley/core/limits.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Asset, Rfq, Thread } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useAssets } from '../../market/answers.ts';
import { now } from '../../market/config.ts';
import { useThreadNews } from '../../market/live-book.ts';
import { oneOfEach } from '../../market/prices.ts';
import { useSession } from '../../market/session.ts';
import { market, queries } from '../../market/site.ts';
import { Notice } from '../../parts/controls.tsx';
import { Fold } from '../../parts/fold.tsx';
import { Confirm } from '../../parts/forms.tsx';
import { isLive, sidesOfOrder, statusOf } from '../../parts/orders.ts';
import { Answer, Screen } from '../../parts/page.tsx';
import { PairTitle } from '../../parts/pair-title.tsx';
import { QuoteForm } from '../../parts/quoting.tsx';
import { AssetAmount, Clock, useNow } from '../../parts/shown.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { useTellState } from '../../parts/tell.ts';
import { TellMe } from '../../parts/tell-me.tsx';
import { assetAmountText, recordText } from '../../parts/words.ts';
import { secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { Ended, Quotes, ShareOrder } from './quotes.tsx';
import './orders.css';

/** How often the market is asked where it does not tell by itself. */
const pollMs = 2_000;
/** While it does: an answer may be lost all the same, and an order ends by a clock. */
const heardMs = 20_000;
/** While nobody looks, and somebody wants to be told. */
const awayPollMs = 15_000;

export function Order() {
  const { id } = useParams({ from: '/orders/$id' });
  const session = useSession();
  const isSignedIn = session.status === 'account';
  const assets = useAssets();
  const moved = useCallback(() => {
    void queries.invalidateQueries({ queryKey: ['threads', id] });
    void queries.invalidateQueries({ queryKey: ['rfq', id] });
  }, [id]);
  const everyMs = useThreadNews(isSignedIn, moved) ? heardMs : pollMs;
  const rfq = useQuery({
    queryKey: ['rfq', id],
    queryFn: ({ signal }) => market.rfq(id, { signal }),
    enabled: isSignedIn,
    refetchInterval: ({ state }) =>
      state.data !== undefined && !isLive(state.data, now() * 1_000) ? false : everyMs,
  });
  const userId = session.status === 'account' ? session.account.id : null;
  const isOwn = rfq.data !== undefined && rfq.data.creatorId === userId;
  const sides = titleSides(rfq.data, assets.data);
  const title =
    sides === null
      ? text('order.one')
      : text('order.title', { give: sides.gives.said, get: sides.gets.said });
  const heading = sides === null ? title : <PairTitle title={title} {...sides} />;
  return (
    <Screen title={title} heading={heading} narrow>
      <SignedIn why={text('order.stranger')}>
        {() =>
          isNone(rfq.error) ? (
            <None />
          ) : (
            <Answer of={rfq}>
              {(order) => (
                <Answer of={assets}>
                  {(listed) => (
                    <Shown key={id} rfq={order} assets={listed} isOwn={isOwn} everyMs={everyMs} />
                  )}
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

function titleSides(rfq: Rfq | undefined, assets: readonly Asset[] | undefined) {
  if (rfq === undefined || assets === undefined) return null;
  const side = ({ assetId, amount }: Sided) => {
    const asset = assets.find((each) => each.id === assetId);
    const said = amount === null ? (asset?.symbol ?? '') : assetAmountText(amount, asset);
    return { asset, said };
  };
  const { gives, gets } = sidesOfOrder(rfq);
  return { gives: side(gives), gets: side(gets) };
}

type ShownProps = { rfq: Rfq; assets: readonly Asset[]; isOwn: boolean };

function Shown({ rfq, assets, isOwn, everyMs }: ShownProps & { everyMs: number }) {
  // To the second: an order ends between two answers.
  const status = statusOf(rfq, useNow() * 1_000);
  const live = status === 'open' || status === 'negotiating';
  const threads = useThreads(rfq.id, live, everyMs);
  const named = (assetId: string) => assets.find((each) => each.id === assetId);
  const order = { rfq, live, base: named(rfq.baseAssetId), quote: named(rfq.quoteAssetId) };
  return (
    <Answer of={threads}>
      {(found) => (
        <>
          {status !== 'open' && status !== 'negotiating' && (
            <Ended status={status} isOwn={isOwn} threads={found} />
          )}
          {isOwn ? (
            <Quotes {...order} threads={found} />
          ) : (
            <Visitor rfq={rfq} live={live} assets={assets} threads={found} />
          )}
          {live && isOwn && (
            <Fold title={text('order.tell')}>
              <TellMe path={`/orders/${rfq.id}`} />
            </Fold>
          )}
          <Details rfq={rfq} assets={assets} isOwn={isOwn} live={live} />
        </>
      )}
    </Answer>
  );
}

/** All of the order itself, which its creator knows: it is folded away there. */
function Details({ rfq, assets, isOwn, live }: ShownProps & { live: boolean }) {
  const { gives, gets } = sidesOfOrder(rfq);
  const named = (assetId: string) => assets.find((each) => each.id === assetId);
  return (
    <Fold title={text('order.details')} isOpen={!isOwn}>
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
      {live && (
        <div className="actions">
          <ShareOrder rfq={rfq} />
          {isOwn && <Cancel id={rfq.id} />}
        </div>
      )}
    </Fold>
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

function Cancel({ id }: Pick<Rfq, 'id'>) {
  const cancel = async () => {
    const cancelled = await market.cancelRfq(id);
    queries.setQueryData(['rfq', id], cancelled);
    void queries.invalidateQueries({ queryKey: ['rfqs', 'own'] });
    void queries.invalidateQueries({ queryKey: ['threads', id] });
  };
  return (
    <Confirm
      title={text('order.cancel.title')}
      what={<p>{text('order.cancel.why')}</p>}
      onConfirm={cancel}
    >
      {text('order.cancel')}
    </Confirm>
  );
}

const mostPages = 20;

/** All of them: the best one may be the oldest. */
function useThreads(rfqId: string, live: boolean, everyMs: number) {
  const telling = useTellState();
  const pauseMs = () =>
    document.visibilityState === 'visible' ? everyMs : Math.max(everyMs, awayPollMs);
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
      live && pauseMs() * Math.max(1, Math.ceil(data.length / pageLimit.most)),
    // A person who wants to be told of a quote looks elsewhere meanwhile.
    refetchIntervalInBackground: telling === 'on',
  });
}

type VisitorProps = Omit<ShownProps, 'isOwn'> & { live: boolean; threads: readonly Thread[] };

function Visitor({ rfq, live, assets, threads }: VisitorProps) {
  const navigate = useNavigate();
  const sent = (id: string) => navigate({ to: '/deals/$id', params: { id } });
  const [mine] = threads;
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
