// Indicative prices as they are typed: one size, and what the maker would pay and take for it.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { WantedLevel } from '@parley/sdk/types.ts';
import { text } from '../../texts/texts.ts';

/** Base units; null where nothing, or no amount, is typed. */
export type LevelDraft = {
  readonly size: BaseUnits | null;
  /** Amounts of the quote asset for all of `size`: the maker buys it, and sells it. */
  readonly pays: BaseUnits | null;
  readonly takes: BaseUnits | null;
  readonly validForSeconds: number;
};

/** An empty form is neither: `levels` is null then, and there is no fault. */
type DraftedLevels = {
  readonly levels: readonly WantedLevel[] | null;
  readonly fault: string | null;
};

export function draftedLevels({ size, pays, takes, validForSeconds }: LevelDraft): DraftedLevels {
  const none = { levels: null, fault: null };
  if (size === null || (pays === null && takes === null)) return none;
  if (size <= 0n || pays === 0n || takes === 0n) {
    return { levels: null, fault: text('console.levels.nothing') };
  }
  // A reader of both would sell to the maker and buy back at once.
  if (pays !== null && takes !== null && pays >= takes) {
    return { levels: null, fault: text('console.levels.crossed') };
  }
  const of = (direction: WantedLevel['direction'], quoteAmount: BaseUnits | null) =>
    quoteAmount === null
      ? []
      : [{ direction, baseAmount: `${size}`, quoteAmount: `${quoteAmount}`, validForSeconds }];
  return { levels: [...of('sell_base', pays), ...of('buy_base', takes)], fault: null };
}
