// The clock of this machine. Only a dev network moves it: its chains may have been moved on.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { config } from './config.ts';

/**
 * Seconds that the own clock may be off the market's: further off the status and a swap say so, and
 * nothing is accepted. Half of `clockToleranceSeconds` of the SDK: the measure is seconds old, and
 * a clock drifts until its swap has ended.
 */
export const mostClockOffSeconds = 60;

let offsetSeconds = config.network === 'dev' ? config.clockOffsetSeconds : 0;

export function now(): UnixSeconds {
  return Math.floor(Date.now() / 1_000) + offsetSeconds;
}

/** Takes over the clock of a dev network. */
export function moveClock(seconds: number): void {
  offsetSeconds = seconds;
}
