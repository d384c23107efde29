// The levels of all makers on one pair as a ladder, the own ones marked, and the spread between the
// best two.

import type { useLevels } from '../../market/answers.ts';
import { type Depth, depthOf, type Pair, spreadOf } from '../../market/pairs.ts';
import type { Price } from '../../market/prices.ts';
import { CoinPair } from '../../parts/coin.tsx';
import { Answer } from '../../parts/page.tsx';
import { priceNumber } from '../../parts/words.ts';
import { formatAmount } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { bpsText } from './shown.ts';

const mostRungs = 6;
const most = 6;

type LadderProps = {
  bids: ReturnType<typeof useLevels>;
  asks: ReturnType<typeof useLevels>;
  pair: Pair;
  accountId: string;
  median: Price | null;
};

export function Ladder({ bids, asks, pair, accountId, median }: LadderProps) {
  return (
    <>
      <p className="ladder-pair">
        <CoinPair one={pair.base} other={pair.quote} />
        <strong>
          {pair.base.symbol} / {pair.quote.symbol}
        </strong>
      </p>
      <Answer of={bids}>
        {({ levels: bought }) => (
          <Answer of={asks}>
            {({ levels: sold }) => (
              <Rungs
                bids={depthOf(bought, median).slice(0, mostRungs)}
                asks={depthOf(sold, median).slice(0, mostRungs)}
                pair={pair}
                accountId={accountId}
                median={median}
              />
            )}
          </Answer>
        )}
      </Answer>
    </>
  );
}

type RungsProps = {
  /** The best first. */
  bids: readonly Depth[];
  asks: readonly Depth[];
  pair: Pair;
  accountId: string;
  median: Price | null;
};

function Rungs({ bids, asks, pair, accountId, median }: RungsProps) {
  if (bids.length === 0 && asks.length === 0) {
    return <p className="hint">{text('console.ladder.empty')}</p>;
  }
  const deepest = [...bids, ...asks].reduce((deep, { sum }) => (sum > deep ? sum : deep), 1n);
  const [bid] = bids;
  const [ask] = asks;
  const spread = spreadOf(bid?.price ?? null, ask?.price ?? null);
  const row = (side: 'bid' | 'ask') => (rung: Depth) => (
    <RungRow
      key={rung.id}
      side={side}
      rung={rung}
      pair={pair}
      isOwn={rung.level.makerId === accountId}
      share={Number((rung.sum * 100n) / deepest)}
    />
  );
  return (
    <div className="ladder">
      <ol aria-label={text('console.ladder.asks')}>{asks.toReversed().map(row('ask'))}</ol>
      <p className="ladder-middle hint">
        <span>
          {bid === undefined || ask === undefined
            ? text('console.ladder.one_side')
            : text('console.ladder.spread', {
                bps: spread === null ? '–' : bpsText(spread).replace('+', ''),
              })}
        </span>
        {median !== null && (
          <span>{text('console.ladder.median', { price: priceNumber(median, pair) })}</span>
        )}
      </p>
      <ol aria-label={text('console.ladder.bids')}>{bids.map(row('bid'))}</ol>
    </div>
  );
}

type RungRowProps = {
  side: 'bid' | 'ask';
  rung: Depth;
  pair: Pair;
  isOwn: boolean;
  /** Hundredths of the deepest rung. */
  share: number;
};

function RungRow({ side, rung: { price }, pair, isOwn, share }: RungRowProps) {
  return (
    <li className={isOwn ? `${side} own` : side}>
      <span className="rung-bar" style={{ inlineSize: `${share}%` }} />
      <span className={price.isFar ? 'soft' : 'rung-price'}>{priceNumber(price, pair)}</span>
      {isOwn && <span className="chip good">{text('console.ladder.own')}</span>}
      <span>
        {formatAmount(price.baseAmount, pair.base.decimals, { most })}&nbsp;{pair.base.symbol}
      </span>
    </li>
  );
}
