// Requests to one provider at the pace that it allows: at most so many in any window, none while it
// has asked for a pause, and a bounded number that wait for their turn, in their order.

import type { Clock } from './clock.ts';
import { ProviderFailure } from './facts.ts';

export const windowMs = 60_000;
/** Who would wait longer is told to come again: a request of a customer hangs on it. */
export const mostWaitMs = 15_000;
export const mostWaiting = 50;
/** However long a provider says: it may be asked again after a while. */
export const mostPauseMs = 600_000;

export type Pace = {
  /** Resolves when a request may leave. Throws `ProviderFailure` of kind `limited`. */
  turn(signal: AbortSignal): Promise<void>;
  pause(ms: number): void;
};

export function createPace(name: string, perMinute: number, clock: Clock): Pace {
  const turns: number[] = [];
  let pausedUntil = 0;
  let waiting = 0;

  function next(): number {
    const oldest = turns.length < perMinute ? undefined : turns[turns.length - perMinute];
    const free = oldest === undefined ? 0 : oldest + windowMs;
    return Math.max(clock.now(), pausedUntil, free, turns.at(-1) ?? 0);
  }

  return {
    turn: async (signal) => {
      const at = next();
      const wait = at - clock.now();
      if (wait > mostWaitMs || (wait > 0 && waiting >= mostWaiting)) {
        const seconds = Math.ceil(wait / 1_000);
        throw new ProviderFailure('limited', `${name} takes no more requests for ${seconds} s`);
      }
      // Taken before the wait: who comes later stands behind, and a turn not used is lost.
      turns.push(at);
      if (turns.length > perMinute) turns.splice(0, turns.length - perMinute);
      if (wait <= 0) return;
      waiting += 1;
      try {
        await clock.sleep(wait, signal);
      } finally {
        waiting -= 1;
      }
      if (pausedUntil > at) {
        throw new ProviderFailure('limited', `${name} wants a pause`);
      }
    },
    pause: (ms) => {
      pausedUntil = Math.max(pausedUntil, clock.now() + Math.min(Math.max(ms, 0), mostPauseMs));
    },
  };
}
