// The tasks that wait for a maker: negotiations by whose move it is, swaps by their next deadline.

import type { Step } from '@parley/core/next.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import type { Swap, Thread, WantedLevel } from '@parley/sdk/types.ts';
import { type Standing, standingOf } from '../../market/prices.ts';
import { text } from '../../texts/texts.ts';

export type Negotiation = { readonly thread: Thread; readonly standing: Standing };

const ranks: Readonly<Record<Standing['is'], number>> = {
  waits_for_me: 0,
  their_price: 1,
  waits_for_them: 2,
  my_price: 3,
  price_over: 4,
  agreed: 5,
  closed: 6,
};

/** Open ones: acceptances that wait for mine, the nearest end first; then the newest moves. */
export function negotiationsOf(threads: readonly Thread[], nowMs: number): Negotiation[] {
  return threads
    .map((thread) => ({ thread, standing: standingOf(thread, 'maker', nowMs) }))
    .filter(({ standing }) => standing.is !== 'closed' && standing.is !== 'agreed')
    .sort((a, b) => {
      const rank = ranks[a.standing.is] - ranks[b.standing.is];
      if (rank !== 0) return rank;
      const one = untilOf(a.standing);
      const other = untilOf(b.standing);
      if (one !== other) return one - other;
      return a.thread.updatedAt < b.thread.updatedAt ? 1 : -1;
    });
}

function untilOf(standing: Standing): number {
  return 'untilMs' in standing ? standing.untilMs : 0;
}

type DueSwap = {
  readonly swap: Swap;
  readonly step: Step;
  /** Whether it is this account's to do. */
  readonly isMine: boolean;
};

/** Swaps in which something is left to do, mine first, each by the nearest deadline. */
export function dueSwaps(swaps: readonly Swap[]): DueSwap[] {
  return swaps
    .flatMap((swap): DueSwap[] => {
      const open = swap.next.filter(({ action }) => action !== 'wait');
      const mine = nearest(open.filter(({ by }) => by === swap.role));
      const step = mine ?? nearest(open) ?? nearest(swap.next);
      if (step === null) return [];
      return [{ swap, step, isMine: mine !== null }];
    })
    .sort((a, b) => {
      if (a.isMine !== b.isMine) return a.isMine ? -1 : 1;
      return atOf(a.step) - atOf(b.step) || (a.swap.id < b.swap.id ? 1 : -1);
    });
}

const never = Number.MAX_SAFE_INTEGER;
const atOf = ({ before }: Step) => before ?? never;

function nearest(steps: readonly Step[]): Step | null {
  return steps.toSorted((a, b) => atOf(a) - atOf(b))[0] ?? null;
}

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
