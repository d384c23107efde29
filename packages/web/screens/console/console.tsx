// The makers' console: the live book, what waits for the maker, and indicative prices.

import { pageLimit } from '@parley/core/limits.ts';
import type { Asset, Rfq, Swap, Thread } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAssets } from '../../market/answers.ts';
import { useLiveBook } from '../../market/live-book.ts';
import { type Side, sidesOf } from '../../market/prices.ts';
import { budget, isLow, market, queries } from '../../market/site.ts';
import { useLive } from '../../market/use-live.ts';
import { BookTable } from '../../parts/book-table.tsx';
import { announce, Dialog } from '../../parts/controls.tsx';
import { Answer, Empty, Screen } from '../../parts/page.tsx';
import { QuoteForm, WithdrawQuote } from '../../parts/quoting.tsx';
import { Clock, useNow } from '../../parts/shown.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { assetName } from '../../parts/words.ts';
import { formatAmount } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { dueSwaps, type Negotiation, negotiationsOf } from './due.ts';
import { Levels } from './levels.tsx';
import './console.css';

/** One page of each: a maker with more works by the API. */
const page = { limit: pageLimit.most } as const;
/** While the feed is live it says when they have moved. */
const quotesMs = 2_000;
const swapsMs = 6_000;
const slowMs = 20_000;
const quotesKey = ['quotes'];
const swapsKey = ['swaps', page];

function threadsMoved(): void {
  void queries.invalidateQueries({ queryKey: quotesKey });
  void queries.invalidateQueries({ queryKey: swapsKey });
}

export function MakersConsole() {
  const assets = useAssets();
  return (
    <Screen title={text('console.title')}>
      <p>{text('console.intro')}</p>
      <SignedIn>
        {({ id }) => (
          <Answer of={assets}>{(listed) => <Desk assets={listed} accountId={id} />}</Answer>
        )}
      </SignedIn>
    </Screen>
  );
}

function Desk({ assets, accountId }: { assets: readonly Asset[]; accountId: string }) {
  const live = useLiveBook(threadsMoved);
  const [quoted, setQuoted] = useState<Rfq | null>(null);
  const left = useLive(budget);
  const isSlow = left !== null && isLow(left);
  const quotes = useQuery({
    queryKey: quotesKey,
    queryFn: async ({ signal }) => (await market.quotes(page, { signal })).threads,
    refetchInterval: isSlow || live.state === 'live' ? slowMs : quotesMs,
  });
  const swaps = useQuery({
    queryKey: swapsKey,
    queryFn: async ({ signal }) => (await market.swaps(page, { signal })).swaps,
    refetchInterval: isSlow ? slowMs : swapsMs,
  });
  const sent = () => {
    setQuoted(null);
    announce(text('order.quote.sent'));
    threadsMoved();
  };
  return (
    <>
      <Budget />
      <div className="desk">
        <section aria-label={text('book.title')} className="desk-book">
          <BookTable
            live={live}
            assets={assets}
            quote={(id) => setQuoted(live.rfqs.find((each) => each.id === id) ?? null)}
          />
          <Dialog
            title={text('order.quote.title')}
            open={quoted !== null}
            onClose={() => setQuoted(null)}
            no={text('confirm.no')}
          >
            {quoted !== null && <QuoteForm rfq={quoted} assets={assets} sent={sent} />}
          </Dialog>
        </section>
        <section aria-label={text('console.threads')} className="panel">
          <h2>{text('console.threads')}</h2>
          <Answer of={quotes}>
            {(threads) => <Negotiations threads={threads} assets={assets} />}
          </Answer>
        </section>
        <section aria-label={text('console.swaps')} className="panel">
          <h2>{text('console.swaps')}</h2>
          <Answer of={swaps}>
            {(all) => <Swaps swaps={all} assets={assets} accountId={accountId} />}
          </Answer>
        </section>
        <Levels assets={assets} />
      </div>
    </>
  );
}

function Budget() {
  const left = useLive(budget);
  if (left === null) return null;
  const { remaining, limit, resetSeconds: seconds } = left;
  return (
    <p className={isLow(left) ? 'warn-ink' : 'soft'}>
      {text('console.budget', { remaining, limit, seconds })}
      {isLow(left) && ` · ${text('console.budget.low')}`}
    </p>
  );
}

type Assets = readonly Asset[];

/** In lists: eight digits are enough to tell trades apart. */
const most = 8;
function sideWords({ assetId, amount }: Side, assets: Assets): string {
  const asset = assets.find(({ id }) => id === assetId);
  if (asset === undefined) return String(amount);
  return `${formatAmount(amount, asset.decimals, { most })} ${assetName(asset)}`;
}

function Negotiations({ threads, assets }: { threads: readonly Thread[]; assets: Assets }) {
  const open = negotiationsOf(threads, useNow() * 1_000);
  if (open.length === 0) return <Empty>{text('console.threads.empty')}</Empty>;
  return (
    <ul className="waiting">
      {open.map((each) => (
        <NegotiationItem key={each.thread.id} {...each} assets={assets} />
      ))}
    </ul>
  );
}

function NegotiationItem({ thread, standing, assets }: Negotiation & { readonly assets: Assets }) {
  if (standing.is === 'agreed' || standing.is === 'closed') return null;
  const { gives, gets } = sidesOf(thread.rfq, BigInt(thread.quoteAmount), 'maker');
  const isUrgent = standing.is === 'waits_for_me';
  const at = { gives: sideWords(gives, assets), gets: sideWords(gets, assets) };
  return (
    <li className={isUrgent ? 'urgent' : undefined}>
      <p className="what">{text(`console.threads.${standing.is}`)}</p>
      <p>{text('console.threads.at', at)}</p>
      {'untilMs' in standing && (
        <p>
          {text('console.threads.until')} <Clock at={Math.floor(standing.untilMs / 1_000)} />
        </p>
      )}
      <Link
        to="/deals/$id"
        params={{ id: thread.id }}
        className={isUrgent ? 'button main' : undefined}
      >
        {text(isUrgent ? 'console.threads.accept' : 'console.threads.open')}
      </Link>
      <WithdrawQuote thread={thread} standing={standing} label={text('deal.withdraw.of', at)} />
    </li>
  );
}

type SwapsProps = {
  swaps: readonly Swap[];
  assets: Assets;
  accountId: string;
};

function Swaps({ swaps, assets, accountId }: SwapsProps) {
  const open = dueSwaps(swaps);
  if (open.length === 0) return <Empty>{text('console.swaps.empty')}</Empty>;
  return (
    <ul className="waiting">
      {open.map(({ swap, step, isMine }) => {
        const { a, b } = swap.legs;
        const side = (leg: Swap['legs']['a']) => ({
          assetId: leg.assetId,
          amount: BigInt(leg.amount),
        });
        const party = swap.makerId === accountId ? 'maker' : 'taker';
        const [own, other] = a.funder === party ? [a, b] : [b, a];
        const at = { gives: sideWords(side(own), assets), gets: sideWords(side(other), assets) };
        return (
          <li key={swap.id} className={isMine ? 'urgent' : undefined}>
            <p className="what">
              {text(isMine ? 'console.swaps.mine' : 'console.swaps.theirs')}
              {`: ${text(`console.swaps.${step.action}`)}`}
            </p>
            <p>{text('console.threads.at', at)}</p>
            <p>
              {step.before === null ? (
                text('console.swaps.no_limit')
              ) : (
                <>
                  {text('console.swaps.before')} <Clock at={step.before} />
                </>
              )}
            </p>
            <Link to="/swaps/$id" params={{ id: swap.id }}>
              {text('console.swaps.open')}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
