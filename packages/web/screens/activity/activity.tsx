// Orders and swaps in one list, those that need the person first. A person who is signed out sees the
// swaps of this browser.

import { pageLimit } from '@parley/core/limits.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Rfq, Swap } from '@parley/sdk/types.ts';
import { skipToken, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Engine } from '../../engine/engine.ts';
import { pageEngine } from '../../engine/page.ts';
import type { SwapView } from '../../engine/types.ts';
import { useAssets } from '../../market/answers.ts';
import { useSession } from '../../market/session.ts';
import { market } from '../../market/site.ts';
import { useLive } from '../../market/use-live.ts';
import { CoinPair } from '../../parts/coin.tsx';
import { announce, Button, Notice, Select, TextField } from '../../parts/controls.tsx';
import { fileName, saveFile } from '../../parts/forms.tsx';
import { Empty, Failed, Loading, Screen } from '../../parts/page.tsx';
import { useNow } from '../../parts/shown.tsx';
import { clockText, leftText } from '../../parts/swap/progress.ts';
import { signInPath } from '../../parts/ways/back.ts';
import { text } from '../../texts/texts.ts';
import { type Found, type Item, itemsOf, searched } from './items.ts';
import { csvOf, foundIn, type Row, rowsOf, type State, states } from './rows.ts';
import './activity.css';

const mostPages = 50;
const mostOrderPages = 20;
const most = mostPages * pageLimit.most;
/** Drawn at once. */
const step = 100;
const ordersMs = 5_000;

export function Activity() {
  const session = useSession();
  const account = session.status === 'account' ? session.account : null;
  const of = useAccountList(account?.id ?? null);
  // A browser that keeps nothing has no swaps of its own, and the account's are listed all the same.
  const { data: engine = null, isPending } = useQuery({
    queryKey: ['engine'],
    queryFn: pageEngine,
    staleTime: Number.POSITIVE_INFINITY,
    networkMode: 'always',
  });
  const isWaiting = session.status === 'loading' || isPending || of.isLoading;
  return (
    <Screen title={text('activity.title')} aside={<Restore />}>
      {session.status === 'none' && <SignIn />}
      {session.status === 'failed' && <Failed error={session.error} again={session.again} />}
      {of.error !== null && <Failed error={of.error} again={of.again} />}
      {of.isCut && <Notice kind="info">{text('activity.cut', { most })}</Notice>}
      <List key={account?.id} engine={engine} found={of} isWaiting={isWaiting} />
    </Screen>
  );
}

/** A saved copy of the rescue page knows its own swaps alone. */
export function OwnActivity({ engine }: { engine: Engine }) {
  return (
    <Screen title={text('activity.title')}>
      <List engine={engine} found={nothing} isWaiting={false} isCopy />
    </Screen>
  );
}

const nothing: Omit<Found, 'views'> = { rows: [], orders: [] };

async function allSwaps(signal: AbortSignal) {
  const swaps: Swap[] = [];
  let isCut = false;
  const page = (from: object) => market.swaps({ limit: pageLimit.most, ...from }, { signal });
  for await (const { swaps: found, nextCursor } of pagesOf(mostPages, page)) {
    swaps.push(...found);
    isCut = nextCursor !== null;
  }
  return { swaps, isCut };
}

async function openOrders(signal: AbortSignal) {
  const orders: Rfq[] = [];
  const page = (from: object) =>
    market.rfqs({ own: true, limit: pageLimit.most, ...from }, { signal });
  for await (const { rfqs } of pagesOf(mostOrderPages, page)) orders.push(...rfqs);
  return orders;
}

/** null: signed out. */
function useAccountList(id: string | null) {
  const { data: assets = [] } = useAssets();
  const swaps = useQuery({
    queryKey: ['swaps', id, 'all'],
    queryFn: id === null ? skipToken : ({ signal }) => allSwaps(signal),
    staleTime: 10_000,
  });
  const orders = useQuery({
    queryKey: ['rfqs', 'own', id],
    queryFn: id === null ? skipToken : ({ signal }) => openOrders(signal),
    // Each page is a request of the account's budget.
    refetchInterval: ({ state: { data = [] } }) =>
      ordersMs * Math.max(1, Math.ceil(data.length / pageLimit.most)),
  });
  const again = () => {
    void swaps.refetch();
    void orders.refetch();
  };
  return {
    rows: id === null ? [] : rowsOf(swaps.data?.swaps ?? [], id, assets),
    orders: orders.data ?? [],
    isCut: swaps.data?.isCut ?? false,
    isLoading: swaps.isLoading || orders.isLoading,
    error: swaps.error ?? orders.error,
    again,
  };
}

function SignIn() {
  const way = (
    <Link className="button" to={signInPath('/activity')}>
      {text('session.sign-in')}
    </Link>
  );
  return (
    <Notice kind="info" title={text('session.none')} action={way}>
      {text('activity.signed_out')}
    </Notice>
  );
}

function Restore() {
  return (
    <Link className="chip" to="/rescue">
      {text('swaps.restore')}
    </Link>
  );
}

type ListProps = {
  engine: Engine | null;
  found: Omit<Found, 'views'>;
  isWaiting: boolean;
  isCopy?: boolean;
};

type Filter = { readonly search: string; readonly state: State };
const noFilter: Filter = { search: '', state: 'all' };
const none: readonly SwapView[] = [];
const noViews: Engine['swaps']['all'] = { now: () => none, subscribe: () => () => undefined };
/** So few are seen at a glance. */
const fewItems = 5;

const walletsMs = 3_000;

