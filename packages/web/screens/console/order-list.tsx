// The open orders of others, live: filtered, newest first, and each against recent swaps.

import type { PairPrice } from '@parley/sdk/types.ts';
import { priceOf } from '../../market/answers.ts';
import { type Pair, pairKey } from '../../market/pairs.ts';
import { CoinPair } from '../../parts/coin.tsx';
import { AmountField, Select, TextField } from '../../parts/controls.tsx';
import { Empty, Loading } from '../../parts/page.tsx';
import { useNow } from '../../parts/shown.tsx';
import { chainName, priceNumber, typedAmount } from '../../parts/words.ts';
import { formatDuration, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { askedBps, type Filter, type Order } from './orders.ts';
import { bpsText, sideText, toneOf } from './shown.ts';

export type Typed = Omit<Filter, 'least'> & { readonly least: string };
export const unfiltered: Typed = { words: '', pair: '', least: '', whose: 'all' };

export function filterOf({ least, ...typed }: Typed, pairs: readonly Pair[]): Filter {
  const pair = pairs.find((each) => pairKey(each) === typed.pair);
  return { ...typed, least: pair === undefined ? null : typedAmount(least, pair.base).units };
}

const whose = ['all', 'new', 'mine'] as const;

type FiltersProps = {
  typed: Typed;
  pairs: readonly Pair[];
  onChange: (typed: Typed) => void;
};

export function Filters({ typed, pairs, onChange }: FiltersProps) {
  const pair = pairs.find((each) => pairKey(each) === typed.pair);
  const nameOf = ({ base, quote }: Pair) =>
    `${base.symbol} (${chainName(base.chain)}) / ${quote.symbol} (${chainName(quote.chain)})`;
  return (
    <div className="row desk-filters">
      <TextField
        label={text('console.filter.words')}
        type="search"
        autoComplete="off"
        maxLength={100}
        value={typed.words}
        onChange={(words) => onChange({ ...typed, words })}
      />
      <Select
        label={text('console.filter.pair')}
        value={pair === undefined ? '' : typed.pair}
        onChange={(key) => onChange({ ...typed, pair: key, least: '' })}
        options={[
          { value: '', label: text('console.filter.pair.all') },
          ...pairs.map((each) => ({ value: pairKey(each), label: nameOf(each) })),
        ]}
      />
      <Select
        label={text('console.filter.whose')}
        value={typed.whose}
        onChange={(next) => onChange({ ...typed, whose: next })}
        options={whose.map((each) => ({
          value: each,
          label: text(`console.filter.whose.${each}`),
        }))}
      />
      {pair !== undefined && (
        <AmountField
          label={text('console.filter.least')}
          symbol={pair.base.symbol}
          decimals={pair.base.decimals}
          value={typed.least}
          onChange={(least) => onChange({ ...typed, least })}
        />
      )}
    </div>
  );
}

type OrderListProps = {
  /** After the filters. */
  orders: readonly Order[];
  /** Before them. */
  count: number;
  isConnecting: boolean;
  recent: ReadonlyMap<string, PairPrice>;
  chosen: string | null;
  /** Orders that came later flash once. */
  openedAtMs: number;
  /** `byKey`: the person goes on with the keyboard. */
  choose: (id: string, byKey: boolean) => void;
};

export function OrderList(props: OrderListProps) {
  const { orders, count, isConnecting, recent, chosen, openedAtMs, choose } = props;
  if (count === 0 && isConnecting) return <Loading />;
  if (orders.length === 0) {
    return <Empty>{text(count === 0 ? 'console.orders.empty' : 'console.orders.none')}</Empty>;
  }
  return (
    <ul className="orders">
      {orders.map((order) => (
        <li key={order.id} className={isAfter(order, openedAtMs) ? 'came' : undefined}>
          <button
            type="button"
            className="order"
            id={`order-${order.id}`}
            aria-pressed={order.id === chosen}
            onClick={({ detail }) => choose(order.id, detail === 0)}
          >
            <OrderRow order={order} recent={recent.get(pairKey(order.pair))} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function isAfter({ rfq }: Order, ms: number): boolean {
  return Date.parse(rfq.createdAt) > ms;
}

type OrderRowProps = { order: Order; recent: PairPrice | undefined };

function OrderRow({ order, recent }: OrderRowProps) {
  const { pair, gives, gets, asked, thread, rfq } = order;
  const bps = askedBps(order, priceOf(recent));
  return (
    <>
      <CoinPair one={gets.asset} other={gives.asset} />
      <span className="order-what">
        <strong>{sideText(gets)}</strong>{' '}
        <span className="soft">{text('console.order.for', { gives: sideText(gives) })}</span>
      </span>
      <span className="order-price">
        {thread !== null && <span className="chip good">{text('console.order.quoted')}</span>}
        <span>{asked === null ? text('console.order.open') : priceNumber(asked, pair)}</span>
        {bps !== null && <span className={toneOf(bps)}>{bpsText(bps)}</span>}
      </span>
      <span className="order-times soft">
        <span>
          {chainName(gets.asset.chain)} · {chainName(gives.asset.chain)}
        </span>
        <Times rfq={rfq} />
      </span>
    </>
  );
}

const nearSeconds = 120;

function Times({ rfq: { createdAt, expiresAt } }: Pick<Order, 'rfq'>) {
  const now = useNow();
  const age = Math.max(0, now - secondsOf(createdAt));
  const left = Math.max(0, secondsOf(expiresAt) - now);
  return (
    <span className={left < nearSeconds ? 'warn-ink' : undefined}>
      {text('console.order.times', { age: formatDuration(age), left: formatDuration(left) })}
    </span>
  );
}
