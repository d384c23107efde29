// Which swaps a page drives side by side: those that are nearest to their deadlines, before those
// that have ended and to which a payment may still come. Pure.

import type { Begun } from './drive.ts';

export type Open = {
  readonly begun: Begun;
  /** It has ended, and `isLookedAtAgain`. */
  readonly hasEnded: boolean;
};

/** Side by side in one page; the others begin when one of them has ended. */
export const mostDriven = 60;

/**
 * The reason why no further swap may begin, by the open swaps and the acceptances that wait for the
 * other side. One without a place could miss its claim, as those before it may hold theirs for
 * days.
 */
export function roomFault(open: number, waiting: number): string | null {
  if (open + waiting < mostDriven) return null;
  const are = `${open} swaps are open in this browser and ${waiting} acceptances wait`;
  return `${are}: it settles ${mostDriven} side by side, so wait until one has ended`;
}

/** `free`: places. */
export function toDrive(open: readonly Open[], free: number): Begun[] {
  const byUrgency = (one: Open, other: Open) =>
    Number(one.hasEnded) - Number(other.hasEnded) ||
    one.begun.swap.deadlines.revealBy - other.begun.swap.deadlines.revealBy;
  return open
    .toSorted(byUrgency)
    .slice(0, Math.max(0, free))
    .map(({ begun }) => begun);
}
