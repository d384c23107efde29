// All that the box knows of the trade in its form: what makers and recent swaps say, costs, bounds,
// and the request that would be sent. It needs no account.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Direction } from '@parley/core/trade.ts';
import type { Asset, Level } from '@parley/sdk/types.ts';
import { useEffect, useState } from 'react';
import { priceOf, useLevels, usePair, usePrice } from '../../market/answers.ts';
import { config, now } from '../../market/config.ts';
import { type Price, quoteAt } from '../../market/prices.ts';
import { estimateText, typedAmount } from '../../parts/words.ts';
import { text } from '../../texts/texts.ts';
import { type Costs, costsOf, takenFrom } from './costs.ts';
import {
  type Bounds,
  type Draft,
  mostOf,
  noBounds,
  otherSide,
  type Understood,
  understood,
} from './draft.ts';
import {
  type Estimate,
  estimateBy,
  type Maker,
  makersFor,
  otherAmount,
  sizesOf,
} from './makers.ts';

export type Trade = {
  readonly give: Asset | undefined;
  readonly get: Asset | undefined;
  /** The exact side's, and the other one; null: not yet two assets on two chains. */
  readonly pair: TradedPair | null;
  readonly found: Understood;
  /** The exact side's; null: not typed, or no amount. */
  readonly amount: BaseUnits | null;
  readonly makers: readonly Maker[];
  /** Those for other sizes too. */
  readonly anyMakers: readonly Maker[];
  readonly sizes: { readonly least: BaseUnits; readonly most: BaseUnits } | null;
  readonly estimate: Estimate;
  /** The other side's after the fees that are taken out of it; null: not known. */
  readonly expected: BaseUnits | null;
  readonly median: Price | null;
  readonly costs: Costs | null;
  /** Taken out of what is got, in its base units. */
  readonly fee: BaseUnits;
  readonly bounds: Bounds;
  readonly prices: Asking;
  readonly terms: Asking;
};

export type TradedPair = {
  readonly base: Asset;
  readonly quote: Asset;
  readonly direction: Direction;
  /** Whether the person gets the quote asset. */
  readonly isGot: boolean;
};

/** `error`: no answer has come. */
type Asking = {
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly again: () => void;
};

/** Where a person stops typing for so long, the market is asked anew. */
const pauseMs = 250;

function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

export function useTrade(draft: Draft, assets: readonly Asset[]): Trade {
  const give = assets.find(({ id }) => id === draft.give);
  const get = assets.find(({ id }) => id === draft.get);
  const pair = pairOf(draft, give, get);
  const ids = pair === null ? null : { baseAssetId: pair.base.id, quoteAssetId: pair.quote.id };
  const amount = pair === null ? null : typedAmount(draft.amount, pair.base).units || null;
  const recent = usePrice(ids);
  const median = priceOf(recent.data);
  const asked = ids && pair && { direction: pair.direction, ...ids };
  const levels = useEveryLevel(asked, useSettled(amount), Number(draft.minSettled));
  const terms = useTerms(asked, useSettled(amount));
  const coins = assets.filter(({ address }) => address === null);
  const costs = terms.data === undefined ? null : costsOf(terms.data, coins);
  const fee = costs === null || get === undefined ? 0n : takenFrom(get, costs);
  const bounds = boundsOf(terms.data, give, get);
  const isGot = pair?.isGot ?? true;
  const minSettled = Number(draft.minSettled);
  const from = { amount, median, minSettled, nowMs: now() * 1_000 };
  const makers = makersFor(levels.all, from);
  const estimate = estimateBy(makers, median);
  const { price } = estimate;
  const isLoading = pair !== null && (levels.isLoading || recent.isLoading);
  // Recent swaps are no number to see for a moment before makers have another one.
  const expected =
    isLoading || price === null || amount === null
      ? null
      : otherAmount(price, amount, { isGot, fee });
  const found = understood(draft, assets, bounds);
  return {
    give,
    get,
    pair,
    found: found.ok && price !== null ? worthIt(found, draft, price, bounds) : found,
    amount,
    makers,
    anyMakers: makersFor(levels.all, { ...from, amount: null }),
    sizes: sizesOf(levels.all, from),
    estimate,
    expected,
    median,
    costs,
    fee,
    bounds,
    prices: {
      isLoading,
      error: levels.error ?? (recent.data === undefined ? recent.error : null),
      again: () => {
        levels.again();
        void recent.refetch();
      },
    },
    terms: {
      isLoading: pair !== null && terms.data === undefined && terms.error === null,
      error: terms.data === undefined ? terms.error : null,
      again: () => void terms.refetch(),
    },
  };
}

function pairOf(
  { exact }: Draft,
  give: Asset | undefined,
  get: Asset | undefined,
): TradedPair | null {
  if (give === undefined || get === undefined || give.chain === get.chain) return null;
  return exact === 'give'
    ? { base: give, quote: get, direction: 'sell_base', isGot: true }
    : { base: get, quote: give, direction: 'buy_base', isGot: false };
}

type AskedPair = {
  readonly direction: Direction;
  readonly baseAssetId: string;
  readonly quoteAssetId: string;
};

/**
 * The best of all sizes are asked for once, so that a typed amount has its price at once. Where
 * there are more, those for the amount are asked for too: others could hide them.
 */
function useEveryLevel(asked: AskedPair | null, amount: BaseUnits | null, minSettled: number) {
  const first = useLevels(asked);
  const isMore = typeof first.data?.nextCursor === 'string';
  const narrow =
    asked && amount && isMore ? { ...asked, baseAmount: `${amount}`, minSettled } : null;
  const more = useLevels(narrow);
  const all: readonly Level[] = (narrow && more.data?.levels) ?? first.data?.levels ?? [];
  return {
    all,
    isLoading: first.data === undefined && first.error === null,
    error: first.data === undefined ? first.error : null,
    again: () => void first.refetch(),
  };
}

/** Terms of the pair before are none of this one. */
function useTerms(asked: AskedPair | null, amount: BaseUnits | null) {
  const query = asked && { ...asked, ...(amount === null ? {} : { baseAmount: `${amount}` }) };
  const terms = usePair(query);
  const { data } = terms;
  const isOurs =
    data?.baseAssetId === asked?.baseAssetId &&
    data?.quoteAssetId === asked?.quoteAssetId &&
    data?.direction === asked?.direction;
  return { ...terms, data: isOurs ? data : undefined };
}

function boundsOf(
  terms: ReturnType<typeof useTerms>['data'],
  give: Asset | undefined,
  get: Asset | undefined,
): Bounds {
  if (give === undefined || get === undefined) return noBounds;
  const familyOf = (asset: Asset) =>
    config.chains.find(({ chain }) => chain === asset.chain)?.family;
  const units = (least: string | null | undefined) => (least ? BigInt(least) : null);
  return {
    least: { give: units(terms?.legs.b.leastAmount), get: units(terms?.legs.a.leastAmount) },
    most: { give: mostOf(familyOf(give), give), get: mostOf(familyOf(get), get) },
  };
}

/** An amount that comes to less than the other side's chain can hold is refused here. */
function worthIt(
  found: Extract<Understood, { ok: true }>,
  { exact }: Draft,
  price: Price,
  { least }: Bounds,
): Understood {
  const { wanted } = found;
  const other = quoteAt(price, wanted.baseAmount, exact === 'give');
  const floor = least[otherSide(exact)];
  if (floor === null || other >= floor) return found;
  const values = {
    amount: estimateText(other, wanted.quote),
    least: estimateText(floor, wanted.quote),
  };
  return { ok: false, at: 'amount', why: text('swap_box.least_other', values) };
}
