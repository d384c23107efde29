// The amount that a maker holds of an asset once all that it agreed to is settled: its balance, less what it
// still gives, plus what is still coming. A balance may or may not have a leg already: that is
// known by when a chain showed the leg first, and when the balance was read. Pure.

import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import type { Balance, Holding } from './inventory.ts';

/** When a block was first seen to have each; null: none was. */
export type Seen = {
  /** The own funding. */
  readonly fundedAtMs: Millis | null;
  /** The own leg, given back. */
  readonly backAtMs: Millis | null;
  /** The other leg, claimed. */
  readonly paidAtMs: Millis | null;
};

export const nothingYet: Seen = { fundedAtMs: null, backAtMs: null, paidAtMs: null };

export type Motion = Seen & {
  readonly gives: Holding;
  readonly given: BaseUnits;
  readonly gets: Holding;
  readonly got: BaseUnits;
  /** It pays nothing any more: it was refunded, lost, or never began. */
  readonly isOff: boolean;
};

const isIn = (atMs: Millis | null, { readAtMs }: Balance) => atMs !== null && readAtMs >= atMs;

/**
 * `agreed`: once all of it is settled. `sold`, `bought`: the least and the most it may come to, since
 * a taker who agrees may never pay: nothing is coming, or all that was given comes back.
 */
export type Counting = 'agreed' | 'sold' | 'bought';

function leaving(motion: Motion, balance: Balance, counting: Counting): BaseUnits {
  const { given, fundedAtMs, backAtMs, paidAtMs, isOff } = motion;
  const isGone = isIn(fundedAtMs, balance);
  if (backAtMs !== null) return isGone && !isIn(backAtMs, balance) ? given : 0n;
  if (counting === 'bought' && paidAtMs === null && !isOff) return isGone ? given : 0n;
  return isGone || isOff ? 0n : -given;
}

function coming(motion: Motion, balance: Balance, counting: Counting): BaseUnits {
  const { got, backAtMs, paidAtMs, isOff } = motion;
  if (counting === 'sold' && paidAtMs === null) return 0n;
  return isOff || backAtMs !== null || isIn(paidAtMs, balance) ? 0n : got;
}

export function positionOf(
  holding: Holding,
  balance: Balance,
  motions: readonly Motion[],
  counting: Counting = 'agreed',
): BaseUnits {
  let held = balance.owned ?? balance.units;
  for (const motion of motions) {
    if (motion.gives === holding) held += leaving(motion, balance, counting);
    if (motion.gets === holding) held += coming(motion, balance, counting);
  }
  return held;
}
