// The spread that a maker wants of a deal: by its size, and by what it holds of both assets. Pure.

import { larger } from '@parley/core/amounts.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import { type Asked, type Price, type PricedPair, type Terms, termsAt } from './price.ts';

/** From this size on, base units of base, a deal has this spread. */
export type Tier = { readonly from: BaseUnits; readonly spreadBps: bigint };

/** How far the price leans for each part of an asset that is held beyond its target. */
export type Lean = {
  readonly target: BaseUnits;
  readonly per: BaseUnits;
  readonly bps: bigint;
  readonly mostBps: bigint;
};

export type SpreadRule = {
  /** Below the first tier. */
  readonly spreadBps: bigint;
  /** By rising size. */
  readonly tiers: readonly Tier[];
  /** However the price leans. */
  readonly leastSpreadBps: bigint;
};

/** Basis points, towards zero: above zero where more is held than the target. */
export function leanOf(held: BaseUnits, { target, per, bps, mostBps }: Lean): bigint {
  const lean = ((held - target) * bps) / per;
  if (lean > mostBps) return mostBps;
  return larger(lean, -mostBps);
}

function bySize({ spreadBps, tiers }: SpreadRule, base: BaseUnits): bigint {
  return tiers.findLast(({ from }) => base >= from)?.spreadBps ?? spreadBps;
}

/**
 * `tilt`: by how many basis points the maker values the pair's base above its source. It asks so
 * much more where it gives base, and so much less where it gets it.
 */
export function spreadOf(
  rule: SpreadRule,
  { gives, base }: Pick<Terms, 'gives' | 'base'>,
  tilt: bigint,
): bigint {
  const wanted = bySize(rule, base) + (gives === 'base' ? tilt : -tilt);
  return larger(wanted, rule.leastSpreadBps);
}

/**
 * The terms of a quote at that price; null where the other side would give or get nothing. A
 * request that names the pair's quote has its size by its spread: the smallest spread is taken that
 * its own size allows.
 */
export function quoteAt(
  asked: Asked,
  price: Price,
  pair: PricedPair & SpreadRule,
  tilt: bigint,
): Terms | null {
  const sizes = [0n, ...pair.tiers.map(({ from }) => from)];
  const gives = (asked.direction === 'sell_base') === asked.flipped ? 'base' : 'quote';
  const spreads = new Set(sizes.map((base) => spreadOf(pair, { gives, base }, tilt)));
  for (const spreadBps of [...spreads].sort((a, b) => Number(a - b))) {
    const terms = termsAt(asked, price, { ...pair, spreadBps });
    if (terms !== null && spreadOf(pair, terms, tilt) <= spreadBps) return terms;
  }
  return null;
}

/** The smallest size that is quoted at least as well as one of `size`, from `least` on. */
export function leastAlike(rule: SpreadRule, size: BaseUnits, least: BaseUnits): BaseUnits {
  const spread = bySize(rule, size);
  let from = least;
  for (const start of [least, ...rule.tiers.map((each) => each.from)]) {
    if (start > size || bySize(rule, start) <= spread) continue;
    const next = rule.tiers.find((each) => each.from > start);
    if (next !== undefined && next.from > from) from = next.from;
  }
  return from;
}
