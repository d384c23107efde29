// The open orders of others as rows of the console: the maker's sides, the asked price against
// recent swaps, and those that the filters leave. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import { givenByMaker } from '@parley/core/trade.ts';
import type { Asset, Rfq, Thread } from '@parley/sdk/types.ts';
import { type Pair, pairKey, readably, turnedTo } from '../../market/pairs.ts';
import { getsQuote, type Price, priceIn, standingOf } from '../../market/prices.ts';
import { chainName, hasWords } from '../../parts/words.ts';
import { againstMedian } from './ticket.ts';

/** null: quotes decide. */
export type Side = { readonly asset: Asset; readonly amount: BaseUnits | null };

export type Order = {
  readonly id: string;
  readonly rfq: Rfq;
  readonly pair: Pair;
  /** The assets as the order names them: the price is an amount of `quote`. */
  readonly base: Asset;
  readonly quote: Asset;
  /** Whether the maker is paid in `quote`. */
  readonly isGot: boolean;
  readonly gives: Side;
  readonly gets: Side;
  /** The asked price, of the pair. */
  readonly asked: Price | null;
  /** The own negotiation about it that has not ended. */
  readonly thread: Thread | null;
};

/** The newest first, as ids are in order of time. Orders of assets that are not listed are none. */
export function ordersOf(
  rfqs: readonly Rfq[],
  assets: readonly Asset[],
  threads: readonly Thread[],
  nowMs: number,
): Order[] {
  const byId = new Map(assets.map((asset) => [asset.id, asset]));
  const open = threads.filter((each) => standingOf(each, 'maker', nowMs).is !== 'closed');
  const own = new Map(open.map((thread) => [thread.rfqId, thread]));
  const orders = rfqs.flatMap((rfq): Order[] => {
    const base = byId.get(rfq.baseAssetId);
    const quote = byId.get(rfq.quoteAssetId);
    if (base === undefined || quote === undefined) return [];
    const pair = readably({ base, quote });
    const ofBase: Side = { asset: base, amount: BigInt(rfq.baseAmount) };
    const asks = rfq.askAmount === null ? null : BigInt(rfq.askAmount);
    const ofQuote: Side = { asset: quote, amount: asks };
    const isBaseGiven = givenByMaker(rfq) === base.id;
    const [gives, gets] = isBaseGiven ? [ofBase, ofQuote] : [ofQuote, ofBase];
    const price = rfq.askAmount === null ? null : priceIn({ ...rfq, quoteAmount: rfq.askAmount });
    const asked = price && turnedTo(base.id, pair, price);
    const thread = own.get(rfq.id) ?? null;
    const isGot = getsQuote(rfq, 'maker');
    return [{ id: rfq.id, rfq, pair, base, quote, isGot, gives, gets, asked, thread }];
  });
  return orders.sort((one, other) => (one.id < other.id ? 1 : -1));
}

/** How much better for the maker than recent swaps the asked price is; null: one is not known. */
export function askedBps({ rfq, pair, isGot }: Order, median: Price | null): number | null {
  if (median === null || rfq.askAmount === null) return null;
  const price = turnedTo(rfq.baseAssetId, pair, median);
  return againstMedian(BigInt(rfq.askAmount), BigInt(rfq.baseAmount), price, isGot).bps;
}

export type Filter = {
  readonly words: string;
  /** A `pairKey`; '' for all. */
  readonly pair: string;
  /** Base units of the pair's base asset; null for any size. An order of no size stays. */
  readonly least: BaseUnits | null;
  readonly whose: 'all' | 'new' | 'mine';
};

export function foundBy(orders: readonly Order[], filter: Filter): readonly Order[] {
  return orders.filter((order) => {
    const { pair, gives, gets, thread } = order;
    if (filter.whose !== 'all' && (filter.whose === 'mine') !== (thread !== null)) return false;
    if (filter.pair !== '' && filter.pair !== pairKey(pair)) return false;
    const size = [gives, gets].find(({ asset }) => asset === pair.base)?.amount ?? null;
    if (filter.least !== null && size !== null && size < filter.least) return false;
    const said = [gives.asset, gets.asset].map(
      ({ symbol, chain, address }) => `${symbol} ${chain} ${chainName(chain)} ${address}`,
    );
    return hasWords(said.join(' '), filter.words);
  });
}

/** Each pair once, in the order of the rows. */
export function pairsOf(orders: readonly Pick<Order, 'pair'>[]): Pair[] {
  const found = new Map(orders.map(({ pair }) => [pairKey(pair), pair]));
  return [...found.values()];
}

/** The row after or before; the first one where none is chosen. Stops at both ends. */
export function neighbour(orders: readonly Order[], id: string | null, by: 1 | -1): Order | null {
  const at = orders.findIndex((each) => each.id === id);
  const next = at < 0 ? 0 : Math.min(orders.length - 1, Math.max(0, at + by));
  return orders[next] ?? null;
}
