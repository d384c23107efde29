// The tasks that wait for a maker: negotiations by whose move it is, swaps by their next deadline.

import type { Step } from '@parley/core/next.ts';
import type { Swap, Thread } from '@parley/sdk/types.ts';
import { type Standing, standingOf } from '../../market/offers.ts';

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
