// The console's first line: result, exposure, requests that are left, and the feed.

import type { Asset, PairPrice, Swap, Thread } from '@parley/sdk/types.ts';
import { useState } from 'react';
import { priceOf } from '../../market/answers.ts';
import { now } from '../../market/config.ts';
import type { LiveBook } from '../../market/live-book.ts';
import { pairKey } from '../../market/pairs.ts';
import { budget, isLow } from '../../market/site.ts';
import { useLive } from '../../market/use-live.ts';
import { Button } from '../../parts/controls.tsx';
import { useNow } from '../../parts/shown.tsx';
import { amountText } from '../../parts/words.ts';
import { formatAmount } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { exposuresOf } from './exposure.ts';
import { dayMs, medianBefore, type Profit, profitsOf, type Trade, tradesOf } from './pnl.ts';
import { resultText, toneOf } from './shown.ts';

const most = 6;

type TopLineProps = {
  live: LiveBook;
  threads: readonly Thread[];
  swaps: readonly Swap[];
  assets: readonly Asset[];
  accountId: string;
  openedAtMs: number;
  recent: ReadonlyMap<string, PairPrice>;
};

export function TopLine(props: TopLineProps) {
  return (
    <div className="desk-line">
      <Result {...props} />
      <Exposed {...props} />
      <Budget />
      <Feed live={props.live} />
    </div>
  );
}

function Result({ swaps, assets, accountId, openedAtMs, recent }: TopLineProps) {
  const [isSession, setSession] = useState(false);
  const since = isSession ? openedAtMs : now() * 1_000 - dayMs;
  const trades = tradesOf(swaps, accountId, assets, since);
  const priceAt = ({ pair, agreedAtMs }: Trade) => {
    const known = recent.get(pairKey(pair));
    return known === undefined ? null : medianBefore(known, agreedAtMs);
  };
  const priceNow = ({ pair }: Trade) => priceOf(recent.get(pairKey(pair)));
  const realised = profitsOf(trades, priceAt);
  const valued = new Map(profitsOf(trades, priceNow).map((each) => [each.quote.id, each]));
  return (
    <section aria-label={text('console.result')}>
      <h2>
        {text('console.result')}
        <Button kind="quiet" onPress={() => setSession(!isSession)}>
          {text(isSession ? 'console.result.session' : 'console.result.day')}
        </Button>
      </h2>
      {realised.length === 0 && <p className="figure soft">{text('console.result.none')}</p>}
      {realised.map((each) => (
        <ResultIn key={each.quote.id} profit={each} valued={valued.get(each.quote.id)} />
      ))}
      <p className="hint">{text('console.result.what')}</p>
    </section>
  );
}

type ResultInProps = { profit: Profit; valued: Profit | undefined };

function ResultIn({ profit, valued }: ResultInProps) {
  const { quote, units, counted, unknown } = profit;
  return (
    <>
      {counted > 0 && <p className={`figure ${toneOf(units)}`}>{resultText(units, quote)}</p>}
      <p className="hint">
        {text('console.result.count', { count: counted })}
        {valued !== undefined &&
          valued.counted > 0 &&
          ` · ${text('console.result.now', { amount: resultText(valued.units, quote) })}`}
        {unknown > 0 &&
          ` · ${text('console.result.unknown', { count: unknown, symbol: quote.symbol })}`}
      </p>
    </>
  );
}

function Exposed({ threads, swaps, assets, accountId }: TopLineProps) {
  const found = exposuresOf(threads, swaps, { accountId, assets, nowMs: useNow() * 1_000 });
  return (
    <section aria-label={text('console.exposure')}>
      <h2>{text('console.exposure')}</h2>
      {found.length === 0 && <p className="figure soft">{text('console.exposure.none')}</p>}
      {found.length > 0 && (
        <dl className="exposed">
          {found.map(({ asset, quoted, atStake, coming }) => {
            const said = (units: bigint) => formatAmount(units, asset.decimals, { most });
            return (
              <div key={asset.id}>
                <dt>{amountText(quoted + atStake, asset.decimals, asset.symbol)}</dt>
                <dd className="hint">
                  {text('console.exposure.of', {
                    quoted: said(quoted),
                    stake: said(atStake),
                    coming: said(coming),
                  })}
                </dd>
              </div>
            );
          })}
        </dl>
      )}
    </section>
  );
}

function Budget() {
  const left = useLive(budget);
  if (left === null) return null;
  const { remaining, limit, resetSeconds: seconds } = left;
  return (
    <section aria-label={text('console.budget')}>
      <h2>{text('console.budget')}</h2>
      <p className={isLow(left) ? 'figure warn-ink' : 'figure'}>
        {text('console.budget.left', { remaining, limit })}
      </p>
      <meter
        min={0}
        max={limit}
        low={limit / 5}
        value={remaining}
        aria-label={text('console.budget')}
      />
      <p className="hint">
        {text(isLow(left) ? 'console.budget.low' : 'console.budget.back', { seconds })}
      </p>
    </section>
  );
}

function Feed({ live: { state, trouble } }: Pick<TopLineProps, 'live'>) {
  const tone = { live: '', connecting: 'warn', closed: 'bad' }[state];
  return (
    <section aria-label={text('console.feed')}>
      <h2>{text('console.feed')}</h2>
      <p className="figure" role="status">
        <span className={`dot ${tone}`} /> {text(`console.feed.${state}`)}
      </p>
      {trouble !== null && (
        <p className="hint" lang="en">
          {trouble}
        </p>
      )}
    </section>
  );
}
