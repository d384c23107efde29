// How one provider may be asked: at the pace that it allows, at most so many requests in any window
// and a bounded number that wait in their order.

import { setTimeout as sleep } from 'node:timers/promises';
import { ProviderFailure } from './facts.ts';

/** Time as the clients of providers use it, so that tests own it. */
export type Clock = {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

export const windowMs = 60_000;
/** A caller that would wait longer is told to come again: a request of a customer hangs on it. */
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
  /** When the last requests left, or will: at most `perMinute`, in order. */
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
      // Taken before the wait: a later caller stands behind, and an unused place is lost.
      turns.push(at);
      if (turns.length > perMinute) turns.splice(0, turns.length - perMinute);
      if (wait <= 0) return;
      waiting += 1;
      await clock.sleep(wait, signal).finally(() => {
        waiting -= 1;
      });
      if (pausedUntil > at) throw new ProviderFailure('limited', `${name} wants a pause`);
    },
    pause: (ms) => {
      pausedUntil = Math.max(pausedUntil, clock.now() + Math.min(Math.max(ms, 0), mostPauseMs));
    },
  };
}
