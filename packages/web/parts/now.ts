// The time by which the page shows clocks: one timer for all of them.

import type { UnixSeconds } from '@parley/core/nominal.ts';
import { useSyncExternalStore } from 'react';
import { now } from '../market/clock.ts';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Shown again each second. Keep what uses it small: a clock, not a screen. */
export function useNow(): UnixSeconds {
  return useSyncExternalStore(subscribe, now);
}
