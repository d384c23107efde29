// One of the processes that simulate: is given a database, then seeds, one after the other.

import { registerHooks } from 'node:module';
import { connect, databaseLimits } from '@parley/market/db/database.ts';
import { createMetrics } from '@parley/market/ports/metrics.ts';
import { crashed } from '../planted/bugs.ts';
import type { Done } from './crew.ts';

const own = new URL('ids.ts', import.meta.url).href;
const real = new URL('../../../apps/market/ports/ids.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    return found.url === real && context.parentURL !== own ? { ...found, url: own } : found;
  },
});
// After the hook: their imports are resolved through it.
const { simulate } = await import('./simulate.ts');
const { beginIds } = await import('./ids.ts');

const [url = ''] = process.argv.slice(2);
const database = connect(url, { ...databaseLimits, connections: 8 });
const shared = { real: database, metrics: createMetrics('parley') };

/** A promise that nobody waits for failed: in a real process that is its end. */
let unheard: string[] = [];
process.on('unhandledRejection', (error) => {
  unheard.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
});

process.on('message', async ({ seed }: { readonly seed: number }) => {
  beginIds();
  unheard = [];
  const done = await simulate(seed, shared);
  const more = unheard.map((what) => ({ rule: crashed.threw, what }));
  process.send?.({ ...done, violations: [...done.violations, ...more] } satisfies Done);
});
process.send?.('loaded');
// A market that died leaves requests behind that wait for ever: the worker waits for none of them.
process.once('disconnect', () => process.exit());
if (!process.connected) process.exit();
