// Time as those who sign have it: real, unless whoever simulates the rest brings another.

import { setTimeout as sleep } from 'node:timers/promises';

export type SigningTime = {
  elapsedMs(): number;
  /** Throws when the signal ends first. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  limit(ms: number): AbortSignal;
  /** By which a turn ends; null = the database's own, which all servers share. */
  turnClock(): Date | null;
};

export const realTime: SigningTime = {
  elapsedMs: () => performance.now(),
  pause: (ms, signal) => sleep(ms, undefined, { signal }),
  limit: (ms) => AbortSignal.timeout(ms),
  turnClock: () => null,
};