/** Wallets of the browser that were asked for a payment, by swap. */
function useAskedWallets(engine: Engine | null, views: readonly SwapView[]) {
  const asking = views.filter(({ asks }) => asks.some(({ kind }) => kind === 'pay_by_hand'));
  const ids = asking.map(({ id }) => id);
  const { data = {} } = useQuery({
    queryKey: ['asked wallets', ids],
    queryFn:
      engine === null || ids.length === 0
        ? skipToken
        : async () => {
            const asked = ids.map(async (id) => [id, await engine.byWallet.of(id)] as const);
            return Object.fromEntries(await Promise.all(asked));
          },
    refetchInterval: walletsMs,
    networkMode: 'always',
  });
  return data;
}

function List({ engine, found, isWaiting, isCopy = false }: ListProps) {
  const now = useNow();
  const views = useLive(engine?.swaps.all ?? noViews);
  const { data: assets = [] } = useAssets();
  const [{ search, state }, setFilter] = useState<Filter>(noFilter);
  const [most, setMost] = useState(step);
  const wallets = useAskedWallets(engine, views);
  const all = itemsOf({ ...found, views }, { now: engine?.now() ?? now, assets, wallets });
  const shown = searched(all, search, state);
  if (all.length === 0) return isWaiting ? <Loading /> : <Nothing isCopy={isCopy} />;
  const change = (next: Partial<Filter>) => {
    setFilter({ search, state, ...next });
    setMost(step);
  };
  return (
    <>
      {all.length > fewItems && (
        <search className="row">
          <TextField
            label={text('activity.search')}
            placeholder={text('activity.search.hint')}
            type="search"
            value={search}
            onChange={(typed) => change({ search: typed })}
          />
          <Select
            label={text('activity.state')}
            value={state}
            onChange={(chosen) => change({ state: chosen })}
            options={states.map((value) => ({ value, label: text(`activity.status.${value}`) }))}
          />
        </search>
      )}
      {shown.length === 0 && (
        <Empty action={<Button onPress={() => change(noFilter)}>{text('activity.clear')}</Button>}>
          {text('activity.none.found')}
        </Empty>
      )}
      <Groups items={shown.slice(0, most)} now={now} />
      <div className="activity-foot">
        {shown.length > most && (
          <Button onPress={() => setMost(most + step)}>{text('deliveries.more')}</Button>
        )}
        {all.length > fewItems && (
          <p className="hint" role="status">
            {text('activity.count', { shown: shown.length, all: all.length })}
          </p>
        )}
        {found.rows.length > 0 && <SaveCsv rows={foundIn(found.rows, search, state)} />}
      </div>
      {!isCopy && views.length > 0 && <p className="hint">{text('swaps.only_here')}</p>}
    </>
  );
}

function Nothing({ isCopy }: { isCopy: boolean }) {
  const go = (
    <Link className="button main" to="/">
      {text('activity.none.go')}
    </Link>
  );
  return <Empty action={isCopy ? undefined : go}>{text('activity.none')}</Empty>;
}

function SaveCsv({ rows }: { rows: readonly Row[] }) {
  const [saved, setSaved] = useState<string | null>(null);
  const save = () => {
    const name = fileName('swaps', 'csv');
    // Spreadsheets read UTF-8 where it is marked.
    saveFile(name, 'text/csv;charset=utf-8', `\ufeff${csvOf(rows)}`);
    const said = text('activity.csv.done', { count: rows.length, name });
    setSaved(said);
    announce(said);
  };
  return (
    <>
      <Button onPress={save}>{text('activity.csv')}</Button>
      {saved !== null && <p className="hint">{saved}</p>}
    </>
  );
}

type GroupsProps = { items: readonly Item[]; now: number };

function Groups({ items, now }: GroupsProps) {
  return (['you', 'open', 'ended'] as const).map((group) => {
    const of = items.filter((each) => each.group === group);
    if (of.length === 0) return null;
    return (
      <section key={group} aria-labelledby={`activity-${group}`}>
        <h2 id={`activity-${group}`}>{text(`activity.group.${group}`)}</h2>
        <ul className="activity-list">
          {of.map((each) => (
            <li key={`${each.is} ${each.id}`}>
              <One item={each} now={now} />
            </li>
          ))}
        </ul>
      </section>
    );
  });
}

const tones = { open: '', settled: 'good', refunded: 'warn', expired: '' } as const;

/** The whole row leads to its screen. */
function One({ item, now }: { item: Item; now: number }) {
  const { is, gives, gets, said, group, state, at, due } = item;
  const isSoon = due !== null && due > now;
  return (
    <RowLink item={item}>
      <CoinPair one={gives.coin} other={gets.coin} size={32} />
      <span className="activity-what">
        <strong>
          {gives.amount} <span aria-hidden="true">→</span>
          <span className="unseen"> {text('settlement.title.for')}</span> {gets.amount}
        </strong>
        <span className={group === 'you' ? 'warn-ink' : 'soft'}>{said}</span>
      </span>
      <span className="activity-when">
        {group === 'ended' && (
          <span className={`chip ${tones[state]}`}>{text(`activity.status.${state}`)}</span>
        )}
        {is === 'order' && <span className="chip">{text('activity.order')}</span>}
        <span className="hint">
          {isSoon
            ? text('settlement.left.until', { time: leftText(due - now) })
            : clockText(at, now)}
        </span>
      </span>
    </RowLink>
  );
}

function RowLink({ item: { id, is }, children }: { item: Item; children: ReactNode }) {
  const params = { id };
  if (is === 'order') {
    return (
      <Link className="activity-row" to="/orders/$id" params={params}>
        {children}
      </Link>
    );
  }
  return (
    <Link className="activity-row" to="/swaps/$id" params={params}>
      {children}
    </Link>
  );
}
