// One pair, for everybody: its price and chart, what makers say that they would quote, and the last
// public swaps.

import type { Agreement, Asset, Level } from '@parley/sdk/types.ts';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import {
  type Days,
  priceOf,
  useAssets,
  useLevels,
  usePairHistory,
  usePairs,
  usePrice,
} from '../../market/answers.ts';
import { type Trend, trendOf } from '../../market/history.ts';
import {
  boxHash,
  type Depth,
  depthOf,
  type Pair,
  pairRows,
  quotedOf,
  readably,
  spreadOf,
} from '../../market/pairs.ts';
import { bestLevel, type Price, priceIn } from '../../market/prices.ts';
import { ownLink } from '../../parts/box-link.ts';
import { CoinPair } from '../../parts/coin.tsx';
import { Panel } from '../../parts/controls.tsx';
import { Fiat } from '../../parts/fiat.tsx';
import { Answer, Empty, Failed, Loading, Screen } from '../../parts/page.tsx';
import { PriceChart, priceText } from '../../parts/price-chart.tsx';
import { Amount, type Column, Table, When } from '../../parts/shown.tsx';
import { chainName, estimateText, recordText } from '../../parts/words.ts';
import { formatAmount, formatChange, formatPercent } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import './market.css';

export function MarketPair() {
  const ids = useParams({ from: '/markets/$base/$quote' });
  const assets = useAssets();
  return (
    <Answer of={assets}>
      {(known) => {
        const base = known.find(({ id }) => id === ids.base);
        const quote = known.find(({ id }) => id === ids.quote);
        if (base === undefined || quote === undefined || base.chain === quote.chain) {
          return <Missing />;
        }
        return <Shown key={`${base.id} ${quote.id}`} pair={readably({ base, quote })} />;
      }}
    </Answer>
  );
}

function AllPairs() {
  return <Link to="/markets">{text('market.all')}</Link>;
}

function Missing() {
  return (
    <Screen title={text('market.title')} narrow>
      <Empty action={<AllPairs />}>{text('market.missing')}</Empty>
    </Screen>
  );
}

function Shown({ pair }: { pair: Pair }) {
  const { base, quote } = pair;
  const recent = usePrice({ baseAssetId: base.id, quoteAssetId: quote.id });
  const median = priceOf(recent.data);
  const [row] = pairRows(usePairs().data?.pairs ?? [], [base, quote]);
  return (
    <Screen title={`${base.symbol} / ${quote.symbol}`} aside={<AllPairs />}>
      <div className="market-pair">
        <Prices pair={pair} />
        <SwapIt
          pair={pair}
          median={median}
          swaps={row?.agreements ?? recent.data?.agreements.length}
        />
        <Depths pair={pair} median={median} />
        <Panel title={text('market.last')} className="market-last">
          <Answer of={recent}>
            {({ agreements }) => <LastSwaps agreements={agreements} pair={pair} />}
          </Answer>
        </Panel>
      </div>
    </Screen>
  );
}

const spans: readonly Days[] = [1, 7, 30];

function Prices({ pair: { base, quote } }: { pair: Pair }) {
  const [days, setDays] = useState<Days>(7);
  const { data, error, refetch } = usePairHistory(
    { baseAssetId: base.id, quoteAssetId: quote.id },
    days,
  );
  const trend = data === undefined ? null : trendOf(data.points);
  return (
    <section className="panel" aria-label={text('market.chart')}>
      <div className="market-head">
        <div>
          <p className="market-names">
            <CoinPair one={base} other={quote} size={28} />
            <span className="soft">{`${chainName(base.chain)} · ${chainName(quote.chain)}`}</span>
          </p>
          {data === undefined ? (
            <p className="market-now" />
          ) : (
            <Now trend={trend} base={base} quote={quote} />
          )}
        </div>
        <fieldset className="spans">
          <legend className="unseen">{text('market.span')}</legend>
          {spans.map((each) => (
            <label key={each}>
              <input
                type="radio"
                name="span"
                checked={each === days}
                onChange={() => setDays(each)}
              />
              <span>{text('market.days', { count: each })}</span>
            </label>
          ))}
        </fieldset>
      </div>
      {error === null ? (
        <PriceChart points={data?.points} base={base} quote={quote} days={days} />
      ) : (
        <Failed error={error} again={() => void refetch()} />
      )}
    </section>
  );
}

/** The price of the newest swaps, with what it is from the first ones of the chart. */
function Now({ trend, base, quote }: Pair & { trend: Trend | null }) {
  if (trend === null) return <p className="market-now none">{text('market.now.none')}</p>;
  return (
    <p className="market-now">
      {priceText(trend.last, base, quote)}{' '}
      <span className={trend.changeBps < 0 ? 'change soft' : 'change good-ink'}>
        {formatChange(trend.changeBps)}
      </span>{' '}
      <Fiat units={10n ** BigInt(base.decimals)} asset={base} />
    </p>
  );
}

type SwapItProps = {
  pair: Pair;
  median: Price | null;
  /** By the list of pairs: an answer about a price names 50 at most. */
  swaps: number | undefined;
};

