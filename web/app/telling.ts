// Tells of every swap of this browser, whichever screen is open. The engine is opened for it: what
// settles a swap goes on meanwhile.

import { pageEngine } from '../engine/page.ts';
import { handOver } from '../parts/page-wallets.ts';
import { opensBy, tell } from '../parts/tell.ts';
import { reminderOf } from '../screens/settlement/reminders.ts';
import { localTime } from '../texts/people.ts';
import { restOfWords, text } from '../texts/texts.ts';
import { router } from './router.tsx';

/** Browsers wake a hidden page once a minute at most. */
const lookMs = 10_000;

export async function telling(): Promise<void> {
  opensBy((path) => router.history.push(path));
  const [engine] = await Promise.all([pageEngine(), restOfWords()]);
  handOver(engine.use);
  const open = new Set<string>();
  const look = () => {
    for (const swap of engine.swaps.all.now()) {
      const now = engine.now();
      const reminder = reminderOf({ swap, now, payments: [] }, open.has(swap.id));
      if (swap.phase !== 'ended') open.add(swap.id);
      if (reminder === null) continue;
      const { key, what, at } = reminder;
      const body =
        at === null
          ? text(`tell.${what}.why_open`)
          : text(`tell.${what}.why`, { at: localTime(at, now) });
      void tell({ key, title: text(`tell.${what}`), body, path: `/swaps/${swap.id}` });
    }
  };
  engine.swaps.all.subscribe(look);
  setInterval(look, lookMs);
  look();
}
