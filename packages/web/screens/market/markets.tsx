// The pairs that are traded, for everybody: what they were swapped at of late, and what makers say
// that they would quote.

import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAssets, usePairs } from '../../market/answers.ts';
import { type Pair, type PairRow, pairRows, type Quoted } from '../../market/pairs.ts';
import { CoinPair } from '../../parts/coin.tsx';
import { TextField } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Answer, Empty, Screen } from '../../parts/page.tsx';
import { priceText } from '../../parts/price-chart.tsx';
import { type Column, Table } from '../../parts/shown.tsx';
import { chainName, hasWords } from '../../parts/words.ts';
import { formatPercent } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import './market.css';

/** A list that is seen whole needs no search. */
const mostWithoutSearch = 8;

export function Markets() {
  const pairs = usePairs();
  const assets = useAssets();
  const book = (
    <Link to="/book" className="button">
      <Icon name="makers" />
      {text('market.book')}
    </Link>
  );
  return (
    <Screen title={text('market.title')} aside={book}>
      <p className="soft">{text('market.what')}</p>
      <Answer of={assets}>
        {(known) => (
          <Answer of={pairs}>
            {({ pairs: listed }) => <Pairs rows={pairRows(listed, known)} />}
          </Answer>
        )}
      </Answer>
    </Screen>
  );
}

function Pairs({ rows }: { rows: readonly PairRow[] }) {
  const [search, setSearch] = useState('');
  const shown = rows.filter((each) => hasWords(saidOf(each), search));
  if (rows.length === 0) return <NoPairs />;
  return (
    <>
      {rows.length > mostWithoutSearch && (
        <TextField
          label={text('market.search')}
          value={search}
          onChange={setSearch}
          type="search"
          autoComplete="off"
          maxLength={100}
        />
      )}
      {shown.length === 0 ? (
        <Empty>{text('market.none')}</Empty>
      ) : (
        <div className="panel market-pairs">
          <Table caption={text('market.title')} columns={columns()} rows={shown} />
        </div>
      )}
      <p className="hint">{text('market.hint')}</p>
    </>
  );
}

function NoPairs() {
  const box = (
    <Link to="/" className="button main">
      {text('market.empty.action')}
    </Link>
  );
  return <Empty action={box}>{text('market.empty')}</Empty>;
}

function saidOf({ base, quote }: Pair): string {
  return [base, quote]
    .map(({ symbol, chain, address }) => `${symbol} ${chain} ${chainName(chain)} ${address}`)
    .join(' ');
}

/** `BTC / USDC` with its marks, and the chains that they are on. */
function Name({ base, quote }: Pair) {
  return (
    <span className="market-name">
      <CoinPair one={base} other={quote} size={30} />
      <span>
        <Link to="/markets/$base/$quote" params={{ base: base.id, quote: quote.id }}>
          {`${base.symbol} / ${quote.symbol}`}
        </Link>
        <span className="hint">{`${chainName(base.chain)} · ${chainName(quote.chain)}`}</span>
      </span>
    </span>
  );
}

function Level({ level, of }: { level: Quoted | null; of: Pair }) {
  if (level === null) return <span className="soft">–</span>;
  if (!level.isFar) return <>{priceText(level, of.base, of.quote)}</>;
  return <span className="chip warn">{text('market.far')}</span>;
}

const columns = (): readonly Column<PairRow>[] => [
  { label: text('market.pair'), cell: (row) => <Name {...row} /> },
  {
    label: text('market.price'),
    number: true,
    cell: ({ median, base, quote }) =>
      median === null ? (
        <span className="soft">{text('market.price.none')}</span>
      ) : (
        <strong>{priceText(median, base, quote)}</strong>
      ),
  },
  { label: text('market.bid'), number: true, cell: (row) => <Level level={row.bid} of={row} /> },
  { label: text('market.ask'), number: true, cell: (row) => <Level level={row.ask} of={row} /> },
  {
    label: text('market.spread'),
    number: true,
    cell: ({ spreadBps }) => (spreadBps === null ? '–' : formatPercent(spreadBps)),
  },
  { label: text('market.makers'), number: true, cell: ({ makers }) => makers },
  { label: text('market.swaps'), number: true, cell: ({ agreements }) => agreements },
];