function SwapIt({ pair, median, swaps }: SwapItProps) {
  const { base, quote } = pair;
  const bid = useBest(pair, 'sell_base', median);
  const ask = useBest(pair, 'buy_base', median);
  const spread = spreadOf(bid, ask);
  const priced = (price: Price | null) =>
    price === null ? text('market.fact.none') : priceText(price, base, quote);
  const facts = [
    [text('market.price'), priced(median)],
    [text('market.bid'), priced(bid)],
    [text('market.ask'), priced(ask)],
    [text('market.spread'), spread === null ? text('market.fact.none') : formatPercent(spread)],
    [text('market.swaps'), swaps ?? text('market.fact.none')],
  ];
  return (
    <section className="panel market-go" aria-label={text('market.now')}>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <ToBox hash={boxHash(base, quote)} className="button main big">
        {text('market.swap', { give: base.symbol, get: quote.symbol })}
      </ToBox>
      <ToBox hash={boxHash(quote, base)} className="button big">
        {text('market.swap', { give: quote.symbol, get: base.symbol })}
      </ToBox>
    </section>
  );
}

function useBest(pair: Pair, direction: Level['direction'], median: Price | null) {
  const { data } = useLevelsOf(pair, direction);
  return quotedOf(direction, bestLevel(data?.levels ?? [], median), median);
}

function useLevelsOf({ base, quote }: Pair, direction: Level['direction']) {
  return useLevels({ direction, baseAssetId: base.id, quoteAssetId: quote.id });
}

function Depths({ pair, median }: { pair: Pair; median: Price | null }) {
  return (
    <Panel title={text('market.levels')} className="market-levels">
      <div className="market-sides">
        <Side pair={pair} median={median} direction="sell_base" />
        <Side pair={pair} median={median} direction="buy_base" />
      </div>
      <p className="hint">{text('market.levels.why')}</p>
    </Panel>
  );
}

type SideProps = { pair: Pair; median: Price | null; direction: Level['direction'] };

function Side({ pair, median, direction }: SideProps) {
  const { base } = pair;
  const { data, error, refetch } = useLevelsOf(pair, direction);
  const name = text(`market.levels.${direction}`, { symbol: base.symbol });
  return (
    <section className={direction} aria-label={name}>
      <h3>{name}</h3>
      {data === undefined && error === null && <Loading />}
      {error !== null && <Failed error={error} again={() => void refetch()} />}
      {data?.levels.length === 0 && <p className="soft">{text('market.levels.none')}</p>}
      {data !== undefined && data.levels.length > 0 && (
        <Table
          caption={name}
          columns={depthColumns(pair, direction)}
          rows={depthOf(data.levels, median)}
        />
      )}
    </section>
  );
}

type ToBoxProps = { hash: string; className?: string; children: ReactNode };

function ToBox({ hash, ...link }: ToBoxProps) {
  return <Link {...link} to="/" hash={hash} onClick={() => ownLink(hash)} />;
}

const depthColumns = (
  { base, quote }: Pair,
  direction: Level['direction'],
): readonly Column<Depth>[] => [
  {
    label: text('market.level.price'),
    cell: ({ price, share }) => (
      <>
        <span className="depth" style={{ width: `${share}%` }} />
        <strong>{priceText(price, base, quote)}</strong>
      </>
    ),
  },
  {
    label: text('market.level.size'),
    number: true,
    cell: ({ level }) => (
      <ToBox
        hash={
          direction === 'sell_base'
            ? boxHash(base, quote, { of: 'give', units: BigInt(level.baseAmount) })
            : boxHash(quote, base, { of: 'get', units: BigInt(level.baseAmount) })
        }
      >
        {sizeText(level, base)}
      </ToBox>
    ),
  },
  {
    label: text('market.level.record'),
    number: true,
    cell: ({ price, level: { makerStanding: kept } }) => (
      <>
        {price.isFar && <span className="chip warn">{text('market.far')}</span>}{' '}
        <span className="soft">{recordText(kept && { ...kept, medianFundSeconds: null })}</span>
      </>
    ),
  },
];

/** `0.005 – 0.4 BTC`; the least is missing where any amount will do. */
function sizeText({ leastBaseAmount, baseAmount }: Level, base: Asset): string {
  const most = estimateText(BigInt(baseAmount), base);
  if (leastBaseAmount === null) return text('market.level.up_to', { most });
  return `${formatAmount(BigInt(leastBaseAmount), base.decimals, { most: 8 })} – ${most}`;
}

/** The newest of them: the chart has all. */
const mostShown = 10;

function LastSwaps({ agreements, pair }: { agreements: readonly Agreement[]; pair: Pair }) {
  const rows = agreements.slice(0, mostShown).flatMap((each, nth) => {
    const price = priceIn(each);
    return price === null ? [] : [{ ...each, ...price, id: `${nth}` }];
  });
  if (rows.length === 0) return <p className="soft">{text('market.last.none')}</p>;
  return <Table caption={text('market.last')} columns={swapColumns(pair)} rows={rows} />;
}

type SwapRow = Price & Pick<Agreement, 'agreedAt'>;

const swapColumns = ({ base, quote }: Pair): readonly Column<SwapRow>[] => [
  {
    label: text('market.level.price'),
    cell: (row) => <strong>{priceText(row, base, quote)}</strong>,
  },
  {
    label: text('market.last.amount'),
    number: true,
    cell: ({ baseAmount }) => <Amount units={baseAmount} {...base} most={8} />,
  },
  {
    label: text('market.last.when'),
    number: true,
    cell: ({ agreedAt }) => (
      <span className="soft">
        <When at={agreedAt} />
      </span>
    ),
  },
];
