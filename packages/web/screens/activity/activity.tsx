// The account's swaps: filtered, searched, and saved as CSV.

import { pageLimit } from '@parley/core/limits.ts';
import type { Asset, Swap } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useAssets } from '../../market/assets.ts';
import { market } from '../../market/client.ts';
import { readAll } from '../../market/pages.ts';
import { AccountScreen } from '../../parts/account-screen.tsx';
import { Amount } from '../../parts/amount.tsx';
import { announce } from '../../parts/announce.ts';
import { Answer, Empty } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { chainName } from '../../parts/names.ts';
import { Notice } from '../../parts/notice.tsx';
import { fileName, saveFile } from '../../parts/save-file.ts';
import { Select } from '../../parts/select.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { text } from '../../texts/texts.ts';
import { csvOf } from './csv.ts';
import {
  type Filter,
  filtered,
  noFilter,
  type Row,
  rowOf,
  type Side,
  type StatusGroup,
  statusGroups,
} from './rows.ts';
import './activity.css';

const most = 5_000;
/** Rows drawn at once. */
const step = 100;

export function Activity() {
  return (
    <AccountScreen title={text('activity.title')}>
      {({ id }) => <Swaps accountId={id} />}
    </AccountScreen>
  );
}

function Swaps({ accountId }: { accountId: string }) {
  const assets = useAssets();
  const swaps = useQuery({
    queryKey: ['swaps', accountId, 'all'],
    queryFn: ({ signal }) => {
      const how = { signal, most, onPage: () => {} };
      return readAll<Swap>(async (cursor, stop) => {
        const page = await market.swaps({ limit: pageLimit.most, cursor }, { signal: stop });
        return { rows: page.swaps, nextCursor: page.nextCursor };
      }, how);
    },
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
                <Found swaps={rows} accountId={accountId} known={known} />
              </>
            )}
          </Answer>
        )}
      </Answer>
    </>
  );
}

type FoundProps = {
  readonly swaps: readonly Swap[];
  readonly accountId: string;
  readonly known: readonly Asset[];
};

function Found({ swaps, accountId, known }: FoundProps) {
  const [filter, setFilter] = useState(noFilter);
  const [shown, setShown] = useState(step);
  const [saved, setSaved] = useState<string | null>(null);
  const rows = useMemo(() => {
    const byId = new Map(known.map((asset) => [asset.id, asset]));
    return swaps.map((swap) => rowOf(swap, accountId, byId));
  }, [swaps, accountId, known]);
  const found = useMemo(() => filtered(rows, filter), [rows, filter]);
  if (rows.length === 0) return <Empty>{text('activity.none')}</Empty>;
  const change = (next: Partial<Filter>) => {
    setFilter({ ...filter, ...next });
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
      <Filters rows={rows} filter={filter} onChange={change} />
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

type FiltersProps = {
  readonly rows: readonly Row[];
  readonly filter: Filter;
  readonly onChange: (next: Partial<Filter>) => void;
};

const groups = Object.keys(statusGroups) as readonly StatusGroup[];

function Filters({ rows, filter, onChange }: FiltersProps) {
  const chains = useMemo(() => {
    return [...new Set(rows.flatMap(({ gives, gets }) => [gives.chain, gets.chain]))].sort();
  }, [rows]);
  return (
    <search className="row activity-filters">
      <TextField
        label={text('activity.search')}
        hint={text('activity.search.hint')}
        type="search"
        value={filter.search}
        onChange={(search) => onChange({ search })}
      />
      <Select
        label={text('activity.status')}
        value={filter.group}
        onChange={(group) => onChange({ group })}
        options={groups.map((value) => ({ value, label: text(`activity.status.${value}`) }))}
      />
      <Select
        label={text('activity.chain')}
        value={filter.chain}
        onChange={(chain) => onChange({ chain })}
        options={[
          { value: '', label: text('activity.chain.any') },
          ...chains.map((value) => ({ value, label: chainName(value) })),
        ]}
      />
      <TextField
        label={text('activity.from')}
        type="date"
        value={filter.from}
        onChange={(from) => onChange({ from })}
      />
      <TextField
        label={text('activity.to')}
        type="date"
        value={filter.to}
        onChange={(to) => onChange({ to })}
      />
    </search>
  );
}

function List({ rows }: { rows: readonly Row[] }) {
  const columns: readonly Column<Row>[] = [
    { key: 'at', label: text('activity.at'), cell: ({ swap }) => <When at={swap.createdAt} /> },
    {
      key: 'gave',
      label: text('activity.gave'),
      number: true,
      cell: ({ gives }) => <OneSide side={gives} />,
    },
    {
      key: 'got',
      label: text('activity.got'),
      number: true,
      cell: ({ gets }) => <OneSide side={gets} />,
    },
    {
      key: 'state',
      label: text('activity.state'),
      cell: ({ swap }) => text(`activity.${swap.status}`),
    },
    {
      key: 'swap',
      label: text('activity.swap'),
      cell: ({ id }) => (
        <Link to="/swaps/$id" params={{ id }}>
          {id.slice(0, 13)}…
        </Link>
      ),
    },
  ];
  return (
    <Table caption={text('activity.title')} columns={columns} rows={rows} keyOf={({ id }) => id} />
  );
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
