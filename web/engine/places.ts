// Which swaps a page drives side by side: those that are nearest to their deadlines, before those
// that have ended and to which a payment may still come. Pure.

import type { Begun } from './drive.ts';

export type Open = {
  readonly begun: Begun;
  /** It has ended, and `mayStillCome`. */
  readonly hasEnded: boolean;
};

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
