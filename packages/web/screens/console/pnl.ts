// The result of a maker's ended swaps, in the quote asset of each pair and before network fees. The
// base asset is valued at the median of recent swaps. Every division rounds against the reader.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Asset, PairPrice, Swap } from '@parley/sdk/types.ts';
import { byPrice } from '../../market/history.ts';
import { type Pair, readably } from '../../market/pairs.ts';
import { type Price, priceIn, quoteAt } from '../../market/prices.ts';

export const dayMs = 86_400_000;

export type Trade = {
  readonly pair: Pair;
  /** Gained since by the account; negative: given. A refunded swap moved neither. */
  readonly base: BaseUnits;
  readonly quote: BaseUnits;
  readonly agreedAtMs: number;
};

type Settled = Pick<Swap, 'status' | 'makerId' | 'legs' | 'createdAt' | 'updatedAt'>;

const over: ReadonlySet<Swap['status']> = new Set([
  'counterparty_claimed',
  'half_settled',
  'refunded',
  'expired',
]);

export const isOver = ({ status }: Pick<Swap, 'status'>): boolean => over.has(status);

/** The leg that the account funds, then the other one. */
export function ownFirst<Leg extends { readonly funder: 'maker' | 'taker' }>(
  { makerId, legs: { a, b } }: { makerId: string; legs: { a: Leg; b: Leg } },
  accountId: string,
): readonly [own: Leg, other: Leg] {
  const party = makerId === accountId ? 'maker' : 'taker';
  return a.funder === party ? [a, b] : [b, a];
}

/** Swaps that ended since then, of assets that the market still lists. */
export function tradesOf(
  swaps: readonly Settled[],
  accountId: string,
  assets: readonly Asset[],
  sinceMs: number,
): Trade[] {
  const byId = new Map(assets.map((asset) => [asset.id, asset]));
  return swaps.flatMap((swap): Trade[] => {
    if (!isOver(swap) || Date.parse(swap.updatedAt) < sinceMs) return [];
    const [own, other] = ownFirst(swap, accountId);
    const given = byId.get(own.assetId);
    const got = byId.get(other.assetId);
    if (given === undefined || got === undefined) return [];
    const pair = readably({ base: given, quote: got });
    const lost = own.status === 'claimed' ? -BigInt(own.amount) : 0n;
    const gained = other.status === 'claimed' ? BigInt(other.amount) : 0n;
    const [base, quote] = pair.base === given ? [lost, gained] : [gained, lost];
    return [{ pair, base, quote, agreedAtMs: Date.parse(swap.createdAt) }];
  });
}

/** null: the base asset moved, and has no price. */
export function resultOf(
  { base, quote }: Pick<Trade, 'base' | 'quote'>,
  price: Price | null,
): BaseUnits | null {
  if (base === 0n) return quote;
  if (price === null) return null;
  return base > 0n ? quote + quoteAt(price, base, true) : quote - quoteAt(price, -base, false);
}

/** As the market counts it: the middle one by price, the lower of two; null of fewer than three. */
const leastAgreements = 3;
const minuteMs = 60_000;

/**
 * The median of the agreements before a swap. The market names them to the minute: the swap itself,
 * which may be among them, is of a later one than all that count.
 */
export function medianBefore(
  { agreements }: Pick<PairPrice, 'agreements'>,
  agreedAtMs: number,
): Price | null {
  const from = Math.floor(agreedAtMs / minuteMs) * minuteMs;
  const prices = agreements
    .filter(({ agreedAt }) => Date.parse(agreedAt) < from)
    .flatMap((each) => priceIn(each) ?? [])
    .sort(byPrice);
  if (prices.length < leastAgreements) return null;
  return prices[Math.floor((prices.length - 1) / 2)] ?? null;
}

export type Profit = {
  readonly quote: Asset;
  readonly units: BaseUnits;
  readonly counted: number;
  /** Swaps that no price is known for: they are not in `units`. */
  readonly unknown: number;
};

/** One sum for each quote asset: sums of two assets are no number. */
export function profitsOf(
  trades: readonly Trade[],
  priceAt: (trade: Trade) => Price | null,
): Profit[] {
  const sums = new Map<string, Profit>();
  for (const trade of trades) {
    const { quote } = trade.pair;
    const before = sums.get(quote.id) ?? { quote, units: 0n, counted: 0, unknown: 0 };
    const result = resultOf(trade, priceAt(trade));
    sums.set(
      quote.id,
      result === null
        ? { ...before, unknown: before.unknown + 1 }
        : { ...before, units: before.units + result, counted: before.counted + 1 },
    );
  }
  return [...sums.values()].sort((one, other) => other.counted - one.counted);
}

/** To so many decimals: a gain never looks larger than it is, nor a loss smaller. */
export function roundedDown(units: BaseUnits, decimals: number, most: number): BaseUnits {
  const part = 10n ** BigInt(Math.max(0, decimals - most));
  const down = units / part;
  return (units < 0n && down * part !== units ? down - 1n : down) * part;
}
