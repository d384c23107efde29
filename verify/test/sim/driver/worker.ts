// One of the processes that simulate the driver: is given seeds, one after the other.

import './hooks.ts';
import { crashed } from '../../planted/bugs.ts';
import type { Done } from '../crew.ts';

// After the hooks: its imports are resolved through them.
const { simulateDriver } = await import('./simulate.ts');

/** A promise that nobody waits for failed: in a real process that is its end. */
let unheard: string[] = [];
process.on('unhandledRejection', (error) => {
  unheard.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
});

process.on('message', async ({ seed }: { readonly seed: number }) => {
  unheard = [];
  const done = await simulateDriver(seed);
  const more = unheard.map((what) => ({ rule: crashed.threw, what }));
  process.send?.({ ...done, violations: [...done.violations, ...more] } satisfies Done);
});
process.send?.('loaded');
process.once('disconnect', () => process.exit());
if (!process.connected) process.exit();
