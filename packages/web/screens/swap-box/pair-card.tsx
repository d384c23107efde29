// The pair in the box: what it was traded at over a week, and what makers say now.

import { usePairHistory } from '../../market/answers.ts';
import { trendOf } from '../../market/history.ts';
import { readably } from '../../market/pairs.ts';
import { CoinPair } from '../../parts/coin.tsx';
import { PriceChart } from '../../parts/price-chart.tsx';
import { formatChange } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { MakersNow } from './makers-now.tsx';
import { priceText } from './numbers.ts';
import type { Trade, TradedPair } from './use-trade.ts';

const days = 7;

export function PairCard({ trade }: { trade: Trade }) {
  const { pair } = trade;
  if (pair === null) return null;
  return (
    <div className="panel swap-pair">
      <Week pair={pair} trade={trade} />
      <MakersNow trade={trade} />
    </div>
  );
}

function Week({ pair, trade }: { pair: TradedPair; trade: Trade }) {
  const { base: per, quote: of } = readably(pair);
  const { data, error } = usePairHistory({ baseAssetId: per.id, quoteAssetId: of.id }, days);
  const trend = trendOf(data?.points ?? []);
  const { price } = trade.estimate;
  return (
    <>
      <div className="swap-pair-head">
        <CoinPair one={per} other={of} />
        <h2>{`${per.symbol} / ${of.symbol}`}</h2>
        <span className="hint">{text('swap_box.pair.days', { count: days })}</span>
      </div>
      <p className="swap-pair-price">
        {trend !== null && priceText({ base: per, quote: of, isGot: true }, trend.last).number}
        {trend === null && (price === null ? '–' : priceText(pair, price).number)}
        {trend !== null && (
          <small className={trend.changeBps > 0 ? 'good-ink' : 'soft'}>
            {formatChange(trend.changeBps)}
          </small>
        )}
      </p>
      {data === undefined && error !== null ? (
        <div className="price-chart">
          <p className="blank">{text('swap_box.price.failed')}</p>
        </div>
      ) : (
        <PriceChart points={data?.points} base={per} quote={of} days={days} />
      )}
    </>
  );
}
