// Quotes side by side, by what the taker receives or pays.

import type { Asset } from '@parley/sdk/types.ts';
import { Link } from '@tanstack/react-router';
import type { Offer } from '../../market/offers.ts';
import { assetAmountText } from '../../parts/amount-text.ts';
import { AssetAmount } from '../../parts/asset-amount.tsx';
import { Countdown } from '../../parts/clock.tsx';
import { recordText } from '../../parts/record.ts';
import { Table } from '../../parts/table.tsx';
import { formatPercent } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';

type OffersProps = {
  readonly offers: readonly Offer[];
  readonly quote: Asset | undefined;
  /** Whether the taker is paid in the asset of the price. */
  readonly isGot: boolean;
};

export function Offers({ offers, quote, isGot }: OffersProps) {
  return (
    <Table
      caption={text('order.quotes')}
      rows={offers}
      keyOf={({ thread }) => thread.id}
      columns={[
        {
          key: 'amount',
          label: text(isGot ? 'order.col.get' : 'order.col.give'),
          cell: (offer) => (
            <>
              {offer.quoteAmount === null ? (
                text('order.unknown')
              ) : (
                <AssetAmount units={offer.quoteAmount} asset={quote} />
              )}
              {isBest(offers, offer) && <span className="order-best">{text('order.best')}</span>}
            </>
          ),
        },
        {
          key: 'recent',
          label: text('order.col.recent'),
          cell: ({ advantageBps }) => <Against bps={advantageBps} />,
        },
        {
          key: 'maker',
          label: text('order.col.maker'),
          cell: ({ thread }) => recordText(thread.makerStanding),
        },
        {
          key: 'move',
          label: text('order.col.move'),
          cell: (offer) => <Move offer={offer} quote={quote} />,
        },
        {
          key: 'open',
          label: text('order.col.open'),
          cell: ({ thread, quoteAmount }) => (
            <Link
              to="/deals/$id"
              params={{ id: thread.id }}
              className="button"
              aria-label={text('order.view.of', {
                amount: assetAmountText(quoteAmount ?? BigInt(thread.quoteAmount), quote),
              })}
            >
              {text('order.view')}
            </Link>
          ),
        },
      ]}
    />
  );
}

/** The first of several: alone, "best" says nothing. */
function isBest(offers: readonly Offer[], offer: Offer): boolean {
  const { is } = offer.standing;
  return offers.length > 1 && offers[0] === offer && is !== 'closed' && is !== 'price_over';
}

type MoveProps = { readonly offer: Offer; readonly quote: Asset | undefined };

/** The party whose move it is, and for how long the price still holds. */
function Move({ offer: { standing, countered }, quote }: MoveProps) {
  if (standing.is === 'my_price') {
    return <>{text('order.move.my_price', { amount: assetAmountText(countered ?? 0n, quote) })}</>;
  }
  const said = text(`order.move.${standing.is}`);
  if (standing.is !== 'their_price' || standing.holdsUntilMs === null) return <>{said}</>;
  return (
    <>
      {said} <span className="soft">{text('order.holds')}</span>{' '}
      <Countdown at={Math.floor(standing.holdsUntilMs / 1_000)} />
    </>
  );
}

function Against({ bps }: { readonly bps: number | null }) {
  if (bps === null) return <span className="soft">{text('order.unknown')}</span>;
  if (bps === 0) return <>{text('order.even')}</>;
  const percent = formatPercent(bps);
  return (
    <span className={bps > 0 ? 'good-ink' : 'warn-ink'}>
      {text(bps > 0 ? 'order.better' : 'order.worse', { percent })}
    </span>
  );
}
