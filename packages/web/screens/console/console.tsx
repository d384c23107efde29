// The makers' console: the live book, quotes by keyboard, and what waits for the maker.

import { pageLimit } from '@parley/core/limits.ts';
import type { Asset, Swap, Thread } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useAssets } from '../../market/assets.ts';
import { queries } from '../../market/queries.ts';
import { Answer, Empty, Loading } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { assetName } from '../../parts/names.ts';
import { Screen } from '../../parts/screen.tsx';
import { Select } from '../../parts/select.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { text } from '../../texts/texts.ts';
import { BookGrid, rowId } from './book-grid.tsx';
import { countedMarket, isLow, useBudget } from './budget.ts';
import { Levels } from './levels.tsx';
import { type LiveBook, useLiveBook } from './live-book.ts';
import { QuotePanel } from './quote-panel.tsx';
import { type BookOf, choices, type Filters, type Row, shownRows } from './rows.ts';
import { Negotiations, Swaps } from './waiting.tsx';
import './console.css';

/** One page of each: a maker with more works by the API. */
const page = { limit: pageLimit.most } as const;
/** While the feed is live it says when they have moved. */
const quotesMs = 2_000;
const swapsMs = 6_000;
const slowMs = 20_000;
const quotesKey = ['quotes'];

function threadsMoved(): void {
  void queries.invalidateQueries({ queryKey: quotesKey });
  void queries.invalidateQueries({ queryKey: ['swaps', page] });
}

export function MakersConsole() {
  return (
    <Screen title={text('console.title')}>
      <p>{text('console.intro')}</p>
      <SignedIn>{({ id }) => <Traded accountId={id} />}</SignedIn>
    </Screen>
  );
}

function Traded({ accountId }: { readonly accountId: string }) {
  const assets = useAssets();
  const desk = (list: readonly Asset[]) => <Desk list={list} accountId={accountId} />;
  return <Answer of={assets}>{desk}</Answer>;
}

type DeskProps = { readonly list: readonly Asset[]; readonly accountId: string };

function Desk({ list, accountId }: DeskProps) {
  const live = useLiveBook(threadsMoved);
  const budget = useBudget();
  const slow = budget !== null && isLow(budget);
  const assets = useMemo(() => new Map(list.map((each) => [each.id, each] as const)), [list]);
  const quotes = useQuery({
    queryKey: quotesKey,
    queryFn: async ({ signal }) => (await countedMarket.quotes(page, { signal })).threads,
    refetchInterval: slow || live.state === 'live' ? slowMs : quotesMs,
  });
  const swaps = useQuery({
    queryKey: ['swaps', page],
    queryFn: async ({ signal }) => (await countedMarket.swaps(page, { signal })).swaps,
    refetchInterval: slow ? slowMs : swapsMs,
  });
  return (
    <>
      <State live={live} />
      <div className="desk">
        <BookArea live={live} assets={assets} quotes={quotes.data ?? noThreads} />
        <section aria-label={text('console.threads')} className="panel">
          <h2>{text('console.threads')}</h2>
          <Answer of={quotes}>
            {(threads: readonly Thread[]) => <Negotiations threads={threads} assets={assets} />}
          </Answer>
        </section>
        <section aria-label={text('console.swaps')} className="panel">
          <h2>{text('console.swaps')}</h2>
          <Answer of={swaps}>
            {(all: readonly Swap[]) => <Swaps swaps={all} assets={assets} />}
          </Answer>
        </section>
        <Levels assets={assets} accountId={accountId} />
      </div>
    </>
  );
}

const noThreads: readonly Thread[] = [];

function State({ live: { state, trouble } }: { readonly live: LiveBook }) {
  const budget = useBudget();
  const why = trouble ?? '';
  const words = {
    live: text('console.live'),
    connecting: trouble === null ? text('console.connecting') : text('console.trouble', { why }),
    closed: text('console.closed', { why }),
  };
  return (
    <div className="desk-state">
      <p role="status" className={state === 'live' ? 'good-ink' : 'warn-ink'}>
        {words[state]}
      </p>
      {budget !== null && (
        <p className={isLow(budget) ? 'warn-ink' : 'soft'}>
          {text('console.budget', {
            remaining: budget.remaining,
            limit: budget.limit,
            seconds: budget.resetSeconds,
          })}
          {isLow(budget) && ` · ${text('console.budget.low')}`}
        </p>
      )}
    </div>
  );
}

