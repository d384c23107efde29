// Makers' levels for an amount, and the one that the box may call a price. A level costs its maker
// nothing: one far from recent swaps is marked, and never called a price. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Level } from '@parley/sdk/types.ts';
import { isFar, levelBps, type Price, priceIn, quoteAt, settledBy } from '../../market/prices.ts';

export type Asked = {
  /** The base asset's; null: not typed yet, so that any size will do. */
  readonly amount: BaseUnits | null;
  /** The middle one of recent swaps. */
  readonly median: Price | null;
  /** Settled swaps that a maker must have. */
  readonly minSettled: number;
  readonly nowMs: number;
};

export type Maker = {
  readonly level: Level;
  readonly price: Price;
  /** Better than recent swaps, in basis points; null: none to compare with. */
  readonly bps: number | null;
};

function fits({ level, price }: Maker, amount: BaseUnits | null): boolean {
  if (amount === null) return true;
  return amount >= BigInt(level.leastBaseAmount ?? 1) && amount <= price.baseAmount;
}

function read(levels: readonly Level[], { median, minSettled, nowMs }: Asked): Maker[] {
  return levels.flatMap((level): Maker[] => {
    const price = priceIn(level);
    if (price === null || settledBy(level) < minSettled) return [];
    if (Date.parse(level.expiresAt) <= nowMs) return [];
    const bps = median === null ? null : levelBps(level, median);
    return [{ level, price, bps }];
  });
}

/** 0: near recent swaps, by a maker with settled swaps; then by one without; then far from them. */
function rank({ level, bps }: Maker): number {
  if (isFar(bps)) return 2;
  return settledBy(level) > 0 ? 0 : 1;
}

/** One row a maker, its best for the amount. `levels`: the best first, as the market lists them. */
export function makersFor(levels: readonly Level[], asked: Asked): Maker[] {
  const ranked = read(levels, asked)
    .filter((each) => fits(each, asked.amount))
    .sort((one, other) => rank(one) - rank(other));
  const byMaker = new Map<string, Maker>();
  for (const each of ranked) {
    if (!byMaker.has(each.level.makerId)) byMaker.set(each.level.makerId, each);
  }
  return [...byMaker.values()];
}

/** The sizes that makers name near recent swaps; null: none does. */
export function sizesOf(levels: readonly Level[], asked: Asked) {
  const near = read(levels, asked).filter(({ bps }) => !isFar(bps));
  const [first, ...others] = near;
  if (first === undefined) return null;
  const leastOf = ({ level }: Maker) => BigInt(level.leastBaseAmount ?? 1);
  let least = leastOf(first);
  let most = first.price.baseAmount;
  for (const each of others) {
    if (leastOf(each) < least) least = leastOf(each);
    if (each.price.baseAmount > most) most = each.price.baseAmount;
  }
  return { least, most };
}

export type Estimate = {
  /** null: neither a maker nor recent swaps say anything. */
  readonly price: Price | null;
  readonly by: 'makers' | 'recent' | 'none';
  /** Makers behind it that are near recent swaps. */
  readonly count: number;
  readonly bps: number | null;
  /** Makers that name far more than recent swaps, and how much more at most. */
  readonly doubted: { readonly count: number; readonly bps: number } | null;
  /** A maker without a settled swap names it, and no recent swap says that it is near. */
  readonly isUnproven: boolean;
};

/** `makers`: those of `makersFor`. */
export function estimateBy(makers: readonly Maker[], median: Price | null): Estimate {
  const near = makers.filter(({ bps }) => !isFar(bps));
  const better = makers.flatMap(({ bps }) => (bps !== null && bps > 0 && isFar(bps) ? [bps] : []));
  const doubted = better.length === 0 ? null : { count: better.length, bps: Math.max(...better) };
  const worse = makers.find(({ bps }) => bps !== null && bps < 0 && isFar(bps));
  // Recent swaps would promise more than makers give now: the worse number is the one to show.
  const best = near[0] ?? worse;
  if (best !== undefined) {
    const { price, bps, level } = best;
    const isUnproven = bps === null && settledBy(level) === 0;
    return { price, by: 'makers', count: near.length, bps, doubted, isUnproven };
  }
  const rest = { count: 0, bps: null, doubted, isUnproven: false };
  if (median !== null) return { price: median, by: 'recent', ...rest };
  return { price: null, by: 'none', ...rest };
}

/**
 * The amount of the other side: rounded down and without `fee` where it is got, up where it is
 * given. Never less than nothing.
 */
export function otherAmount(
  price: Price,
  amount: BaseUnits,
  { isGot, fee }: { readonly isGot: boolean; readonly fee: BaseUnits },
): BaseUnits {
  const whole = quoteAt(price, amount, isGot);
  if (!isGot) return whole;
  return whole > fee ? whole - fee : 0n;
}
