// The public requests for quotes, live, and found by words.

import type { Asset } from '@parley/sdk/types.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { LiveBook } from '../market/live-book.ts';
import { text } from '../texts/texts.ts';
import { foundIn, type Row, rowsOf, type Side } from './book-rows.ts';
import { TextField } from './controls.tsx';
import { Empty, Loading } from './page.tsx';
import { AssetAmount, type Column, Countdown, Table } from './shown.tsx';
import { assetName } from './words.ts';

type BookTableProps = {
  live: LiveBook;
  assets: readonly Asset[];
};

export function BookTable({ live, assets }: BookTableProps) {
  const [search, setSearch] = useState('');
  const rows = rowsOf(live.rfqs, assets);
  const shown = foundIn(rows, search);
  return (
    <>
      <State live={live} />
      <TextField
        label={text('book.word')}
        value={search}
        onChange={setSearch}
        type="search"
        autoComplete="off"
        maxLength={100}
      />
      {rows.length === 0 && live.state === 'live' && <Empty>{text('book.empty')}</Empty>}
      {rows.length === 0 && live.state === 'connecting' && <Loading />}
      {rows.length > 0 && shown.length === 0 && <Empty>{text('book.none')}</Empty>}
      {shown.length > 0 && (
        <div className="panel">
          <Table caption={text('book.title')} columns={columns()} rows={shown} />
        </div>
      )}
    </>
  );
}

function State({ live: { state, trouble } }: Pick<BookTableProps, 'live'>) {
  const why = trouble ?? '';
  const words = {
    live: text('book.live'),
    connecting: trouble === null ? text('book.connecting') : text('book.trouble', { why }),
    closed: text('book.closed', { why }),
  };
  return (
    <p role="status" className={state === 'live' ? 'good-ink' : 'warn-ink'}>
      {state === 'live' && <span className="live-dot" aria-hidden="true" />} {words[state]}
    </p>
  );
}

/** An amount where one is named; else what quotes will name. */
function SideOf({ side: { amount, asset } }: { side: Side }) {
  if (amount !== null) return <AssetAmount units={amount} asset={asset} withChain />;
  return <>{text('book.by_quotes', { asset: assetName(asset) })}</>;
}

const columns = (): readonly Column<Row>[] => [
  { label: text('book.gives'), cell: ({ gives }) => <SideOf side={gives} /> },
  { label: text('book.wants'), cell: ({ wants }) => <SideOf side={wants} /> },
  {
    label: text('book.price'),
    number: true,
    cell: ({ price }) => (price === null ? text('book.no_price') : text('book.price.of', price)),
  },
  {
    label: text('book.closes'),
    number: true,
    cell: ({ closesAt }) => <Countdown at={closesAt} />,
  },
  {
    label: text('book.answer'),
    cell: ({ id, gives, wants }) => {
      const about = { give: gives.asset.symbol, want: wants.asset.symbol };
      const label = text('book.go.about', about);
      return (
        <Link to="/orders/$id" params={{ id }} aria-label={label}>
          {text('book.go')}
        </Link>
      );
    },
  },
];