type BookAreaProps = {
  readonly live: LiveBook;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly quotes: readonly Thread[];
};

function BookArea({ live, assets, quotes }: BookAreaProps) {
  const [filters, setFilters] = useState<Filters>({ give: null, get: null });
  const [active, setActive] = useState<string | null>(null);
  const [opened, setOpened] = useState<string | null>(null);
  const [isInside, setInside] = useState(false);
  const of: BookOf = { rfqs: live.rfqs, assets, filters };
  const { rows, held, fresh } = useRows(of, isInside || opened !== null);
  const byRfq = useMemo(() => new Map(quotes.map((each) => [each.rfqId, each])), [quotes]);
  const open = useCallback((id: string) => {
    setActive(id);
    setOpened(id);
  }, []);
  const back = () => {
    setOpened(null);
    if (opened !== null) document.getElementById(rowId(opened))?.focus();
  };
  const row = rows.find((each) => each.rfq.id === opened);
  return (
    <>
      <section aria-label={text('console.book')} className="desk-book">
        <FilterRow of={of} onChange={setFilters} />
        <div className="desk-book-head">
          <p className="hint">{text('console.keys')}</p>
          {held > 0 && (
            <Button kind="quiet" onPress={fresh}>
              {text('console.book.fresh', { count: held })}
            </Button>
          )}
        </div>
        {rows.length === 0 ? (
          <Without state={live.state} />
        ) : (
          <div className="desk-rows">
            <BookGrid
              rows={rows}
              active={active}
              opened={opened}
              quotes={byRfq}
              onActive={setActive}
              onOpen={open}
              onInside={setInside}
              onFresh={fresh}
            />
          </div>
        )}
      </section>
      <section aria-label={text('console.quote')} className="panel desk-quote">
        <h2>{text('console.quote')}</h2>
        {row === undefined ? (
          <p className="soft">{text('console.quote.none')}</p>
        ) : (
          <QuotePanel
            key={row.rfq.id}
            row={row}
            assets={assets}
            quoted={byRfq.get(row.rfq.id)}
            onSent={(thread) => {
              keepQuote(thread);
              back();
            }}
            onBack={back}
          />
        )}
      </section>
    </>
  );
}

/** Where the book is not live, the state above it says why. */
function Without({ state }: Pick<LiveBook, 'state'>) {
  if (state === 'live') return <Empty>{text('console.book.empty')}</Empty>;
  return state === 'connecting' ? <Loading /> : null;
}

/** Shown at once, before the market is asked again. */
function keepQuote(thread: Thread): void {
  queries.setQueryData(quotesKey, (known: readonly Thread[] = []) => [
    thread,
    ...known.filter(({ id }) => id !== thread.id),
  ]);
}

/** Rows as last shown are what the next ones are made of. */
function useRows(of: BookOf, isHeld: boolean) {
  const before = useRef<readonly Row[]>([]);
  const filtered = useRef(of.filters);
  // Other filters are another list.
  const isSame = filtered.current === of.filters;
  const [, showFresh] = useState(0);
  const isFresh = useRef(false);
  const { rows, held } = shownRows(before.current, of, isHeld && isSame && !isFresh.current);
  useEffect(() => {
    before.current = rows;
    filtered.current = of.filters;
    isFresh.current = false;
  });
  const fresh = useCallback(() => {
    isFresh.current = true;
    showFresh((count) => count + 1);
  }, []);
  return { rows, held, fresh };
}

type FilterRowProps = { readonly of: BookOf; readonly onChange: (filters: Filters) => void };

function FilterRow({ of, onChange }: FilterRowProps) {
  const select = (side: 'give' | 'get') => (
    <Select
      label={text(`console.filter.${side}`)}
      value={of.filters[side] ?? ''}
      onChange={(id) => onChange({ ...of.filters, [side]: id === '' ? null : id })}
      options={[
        { value: '', label: text('console.filter.any') },
        ...choices(of, side).map((each) => ({ value: each.id, label: assetName(each) })),
      ]}
    />
  );
  return (
    <div className="row">
      {select('give')}
      {select('get')}
    </div>
  );
}
