// The clock of this machine. Only a dev network moves it: its chains may have been moved on.

import type { UnixSeconds } from '../../core/nominal.ts';
import { config } from './config.ts';

let offsetSeconds = config.network === 'dev' ? config.clockOffsetSeconds : 0;

export function now(): UnixSeconds {
  return Math.floor(Date.now() / 1_000) + offsetSeconds;
}

/** What a dev network says of its clock. */
export function moveClock(seconds: number): void {
  offsetSeconds = seconds;
}
