// The public requests for quotes, live. A maker quotes one on its own screen, or by keyboard in the
// console.

import type { Asset, Rfq } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useAssets } from '../../market/assets.ts';
import { market } from '../../market/client.ts';
import { useSession } from '../../market/session.ts';
import { Answer, Empty } from '../../parts/answer.tsx';
import { AssetAmount } from '../../parts/asset-amount.tsx';
import { Countdown } from '../../parts/clock.tsx';
import { TextField } from '../../parts/field.tsx';
import { assetName, chainName } from '../../parts/names.ts';
import { useNow } from '../../parts/now.ts';
import { Screen } from '../../parts/screen.tsx';
import { Select } from '../../parts/select.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { text } from '../../texts/texts.ts';
import { type Filter, filtered, type Row, rowsOf, type Side } from './rows.ts';
import './book.css';

const pageSize = 100;
/** More are found by the console's feed; a page that asks for all would ask all day. */
const mostPages = 5;
/** Between two looks at a page: 20 requests of a budget of hundreds in a minute. */
const pageMs = 3_000;

type Listing = { readonly rfqs: readonly Rfq[]; readonly isWhole: boolean; readonly pages: number };

async function look(signal: AbortSignal): Promise<Listing> {
  const found = new Map<string, Rfq>();
  let cursor: string | null = null;
  let pages = 0;
  do {
    const more: { cursor?: string } = cursor === null ? {} : { cursor };
    const page = await market.rfqs({ limit: pageSize, ...more }, { signal });
    // An entry that moved between two pages is there twice.
    for (const rfq of page.rfqs) found.set(rfq.id, rfq);
    cursor = page.nextCursor;
    pages += 1;
  } while (cursor !== null && pages < mostPages);
  return { rfqs: [...found.values()], isWhole: cursor === null, pages };
}

export function Book() {
  return (
    <Screen title={text('book.title')}>
      <p className="soft">{text('book.what')}</p>
      <SignedIn>{() => <Open />}</SignedIn>
    </Screen>
  );
}

function Open() {
  const assets = useAssets();
  const listing = useQuery({
    queryKey: ['book'],
    queryFn: ({ signal }) => look(signal),
    refetchInterval: ({ state }) => pageMs * (state.data?.pages ?? 1),
  });
  return (
    <Answer of={assets}>
      {(known) => <Answer of={listing}>{(found) => <Rows {...found} assets={known} />}</Answer>}
    </Answer>
  );
}

function Rows({ rfqs, isWhole, assets }: Listing & { readonly assets: readonly Asset[] }) {
  const session = useSession();
  const mine = session.status === 'account' ? session.account.id : null;
  const now = useNow();
  const [filter, setFilter] = useState<Filter>({ chain: '', word: '' });
  const rows = useMemo(() => rowsOf(rfqs, assets, { mine, now }), [rfqs, assets, mine, now]);
  const shown = filtered(rows, filter);
  return (
    <>
      <Filters assets={assets} filter={filter} onChange={setFilter} />
      {rows.length === 0 && (
        <Empty
          action={
            <Link className="button main" to="/">
              {text('book.empty.action')}
            </Link>
          }
        >
          {text('book.empty')}
        </Empty>
      )}
      {rows.length > 0 && shown.length === 0 && <Empty>{text('book.none')}</Empty>}
      {shown.length > 0 && (
        <Table
          caption={text('book.title')}
          columns={columns()}
          rows={shown}
          keyOf={({ id }) => id}
        />
      )}
      <p className="hint" role="status">
        {text(isWhole ? 'book.count' : 'book.newest', { shown: shown.length, all: rows.length })}
      </p>
    </>
  );
}

type FiltersProps = {
  readonly assets: readonly Asset[];
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
};

function Filters({ assets, filter, onChange }: FiltersProps) {
  const chains = [...new Set(assets.map(({ chain }) => chain))].sort();
  return (
    <search className="row book-filters">
      <Select
        label={text('book.chain')}
        value={filter.chain}
        onChange={(chain) => onChange({ ...filter, chain })}
        options={[
          { value: '', label: text('book.chain.all') },
          ...chains.map((chain) => ({ value: chain, label: chainName(chain) })),
        ]}
      />
      <TextField
        label={text('book.word')}
        value={filter.word}
        onChange={(word) => onChange({ ...filter, word })}
        type="search"
        autoComplete="off"
        maxLength={100}
      />
    </search>
  );
}

/** An amount where one is named; else what quotes will name. */
function SideOf({ side }: { readonly side: Side }) {
  if (side.amount !== null) return <AssetAmount units={side.amount} asset={side.asset} withChain />;
  const name = side.asset === undefined ? text('book.unknown') : assetName(side.asset);
  return <>{text('book.by_quotes', { asset: name })}</>;
}

const columns = (): readonly Column<Row>[] => [
  { key: 'gives', label: text('book.gives'), cell: ({ gives }) => <SideOf side={gives} /> },
  { key: 'wants', label: text('book.wants'), cell: ({ wants }) => <SideOf side={wants} /> },
  {
    key: 'price',
    label: text('book.price'),
    number: true,
    cell: ({ price }) => (price === null ? text('book.no_price') : text('book.price.of', price)),
  },
  {
    key: 'closes',
    label: text('book.closes'),
    number: true,
    cell: ({ closesAt }) => <Countdown at={closesAt} />,
  },
  {
    key: 'go',
    label: text('book.answer'),
    cell: ({ id, isMine, gives, wants }) => {
      const names = [gives.asset, wants.asset].map((each) => each?.symbol ?? text('book.unknown'));
      const [give = '', want = ''] = names;
      const about = text('book.go.about', { give, want });
      return (
        <Link to="/orders/$id" params={{ id }} aria-label={isMine ? undefined : about}>
          {text(isMine ? 'book.mine' : 'book.go')}
        </Link>
      );
    },
  },
];
