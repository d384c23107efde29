// The worth of a price to a person: the part of it that arrives, and the record of its maker. Pure.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Pair, Standing } from '@parley/sdk/types.ts';

type Landing = {
  /** Base units that arrive; as the fees are now. */
  readonly units: BaseUnits;
  /** The fee that was taken out of it; 0: it is paid by other coins, or not known. */
  readonly fee: BaseUnits;
};

/** `leg`: the one that pays the person; undefined as long as the market has not told its costs. */
export function landingOf(
  amount: BaseUnits,
  leg: Pick<Pair['legs']['a'], 'costs'> | undefined,
): Landing {
  const costs = leg?.costs ?? null;
  const fee = costs?.settlesFromAmount ? BigInt(costs.claim.usual) : 0n;
  return { units: amount > fee ? amount - fee : 0n, fee };
}

/**
 * The part of its agreements that an account kept, in basis points, rounded down; null: it has none,
 * or the market has not counted.
 */
export function keptBps(standing: Standing | null | undefined): number | null {
  if (standing === null || standing === undefined) return null;
  const { settled, abandoned } = standing;
  const all = settled + abandoned;
  return all > 0 ? Math.floor((settled * 10_000) / all) : null;
}

/** Accounts that publish a price, each once. */
export function makersIn(levels: readonly { readonly makerId: string }[]): number {
  return new Set(levels.map(({ makerId }) => makerId)).size;
}
