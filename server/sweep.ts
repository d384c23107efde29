// Drops what has aged, now and then, in bounded batches: events after 7 days, stored replies after
// 24 hours, nonces after they expire.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from './deps.ts';
import { sweepReplies } from './market/idempotency.ts';
import { sweepNonces } from './market/nonces.ts';
import { prune } from './market/prune.ts';

const betweenMs = 60_000;
/** Rounds at once while a backlog is found: the rest waits for the next minute. */
const mostRounds = 50;

/** Sweeps every minute until stopped. A round that fails is logged and tried again. */
export function sweepByAge(deps: Deps): { stop(): Promise<void> } {
  const halt = new AbortController();
  const { signal } = halt;
  const loop = async () => {
    while (!signal.aborted) {
      await sweepOnce(deps, signal).catch((error: unknown) =>
        deps.log.error({ err: error }, 'a sweep failed'),
      );
      await sleep(betweenMs, undefined, { signal }).catch(() => {});
    }
  };
  const running = loop();
  return {
    stop: async () => {
      halt.abort();
      await running;
    },
  };
}

async function sweepOnce(deps: Deps, signal: AbortSignal): Promise<void> {
  await prune(deps);
  for (const sweep of [sweepReplies, sweepNonces]) {
    for (let round = 0; round < mostRounds && !signal.aborted; round += 1) {
      if (!(await sweep(deps))) break;
    }
  }
}
