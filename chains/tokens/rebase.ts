// Check `rebase`: a balance that nobody moves stays what it is. Pure: a family asks for balances.

import { type Finding, found, passed } from './inspection.ts';
import { namesIn, rebaseSignals } from './powers.ts';

const check = 'rebase';
export const daysAhead = 30;
export const daySeconds = 86_400;

export type Balances = {
  /** null: not told. */
  readonly now: bigint | null;
  /** The same `daysAhead` days later; null: not told. */
  readonly later: bigint | null;
  /** What was written as the balance; null: nothing was. */
  readonly stored: bigint | null;
};

export function judgeRebase(
  { now, later, stored }: Balances,
  selectors: ReadonlySet<string>,
): Finding {
  if (now !== null && later !== null && now !== later) {
    const sentence = `a balance of ${now} becomes ${later} within ${daysAhead} days by itself`;
    return found(check, 'reject', sentence);
  }
  const names = namesIn(rebaseSignals, selectors);
  if (names.length > 0) {
    const sentence = `its balances may change by themselves: its code has ${names.join(', ')}`;
    return found(check, 'wait', sentence);
  }
  if (now !== null && stored !== null && stored !== now) {
    const sentence = `it shows a balance of ${now} where ${stored} is written, so balances may change`;
    return found(check, 'wait', sentence);
  }
  return passed(check);
}
