// Indicative prices as they are typed: one size, and the maker's payment and receipt for it.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { WantedLevel } from '@parley/sdk/types.ts';
import { text } from '../../texts/texts.ts';

/** Base units; null where the field holds no amount. */
export type LevelDraft = {
  readonly size: BaseUnits | null;
  /** Amounts of the quote asset for all of `size`: the maker buys it, and sells it. */
  readonly pays: BaseUnits | null;
  readonly takes: BaseUnits | null;
  readonly validForSeconds: number;
};

/** The levels, or why there are none. */
export function draftedLevels(draft: LevelDraft): readonly WantedLevel[] | string {
  const { size, pays, takes, validForSeconds } = draft;
  if (size === null || (pays === null && takes === null)) return text('amount.empty');
  if (size === 0n || pays === 0n || takes === 0n) return text('console.levels.zero');
  // A reader of both would sell to the maker and buy back at once.
  if (pays !== null && takes !== null && pays >= takes) return text('console.levels.crossed');
  const of = (direction: WantedLevel['direction'], quoteAmount: BaseUnits | null) =>
    quoteAmount === null
      ? []
      : [{ direction, baseAmount: `${size}`, quoteAmount: `${quoteAmount}`, validForSeconds }];
  return [...of('sell_base', pays), ...of('buy_base', takes)];
}
