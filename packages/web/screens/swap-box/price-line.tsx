// Where the number in the box comes from, for one coin, and how far that is from recent swaps. A level
// is no promise: quotes are, and the button asks for them.

import { isFar } from '../../market/prices.ts';
import { Button } from '../../parts/controls.tsx';
import { formatPercent } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { priceText } from './numbers.ts';
import type { Trade } from './use-trade.ts';

export function PriceLine({ trade }: { trade: Trade }) {
  const { pair, prices, estimate } = trade;
  if (pair === null) return null;
  if (prices.isLoading) return <span className="skeleton">{text('common.loading')}</span>;
  if (prices.error !== null && estimate.price === null) {
    return (
      <>
        {text('swap_box.price.failed')}{' '}
        <Button kind="quiet" onPress={prices.again}>
          {text('failed.again')}
        </Button>
      </>
    );
  }
  return (
    <>
      <From trade={trade} />
      <Unproven trade={trade} />
      <Doubted trade={trade} />
    </>
  );
}

function From({ trade: { pair, estimate } }: { trade: Trade }) {
  const { price, by, count } = estimate;
  if (pair === null || price === null) return <span>{text('swap_box.price.none')}</span>;
  const { number, of, per } = priceText(pair, price);
  const parts = [
    by === 'recent' || count === 0
      ? text(`swap_box.price.${by === 'recent' ? 'recent' : 'named'}`)
      : text('swap_box.price.best', { count }),
    text('swap_box.price.unit', { number, of, per }),
  ];
  return (
    <>
      <span>{parts.join(' · ')}</span>
      <Against bps={estimate.bps} />
    </>
  );
}

function Against({ bps }: { bps: number | null }) {
  if (bps === null || bps === 0) return null;
  const ink = bps > 0 ? 'good-ink' : isFar(bps) ? 'warn-ink' : '';
  const key = bps > 0 ? 'swap_box.price.better' : 'swap_box.price.worse';
  return (
    <>
      {' · '}
      <span className={ink}>{text(key, { percent: formatPercent(bps) })}</span>
    </>
  );
}

/** Without recent swaps a maker without a record may name any number: it is no price yet. */
function Unproven({ trade: { estimate } }: { trade: Trade }) {
  if (!estimate.isUnproven) return null;
  return <span className="warn-ink swap-doubted">{text('swap_box.price.unproven')}</span>;
}

function Doubted({ trade: { estimate } }: { trade: Trade }) {
  if (estimate.doubted === null) return null;
  const { count, bps } = estimate.doubted;
  return (
    <span className="warn-ink swap-doubted">
      {text('swap_box.price.doubted', { count, percent: formatPercent(bps) })}
    </span>
  );
}
