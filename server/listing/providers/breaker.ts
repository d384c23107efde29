// A provider that fails again and again is left alone for a while: those who ask are told at once,
// and then one request tries whether it is back.

import type { Clock } from './clock.ts';
import { ProviderFailure } from './facts.ts';

export const mostFailures = 5;
export const restMs = 60_000;

export type Breaker = {
  enter(): void;
  /** How what was let in ended; `null` = it was given up by who asked, which says nothing. */
  leave(worked: boolean | null): void;
};

export function createBreaker(
  name: string,
  clock: Clock,
  changed: (open: boolean) => void,
): Breaker {
  let failures = 0;
  let openUntil = 0;
  let trying = false;
  return {
    enter: () => {
      if (failures < mostFailures) return;
      if (trying || clock.now() < openUntil) {
        throw new ProviderFailure('unreachable', `${name} has failed ${failures} times`);
      }
      trying = true;
    },
    leave: (worked) => {
      trying = false;
      if (worked === null) return;
      if (worked) {
        if (failures >= mostFailures) changed(false);
        failures = 0;
        return;
      }
      failures += 1;
      if (failures === mostFailures) changed(true);
      if (failures >= mostFailures) openUntil = clock.now() + restMs;
    },
  };
}
