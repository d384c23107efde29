// One list of orders and swaps, of this browser and of the account, each once: first those that need
// the person, then those that go on, then the ended ones. Pure.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { Asset, Rfq } from '@parley/sdk/types.ts';
import type { LegView, SwapView, WalletPayment } from '../../engine/types.ts';
import { isLive, sidesOfOrder } from '../../parts/orders.ts';
import { reminderOf } from '../../parts/swap/reminders.ts';
import { amountsOf, markedAs, shown } from '../../parts/swap/shown.ts';
import { endOf, sidesOf } from '../../parts/swap/situation.ts';
import { assetAmountText, chainName, hasWords } from '../../parts/words.ts';
import { secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { groupOf, type Row, type Side, type State, wordsOf } from './rows.ts';

/** A coin as `parts/coin.tsx` marks it. */
type Marked = Pick<Asset, 'symbol' | 'chain' | 'address' | 'verified'>;

export type ItemSide = { readonly amount: string; readonly coin: Marked | undefined };

export type Item = {
  readonly id: string;
  readonly is: 'order' | 'swap';
  readonly gives: ItemSide;
  readonly gets: ItemSide;
  /** The next step, or the state. */
  readonly said: string;
  /** `you`: it needs the person. */
  readonly group: 'you' | 'open' | 'ended';
  readonly state: Exclude<State, 'all'>;
  readonly at: UnixSeconds;
  readonly due: UnixSeconds | null;
  /** For the search. */
  readonly words: string;
};

type Known = {
  readonly now: UnixSeconds;
  readonly assets: readonly Asset[];
  /** Wallets that were asked to pay on Bitcoin, by swap: such a swap is not to be paid again. */
  readonly wallets?: Readonly<Record<string, WalletPayment | null>>;
};

export type Found = {
  /** Swaps that this browser settles. */
  readonly views: readonly SwapView[];
  /** Swaps of the account, as the market has them. */
  readonly rows: readonly Row[];
  readonly orders: readonly Rfq[];
};

export function itemsOf({ views, rows, orders }: Found, known: Known): readonly Item[] {
  const here = new Set(views.map(({ id }) => id));
  const elsewhere = rows.filter(({ id }) => !here.has(id));
  const open = orders.filter((each) => isLive(each, known.now * 1_000));
  const items = [
    ...views.map((each) => ofView(each, known)),
    ...elsewhere.map(ofRow),
    ...open.map((each) => ofOrder(each, known)),
  ];
  return items.toSorted(byUrgency);
}

const order: readonly Item['group'][] = ['you', 'open', 'ended'];

/** A deadline of the person's is before everything else; the rest is by age. */
function byUrgency(one: Item, other: Item): number {
  const groups = order.indexOf(one.group) - order.indexOf(other.group);
  if (groups !== 0) return groups;
  const due = (of: Item) => of.due ?? Number.POSITIVE_INFINITY;
  if (one.group === 'you' && due(one) !== due(other)) return due(one) - due(other);
  return other.at - one.at;
}

export function searched(items: readonly Item[], search: string, state: State): readonly Item[] {
  return items.filter(
    (each) => (state === 'all' || each.state === state) && hasWords(each.words, search),
  );
}

function wordsOfLeg({ chain, escrow, ownAddress, facts }: LegView): string {
  const sightings = [facts?.funded, facts?.claimed, facts?.refunded].map((each) => each?.txid);
  return [chain, chainName(chain), escrow, ownAddress, ...sightings].join(' ');
}

const stateOfEnd = {
  done_received: 'settled',
  done_refunded: 'refunded',
  done_lost: 'refunded',
  done_nothing: 'expired',
  done_not_locked: 'expired',
  done_unpaid: 'expired',
} as const;

function ofView(swap: SwapView, { now, assets, wallets = {} }: Known): Item {
  const seen = { swap, now, payments: [], wallet: wallets[swap.id] };
  const { title, clock, turn } = shown(seen, assets);
  const { own, other } = sidesOf(swap);
  const { gives, gets } = amountsOf(seen, assets);
  const isOver = swap.phase === 'ended';
  const needs = reminderOf(seen, false) !== null;
  const state = isOver ? stateOfEnd[endOf(swap)] : 'open';
  const ofLegs = [own, other].map(wordsOfLeg);
  return {
    id: swap.id,
    is: 'swap',
    gives: { amount: gives, coin: markedAs(own, assets) },
    gets: { amount: gets, coin: markedAs(other, assets) },
    said: title,
    group: isOver ? 'ended' : needs ? 'you' : 'open',
    state,
    at: swap.agreedAt,
    due: !isOver && clock?.is === 'until' ? clock.at : null,
    words: [swap.id, gives, gets, title, turn, ...ofLegs].join(' '),
  };
}

function ofRow(row: Row): Item {
  const { swap, gives, gets } = row;
  const state = groupOf[swap.status];
  return {
    id: row.id,
    is: 'swap',
    gives: ofSide(gives),
    gets: ofSide(gets),
    said: text(`activity.${swap.status}`),
    group: state === 'open' ? 'open' : 'ended',
    state,
    at: secondsOf(swap.createdAt),
    due: null,
    words: wordsOf(row),
  };
}

function ofSide({ asset, units, symbol }: Side): ItemSide {
  const amount = asset === undefined ? `${units} ${symbol}` : assetAmountText(units, asset);
  return { amount, coin: asset };
}

function ofOrder(rfq: Rfq, { assets }: Known): Item {
  const { gives, gets } = sidesOfOrder(rfq);
  const side = ({ assetId, amount }: typeof gives): ItemSide => {
    const coin = assets.find(({ id }) => id === assetId);
    const ask = rfq.askAmount === null ? null : BigInt(rfq.askAmount);
    const units = amount ?? ask;
    if (units === null) return { amount: coin?.symbol ?? '', coin };
    return { amount: assetAmountText(units, coin), coin };
  };
  const hasQuotes = rfq.status === 'negotiating';
  const isPrivate = rfq.visibility === 'private' ? ` · ${text('orders.visibility.private')}` : '';
  const said = `${text(hasQuotes ? 'orders.status.negotiating' : 'orders.status.open')}${isPrivate}`;
  const given = side(gives);
  const got = side(gets);
  const chains = [given.coin, got.coin].map((coin) => `${coin?.chain} ${coin?.address}`);
  return {
    id: rfq.id,
    is: 'order',
    gives: given,
    gets: got,
    said,
    group: hasQuotes ? 'you' : 'open',
    state: 'open',
    at: secondsOf(rfq.createdAt),
    due: secondsOf(rfq.expiresAt),
    words: [rfq.id, given.amount, got.amount, said, ...chains].join(' '),
  };
}
