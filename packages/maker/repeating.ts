// Work that a maker does again and again until it stops.

import { setTimeout as wait } from 'node:timers/promises';
import type { Millis } from '@parley/core/nominal.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import type { Log } from './log.ts';
import type { MarketMetrics } from './metrics.ts';
import type { Undo } from './undo.ts';

type Repeating = {
  readonly log: Log;
  readonly failures: MarketMetrics['failures'];
  readonly signal: AbortSignal;
};

/** Begins each pass when the one before has ended and the pause is over. */
export function repeating({ log, failures, signal }: Repeating) {
  return (what: string, pauseMs: Millis, work: () => Promise<void>) => {
    const passes = async () => {
      for (;;) {
        try {
          await work();
        } catch (error) {
          signal.throwIfAborted();
          failures.inc({ what });
          log.warn('pass_failed', { what, error: messageOf(error) });
        }
        await wait(pauseMs, undefined, { signal });
      }
    };
    // Only the signal ends it.
    passes().catch(() => undefined);
  };
}

/** Calls of one moment are one piece of work, this long after the first of them. */
export function debounced(ms: Millis, work: () => void, undo: Undo): () => void {
  let timer: NodeJS.Timeout | undefined;
  undo.push(() => clearTimeout(timer));
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work();
    }, ms);
  };
}
