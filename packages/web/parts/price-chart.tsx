// The prices of a pair over days: a line, a sentence that says the same, and the point under the
// pointer. It has its height from the beginning, so that nothing moves when it is there.

import type { Asset } from '@parley/sdk/types.ts';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { now } from '../market/config.ts';
import { drawn, type HistoryPoint, seenOf, trendOf } from '../market/history.ts';
import type { Price } from '../market/prices.ts';
import { axisNumber, axisTime, localTime } from '../texts/people.ts';
import { text } from '../texts/texts.ts';
import { priceNumber } from './words.ts';
import './price-chart.css';

type PriceChartProps = {
  /** undefined: they are asked for. */
  points: readonly HistoryPoint[] | undefined;
  /** As the points have them. */
  base: Asset;
  quote: Asset;
  days: number;
};

export function PriceChart({ points, base, quote, days }: PriceChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const said = useRef<HTMLParagraphElement>(null);
  const seen = useMemo(() => seenOf(points ?? []), [points]);
  useEffect(() => {
    if (seen.length === 0) return;
    const whole = new AbortController();
    let leave = () => {};
    // Without it the sentence is there all the same.
    import('./price-drawing.ts').then(
      ({ draw }) => {
        if (whole.signal.aborted || place.current === null) return;
        leave = draw(place.current, {
          at: seen.map(({ at }) => at),
          prices: seen.map(({ price }) => drawn(price, base, quote)),
          seconds: days * 86_400,
          priceText: axisNumber,
          timeText: (at) => axisTime(at, days),
          onPoint: (index) => {
            const point = index === null ? undefined : seen[index];
            if (said.current === null) return;
            said.current.textContent =
              point === undefined
                ? ''
                : `${priceText(point.price, base, quote)} · ${localTime(point.at, now())}`;
          },
        });
      },
      () => {},
    );
    return () => {
      whole.abort();
      leave();
    };
  }, [seen, base, quote, days]);
  return (
    <div className="price-chart">
      {points === undefined && <Blank>{text('common.loading')}</Blank>}
      {points !== undefined && seen.length === 0 && (
        <Blank>{text('chart.none', { count: days })}</Blank>
      )}
      {seen.length > 0 && (
        <div ref={place} className="plot" role="img" aria-label={told(points ?? [], base, quote)} />
      )}
      <p ref={said} className="point" aria-hidden="true" />
    </div>
  );
}

function Blank({ children }: { children: ReactNode }) {
  return (
    <p className="blank" role="status">
      {children}
    </p>
  );
}

/** `65 120 USDC`, for one of the base. */
export function priceText(price: Price, base: Asset, quote: Asset): string {
  return `${priceNumber(price, { base, quote })}\u00a0${quote.symbol}`;
}

function told(points: readonly HistoryPoint[], base: Asset, quote: Asset): string {
  const trend = trendOf(points);
  if (trend === null) return '';
  const { first, last, lowest, highest } = trend;
  const values = Object.entries({ first, last, lowest, highest }).map(([name, price]) => [
    name,
    priceText(price, base, quote),
  ]);
  return text('chart.told', { base: base.symbol, ...Object.fromEntries(values) });
}
