// Tests only: locks of the tabs of one browser, without a browser. A test holds one as a frozen tab
// does.

import type { Store, StoreLock } from '@parley/sdk/stores/store.ts';

export function tabLocks(): Required<Pick<Store, 'lock'>> {
  const waiting = new Map<string, (() => void)[]>();
  return {
    lock: (name, signal) => {
      const queue = waiting.get(name);
      if (queue !== undefined && signal.aborted) return Promise.resolve(null);
      return new Promise<StoreLock | null>((resolve) => {
        const had = () => resolve({ release: async () => next(name) });
        if (queue === undefined) {
          waiting.set(name, []);
          had();
          return;
        }
        queue.push(had);
        signal.addEventListener('abort', () => {
          const at = queue.indexOf(had);
          if (at >= 0) queue.splice(at, 1);
          resolve(null);
        });
      });
    },
  };

  function next(name: string): void {
    const first = waiting.get(name)?.shift();
    if (first === undefined) waiting.delete(name);
    else first();
  }
}
