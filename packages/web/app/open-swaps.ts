// Swaps of this browser go on whichever screen is open. Whether there are any is looked up again
// and again, and what settles them is loaded only then.

import { held } from '../live.ts';
import type { Over } from './driving.tsx';

/** The tab that settled may have been closed. Browsers wake a hidden page once a minute. */
const lookEveryMs = 60_000;

/** null: no swap of this browser goes on. */
export const overScreens = held<Over | null>(null);

/** Once a page. */
export function driveOpenSwaps(): void {
  let begun = false;
  const isBegun = () => begun;
  const look = async () => {
    if (isBegun() || !(await hasOpen())) return;
    // Another look may have begun meanwhile.
    if (isBegun()) return;
    begun = true;
    try {
      const { driving } = await import('./driving.tsx');
      await driving(overScreens.set);
    } catch {
      // The reason stands over the screens, but for code that did not arrive: it is tried again.
      begun = false;
    }
  };
  setInterval(() => void look(), lookEveryMs);
  void look();
}

async function hasOpen(): Promise<boolean> {
  if (!(await keepsAny())) return false;
  try {
    return await (await import('../engine/keeping.ts')).hasOpenSwaps();
  } catch {
    // The engine opens it again, and says what is wrong.
    return true;
  }
}

/** A browser without swaps loads no engine. */
async function keepsAny(): Promise<boolean> {
  try {
    // Old browsers list no databases.
    const all = await (indexedDB as Partial<IDBFactory>).databases?.();
    return all?.some(({ name }) => name?.startsWith('parley-')) ?? true;
  } catch {
    // Where a page may not even ask, none has kept anything.
    return false;
  }
}
