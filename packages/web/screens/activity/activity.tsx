// The account's swaps: found by state and words, and saved as CSV.

import { pageLimit } from '@parley/core/limits.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Swap } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAssets } from '../../market/answers.ts';
import { market } from '../../market/site.ts';
import { AccountScreen } from '../../parts/account-screen.tsx';
import { announce, Button, Notice, Select, TextField } from '../../parts/controls.tsx';
import { fileName, saveFile } from '../../parts/forms.tsx';
import { Answer, Empty } from '../../parts/page.tsx';
import { Amount, type Column, Table, When } from '../../parts/shown.tsx';
import { chainName } from '../../parts/words.ts';
import { text } from '../../texts/texts.ts';
import { csvOf, foundIn, type Row, rowsOf, type Side, type State, states } from './rows.ts';
import './activity.css';

const mostPages = 50;
const most = mostPages * pageLimit.most;
/** Rows drawn at once. */
const step = 100;

export function Activity() {
  return (
    <AccountScreen title={text('activity.title')}>
      {({ id }) => <Swaps accountId={id} />}
    </AccountScreen>
  );
}

async function allSwaps(signal: AbortSignal) {
  const rows: Swap[] = [];
  let isCut = false;
  const page = (from: object) => market.swaps({ limit: pageLimit.most, ...from }, { signal });
  for await (const { swaps, nextCursor } of pagesOf(mostPages, page)) {
    rows.push(...swaps);
    isCut = nextCursor !== null;
  }
  return { rows, isCut };
}

function Swaps({ accountId }: { accountId: string }) {
  const assets = useAssets();
  const swaps = useQuery({
    queryKey: ['swaps', accountId, 'all'],
    queryFn: ({ signal }) => allSwaps(signal),
    staleTime: 10_000,
  });
  return (
    <>
      <p>{text('activity.what')}</p>
      <Answer of={assets}>
        {(known) => (
          <Answer of={swaps}>
            {({ rows, isCut }) => (
              <>
                {isCut && <Notice kind="info">{text('activity.cut', { most })}</Notice>}
                <Found rows={rowsOf(rows, accountId, known)} />
              </>
            )}
          </Answer>
        )}
      </Answer>
    </>
  );
}

type Filter = { readonly search: string; readonly state: State };
const noFilter: Filter = { search: '', state: 'all' };

function Found({ rows }: { rows: readonly Row[] }) {
  const [{ search, state }, setFilter] = useState<Filter>(noFilter);
  const [shown, setShown] = useState(step);
  const [saved, setSaved] = useState<string | null>(null);
  const found = foundIn(rows, search, state);
  if (rows.length === 0) return <Empty>{text('activity.none')}</Empty>;
  const change = (next: Partial<Filter>) => {
    setFilter({ search, state, ...next });
    setShown(step);
    setSaved(null);
  };
  const save = () => {
    const name = fileName('swaps', 'csv');
    // Spreadsheets read UTF-8 where it is marked.
    saveFile(name, 'text/csv;charset=utf-8', `\ufeff${csvOf(found)}`);
    const said = text('activity.csv.done', { count: found.length, name });
    setSaved(said);
    announce(said);
  };
  return (
    <>
      <search className="row activity-filters">
        <TextField
          label={text('activity.search')}
          hint={text('activity.search.hint')}
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
      <div className="activity-head">
        <p role="status">{text('activity.count', { shown: found.length, all: rows.length })}</p>
        <Button onPress={save}>{text('activity.csv')}</Button>
      </div>
      {saved !== null && <p className="hint">{saved}</p>}
      {found.length === 0 ? (
        <Empty action={<Button onPress={() => change(noFilter)}>{text('activity.clear')}</Button>}>
          {text('activity.none.found')}
        </Empty>
      ) : (
        <List rows={found.slice(0, shown)} />
      )}
      {found.length > shown && (
        <Button onPress={() => setShown(shown + step)}>{text('deliveries.more')}</Button>
      )}
    </>
  );
}

function List({ rows }: { rows: readonly Row[] }) {
  const columns: readonly Column<Row>[] = [
    { label: text('activity.at'), cell: ({ swap }) => <When at={swap.createdAt} /> },
    {
      label: text('activity.gave'),
      number: true,
      cell: ({ gives }) => <OneSide side={gives} />,
    },
    {
      label: text('activity.got'),
      number: true,
      cell: ({ gets }) => <OneSide side={gets} />,
    },
    {
      label: text('activity.state'),
      cell: ({ swap }) => text(`activity.${swap.status}`),
    },
    {
      label: text('activity.swap'),
      cell: ({ id }) => (
        <Link to="/swaps/$id" params={{ id }}>
          {id.slice(0, 13)}…
        </Link>
      ),
    },
  ];
  return <Table caption={text('activity.title')} columns={columns} rows={rows} />;
}

function OneSide({ side: { units, decimals, symbol, chain } }: { side: Side }) {
  return (
    <>
      {decimals === null ? (
        <code>{`${units} ${symbol}`}</code>
      ) : (
        <Amount units={units} decimals={decimals} symbol={symbol} most={8} />
      )}{' '}
      <span className="hint">{chainName(chain)}</span>
    </>
  );
}
