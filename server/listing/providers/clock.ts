// Time as the clients of providers use it, so that tests own it.

import { setTimeout as sleep } from 'node:timers/promises';

export type Clock = {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};
