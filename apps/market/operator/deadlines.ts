// The next deadlines as a picture and a list: which side has to do what by when. Pure.

import type { Deadline, DeadlineStep } from '../db/operator.ts';

/** So many of each step are read; a lane that has them may have more. */
export const mostOfAStep = 500;
/** The list below the picture. */
export const mostListed = 8;

/** The act that is due by then. A refund opens at its deadline: the payee collects before it. */
export const steps: Readonly<Record<DeadlineStep, string>> = {
  fund_first: 'Initiator pays',
  fund_second: 'Counterparty pays',
  reveal: 'Initiator collects',
  refund: 'Refund opens',
};
export const stepNames = Object.keys(steps) as DeadlineStep[];

/** Places of the picture from left to right; more would overlap on a phone. */
const columns = 16;
const horizonSeconds = 48 * 3_600;
/** The first minutes take as much room as later hours. */
const bendSeconds = 600;

/** Where a time is in the picture: 0 is now, 1 the horizon and later. */
export function placeOf(seconds: number): number {
  const place = Math.log1p(Math.max(0, seconds) / bendSeconds);
  return Math.min(1, place / Math.log1p(horizonSeconds / bendSeconds));
}

export const ticks: readonly (readonly [seconds: number, label: string])[] = [
  [0, 'now'],
  [600, '10 min'],
  [3_600, '1 h'],
  [4 * 3_600, '4 h'],
  [12 * 3_600, '12 h'],
  [horizonSeconds, '2 d'],
];

export type Bubble = { readonly place: number; readonly count: number };
export type Lane = {
  readonly step: DeadlineStep;
  readonly count: number;
  readonly isMore: boolean;
  readonly withinHour: number;
  /** Seconds until the first. */
  readonly next: number | null;
  readonly bubbles: readonly Bubble[];
};

export function lanesOf(deadlines: readonly Deadline[], now: number): readonly Lane[] {
  return stepNames.map((step) => {
    const own = deadlines.filter((each) => each.step === step).map(({ at }) => at - now);
    const counts = new Map<number, number>();
    for (const seconds of own) {
      const column = Math.min(columns - 1, Math.floor(placeOf(seconds) * columns));
      counts.set(column, (counts.get(column) ?? 0) + 1);
    }
    const bubbles = [...counts].map(([column, count]) => {
      return { place: (column + 0.5) / columns, count };
    });
    return {
      step,
      count: own.length,
      isMore: own.length >= mostOfAStep,
      withinHour: own.filter((seconds) => seconds <= 3_600).length,
      next: own.length === 0 ? null : Math.min(...own),
      bubbles: bubbles.sort((one, other) => one.place - other.place),
    };
  });
}

/** Soonest first. */
export function soonest(deadlines: readonly Deadline[]): readonly Deadline[] {
  return deadlines.toSorted((one, other) => one.at - other.at).slice(0, mostListed);
}
