// The makers that name a price for the amount in the box, with their sizes and records.

import type { Level } from '@parley/sdk/types.ts';
import { Link } from '@tanstack/react-router';
import { isFar } from '../../market/prices.ts';
import { shortRecord } from '../../parts/words.ts';
import { formatPercent } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { type Maker, otherAmount } from './makers.ts';
import { priceText, shortAmount, type Way } from './numbers.ts';
import type { Trade, TradedPair } from './use-trade.ts';

const mostRows = 3;

export function MakersNow({ trade }: { trade: Trade }) {
  const { pair, makers, anyMakers, prices } = trade;
  if (pair === null) return null;
  // Those for other sizes show what there is, by the price of one coin.
  const amount = makers.length > 0 ? trade.amount : null;
  const rows = (makers.length > 0 ? makers : anyMakers).slice(0, mostRows);
  return (
    <section className="swap-makers" aria-labelledby="swap-makers">
      <h2 id="swap-makers">{text('swap_box.makers')}</h2>
      {(prices.isLoading || rows.length > 0) && (
        <table>
          <thead>
            <tr>
              <th scope="col">
                {text(
                  amount === null
                    ? 'swap_box.makers.price'
                    : `swap_box.${pair.isGot ? 'get' : 'give'}`,
                )}
              </th>
              <th scope="col">{text('swap_box.makers.size')}</th>
              <th scope="col">{text('swap_box.makers.record')}</th>
            </tr>
          </thead>
          <tbody>
            {prices.isLoading && <Loading />}
            {rows.map((each) => (
              <tr key={each.level.makerId}>
                <td>
                  {numberOf(each, { ...trade, amount }, pair)}
                  <Far bps={each.bps} />
                </td>
                <td>{sizeText(each.level, pair)}</td>
                <td>{shortRecord(each.level.makerStanding)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {!prices.isLoading && rows.length === 0 && (
        <p className="hint swap-makers-none">
          {text(prices.error === null ? 'swap_box.makers.none' : 'swap_box.price.failed')}
        </p>
      )}
      <p className="hint swap-makers-foot">
        {rows.length > 0 && text('swap_box.makers.why')}{' '}
        <Link to="/markets/$base/$quote" params={{ base: pair.base.id, quote: pair.quote.id }}>
          {text('swap_box.makers.all')}
        </Link>
      </p>
    </section>
  );
}

/** As many rows as there will usually be: what stands below does not move. */
function Loading() {
  const row = (
    <tr>
      <td colSpan={3}>
        <span className="skeleton">{text('common.loading')}</span>
      </td>
    </tr>
  );
  return (
    <>
      {row}
      {row}
      {row}
    </>
  );
}

function numberOf({ price }: Maker, { amount, fee }: Trade, pair: TradedPair): string {
  const { quote, isGot } = pair;
  if (amount === null) {
    const { number } = priceText(pair, price);
    return number;
  }
  const units = otherAmount(price, amount, { isGot, fee });
  return shortAmount(units, quote, isGot ? 'down' : 'up');
}

function Far({ bps }: { bps: number | null }) {
  if (bps === null || !isFar(bps)) return null;
  const key = bps > 0 ? 'swap_box.makers.far_better' : 'swap_box.makers.far_worse';
  return <span className="hint warn-ink">{text(key, { percent: formatPercent(bps) })}</span>;
}

function sizeText({ baseAmount, leastBaseAmount }: Level, { base }: TradedPair): string {
  const shown = (units: string, way: Way) => shortAmount(BigInt(units), base, way);
  const most = `${shown(baseAmount, 'down')}\u00a0${base.symbol}`;
  if (leastBaseAmount === null) return text('swap_box.makers.up_to', { most });
  return `${shown(leastBaseAmount, 'up')} – ${most}`;
}
