// One's own requests for quotes that have not ended.

import { pageLimit } from '@parley/core/limits.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { pagesOf } from '@parley/sdk/pages.ts';
import type { Asset, Rfq } from '@parley/sdk/types.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useAssets } from '../../market/answers.ts';
import { market } from '../../market/site.ts';
import { Notice } from '../../parts/controls.tsx';
import { Answer, Empty, Screen } from '../../parts/page.tsx';
import { AssetAmount, Countdown, Table } from '../../parts/shown.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { assetAmountText } from '../../parts/words.ts';
import { secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { sidesOfOrder } from './views.ts';
import './orders.css';

const mostPages = 20;

export function Orders() {
  return (
    <Screen title={text('orders.title')}>
      <SignedIn>{() => <Own />}</SignedIn>
    </Screen>
  );
}

function Own() {
  const assets = useAssets();
  const orders = useQuery({
    queryKey: ['rfqs', 'own'],
    queryFn: async ({ signal }) => {
      const found: Rfq[] = [];
      const page = (from: object) =>
        market.rfqs({ own: true, limit: pageLimit.most, ...from }, { signal });
      for await (const { rfqs } of pagesOf(mostPages, page)) found.push(...rfqs);
      return found;
    },
    refetchInterval: 5_000,
  });
  return (
    <Answer of={orders}>
      {(own) => (
        <>
          {assets.error !== null && <Notice kind="warn">{messageOf(assets.error)}</Notice>}
          {own.length === 0 ? (
            <Empty
              action={
                <Link to="/" className="button main">
                  {text('orders.empty.action')}
                </Link>
              }
            >
              {text('orders.empty')}
            </Empty>
          ) : (
            <List rfqs={own} assets={assets.data ?? []} />
          )}
          <p className="hint">{text('orders.ended')}</p>
        </>
      )}
    </Answer>
  );
}

function List({ rfqs, assets }: { rfqs: readonly Rfq[]; assets: readonly Asset[] }) {
  const named = (id: string) => assets.find((each) => each.id === id);
  const side = (rfq: Rfq, which: 'gives' | 'gets') => {
    const { assetId, amount } = sidesOfOrder(rfq)[which];
    const asset = named(assetId);
    if (amount !== null) return <AssetAmount units={amount} asset={asset} withChain />;
    const ask = rfq.askAmount;
    return (
      <>
        {asset === undefined ? '' : `${asset.symbol}, `}
        {ask === null
          ? text('orders.quotes_decide')
          : text('orders.asking', { amount: assetAmountText(BigInt(ask), asset) })}
      </>
    );
  };
  return (
    <Table
      caption={text('orders.title')}
      rows={rfqs}
      columns={[
        { label: text('orders.give'), cell: (rfq) => side(rfq, 'gives') },
        { label: text('orders.get'), cell: (rfq) => side(rfq, 'gets') },
        {
          label: text('orders.status'),
          cell: ({ status, visibility }) => (
            <>
              {text(`orders.status.${status}`)}
              {visibility === 'private' && (
                <span className="soft"> · {text('orders.visibility.private')}</span>
              )}
            </>
          ),
        },
        {
          label: text('orders.closes'),
          cell: ({ expiresAt }) => <Countdown at={secondsOf(expiresAt)} />,
        },
        {
          label: text('order.col.open'),
          cell: (rfq) => {
            const { gives } = sidesOfOrder(rfq);
            const base = named(rfq.baseAssetId);
            const what = gives.amount === null ? base?.symbol : assetAmountText(gives.amount, base);
            return (
              <Link
                to="/orders/$id"
                params={{ id: rfq.id }}
                aria-label={text('orders.open_order.of', { what: what ?? '' })}
              >
                {text('orders.open_order')}
              </Link>
            );
          },
        },
      ]}
    />
  );
}
