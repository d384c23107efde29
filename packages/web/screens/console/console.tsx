// The makers' console: open orders, the chosen one with its quote, and what is the maker's own.

import { pageLimit } from '@parley/core/limits.ts';
import type { Asset } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import { useAssets } from '../../market/answers.ts';
import { now } from '../../market/config.ts';
import { useLiveBook } from '../../market/live-book.ts';
import { pairKey } from '../../market/pairs.ts';
import { budget, isLow, market, queries } from '../../market/site.ts';
import { useLive } from '../../market/use-live.ts';
import { announce, Button, Panel } from '../../parts/controls.tsx';
import { Answer, Empty, Screen } from '../../parts/page.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { recalled, remember } from '../../texts/remembered.ts';
import { text } from '../../texts/texts.ts';
import { KeyHelp, useKeys } from './key-help.tsx';
import type { Command } from './keyboard.ts';
import { Levels } from './levels.tsx';
import { useRecent } from './medians.ts';
import { Negotiations, Swaps } from './mine.tsx';
import { Filters, filterOf, OrderList, unfiltered } from './order-list.tsx';
import { foundBy, neighbour, ordersOf, pairsOf } from './orders.ts';
import { dayMs, tradesOf } from './pnl.ts';
import { priceFieldId, Ticket, withdrawId } from './ticket-panel.tsx';
import { TopLine } from './top-line.tsx';
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
      <SignedIn>
        {({ id }) => (
          <Answer of={assets}>{(listed) => <Desk assets={listed} accountId={id} />}</Answer>
        )}
      </SignedIn>
    </Screen>
  );
}

const keysName = 'console keys';

function focus(selector: string): boolean {
  const found = document.querySelector<HTMLElement>(selector);
  found?.focus();
  found?.scrollIntoView({ block: 'nearest' });
  return found !== null;
}

function Desk({ assets, accountId }: { assets: readonly Asset[]; accountId: string }) {
  const live = useLiveBook(threadsMoved);
  const [openedAtMs] = useState(() => now() * 1_000);
  const [typed, setTyped] = useState(unfiltered);
  const [chosen, setChosen] = useState<string | null>(null);
  const [isHelp, setHelp] = useState(false);
  const [hasKeys, setKeys] = useState(() => recalled('localStorage', keysName) !== 'off');
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
  const threads = quotes.data;
  const all = useMemo(
    () => ordersOf(live.rfqs, assets, threads ?? [], now() * 1_000),
    [live.rfqs, assets, threads],
  );
  const pairs = pairsOf(all);
  const orders = foundBy(all, filterOf(typed, pairs));
  const order = all.find(({ id }) => id === chosen) ?? null;
  const trades = tradesOf(swaps.data ?? [], accountId, assets, openedAtMs - dayMs);
  const recent = useRecent([...(order === null ? [] : [order.pair]), ...pairsOf(trades), ...pairs]);
  const toRow = () => focus(`#order-${chosen}`) || focus('.orders .order');
  const toPrice = () => focus(`[name="${priceFieldId}"]`);
  const move = (by: 1 | -1) => {
    const next = neighbour(orders, chosen, by);
    if (next === null) return;
    setChosen(next.id);
    focus(`#order-${next.id}`);
  };
  const act: Readonly<Record<Command, () => void>> = {
    down: () => move(1),
    up: () => move(-1),
    quote: () => void (order === null ? move(1) : toPrice()),
    edit: () => void toPrice(),
    withdraw: () => {
      if (!focus(`#${withdrawId} button`)) announce(text('console.keys.withdraw.none'));
    },
    filter: () => void focus('.desk-filters input'),
    help: () => setHelp(true),
  };
  useKeys(hasKeys, (command) => act[command]());
  const sent = () => {
    announce(text('order.quote.sent'));
    threadsMoved();
    toRow();
  };
  return (
    <>
      <TopLine
        live={live}
        threads={threads ?? []}
        swaps={swaps.data ?? []}
        assets={assets}
        accountId={accountId}
        openedAtMs={openedAtMs}
        recent={recent}
      />
      <div className="desk">
        <section aria-label={text('console.orders')} className="panel desk-orders">
          <div className="desk-head">
            <h2>{text('console.orders')}</h2>
            <Button kind="quiet" onPress={() => setHelp(true)}>
              {text('console.keys')}
            </Button>
          </div>
          <Filters typed={typed} pairs={pairs} onChange={setTyped} />
          <OrderList
            orders={orders}
            count={all.length}
            isConnecting={live.state === 'connecting'}
            recent={recent}
            chosen={chosen}
            openedAtMs={openedAtMs}
            choose={(id, byKey) => {
              // The form must be there to be led to.
              flushSync(() => setChosen(id));
              if (byKey) toPrice();
              else document.querySelector('.ticket')?.scrollIntoView({ block: 'nearest' });
            }}
          />
        </section>
        <div className="desk-middle">
          {order === null ? (
            <section className="panel" aria-label={text('console.ticket')}>
              <Empty>{text(chosen === null ? 'console.ticket.none' : 'console.ticket.gone')}</Empty>
            </section>
          ) : (
            <Ticket
              key={order.id}
              order={order}
              recent={recent.get(pairKey(order.pair))}
              accountId={accountId}
              sent={sent}
              leave={toRow}
            />
          )}
        </div>
        <div className="desk-own">
          <Levels assets={assets} pair={order?.pair ?? pairs[0] ?? null} accountId={accountId} />
          <Panel title={text('console.threads')}>
            <Answer of={quotes}>
              {(known) => <Negotiations threads={known} assets={assets} />}
            </Answer>
          </Panel>
          <Panel title={text('console.swaps')}>
            <Answer of={swaps}>
              {(known) => <Swaps swaps={known} assets={assets} accountId={accountId} />}
            </Answer>
          </Panel>
        </div>
      </div>
      <KeyHelp
        isOpen={isHelp}
        onClose={() => setHelp(false)}
        isOn={hasKeys}
        onSwitch={(isOn) => {
          setKeys(isOn);
          remember('localStorage', keysName, isOn ? null : 'off');
        }}
      />
    </>
  );
}
