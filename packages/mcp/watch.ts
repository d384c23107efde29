// Changes of own swaps, for clients that listen: the market's list is read again and again while
// anybody listens, and a driver of this process says at once that its swap has moved.

import type { ParleyClient } from '@parley/sdk/client.ts';
import { aborted } from '@parley/sdk/waiting.ts';
import type { Timer } from './waiting.ts';

export type Change = { readonly swapId: string; readonly isNew: boolean };

export type Watch = {
  /** Until the result is called. Each transport bounds how many listen. */
  listen(told: (change: Change) => void): () => void;
  changed(swapId: string): void;
  close(): void;
};

/** A block of the fastest chain; twelve requests of the 300 that a key has a minute. */
const everyMs = 5_000;
/** The newest of them: a swap before these has ended, or its driver tells. */
export const mostWatched = 100;

type Made = { readonly client: Pick<ParleyClient, 'swaps'>; readonly pause: Timer['pause'] };

export function createWatch({ client, pause }: Made): Watch {
  const listeners = new Set<(change: Change) => void>();
  let looking: AbortController | null = null;
  const tell = (change: Change) => {
    for (const each of listeners) each(change);
  };
  const run = async (signal: AbortSignal) => {
    let before: ReadonlyMap<string, string> | null = null;
    while (!signal.aborted) {
      const seen = await seenIn(client, signal);
      if (seen !== null) {
        for (const each of changesOf(before ?? seen, seen)) tell(each);
        before = seen;
      }
      await Promise.race([pause(everyMs, signal).catch(() => {}), aborted(signal)]);
    }
  };
  const stop = () => {
    looking?.abort();
    looking = null;
  };
  return {
    listen: (told) => {
      const own = (change: Change) => told(change);
      listeners.add(own);
      if (looking === null) {
        looking = new AbortController();
        void run(looking.signal);
      }
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) stop();
      };
    },
    changed: (swapId) => tell({ swapId, isNew: false }),
    close: () => {
      listeners.clear();
      stop();
    },
  };
}

/** null: the market is away, and is asked again. */
async function seenIn(
  { swaps }: Made['client'],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | null> {
  try {
    const found = await swaps({ limit: mostWatched }, { signal });
    return new Map(found.swaps.map((each) => [each.id, JSON.stringify(each)]));
  } catch {
    return null;
  }
}

function changesOf(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Change[] {
  return [...after]
    .filter(([swapId, text]) => before.get(swapId) !== text)
    .map(([swapId]) => ({ swapId, isNew: !before.has(swapId) }));
}
