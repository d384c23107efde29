// The makers' console: the live book, what waits for the maker, and indicative prices.

import { pageLimit } from '@parley/core/limits.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { useAssets } from '../../market/assets.ts';
import { budget, isLow } from '../../market/budget.ts';
import { market } from '../../market/client.ts';
import { useLiveBook } from '../../market/live-book.ts';
import { queries } from '../../market/queries.ts';
import { useLive } from '../../market/use-live.ts';
import { Answer } from '../../parts/answer.tsx';
import { BookTable } from '../../parts/book-table.tsx';
import { Screen } from '../../parts/screen.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { text } from '../../texts/texts.ts';
import { Levels } from './levels.tsx';
import { Negotiations, Swaps } from './waiting.tsx';
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

type DeskProps = { readonly assets: readonly Asset[]; readonly accountId: string };

function Desk({ assets, accountId }: DeskProps) {
  const live = useLiveBook(threadsMoved);
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
  return (
    <>
      <Budget />
      <div className="desk">
        <section aria-label={text('book.title')} className="desk-book">
          <BookTable live={live} assets={assets} />
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
