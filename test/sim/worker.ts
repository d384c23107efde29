// One of the processes that simulate: is given a database, then seeds, one after the other.

import { registerHooks } from 'node:module';
import { connect, databaseLimits } from '../../server/db/database.ts';
import { createMetrics } from '../../server/ports/metrics.ts';

export type Job = { readonly seed: number };
/** Said once, before the first seed is begun. */
export type Loaded = 'loaded';
export type Done = {
  readonly seed: number;
  readonly violations: readonly { readonly rule: string; readonly what: string }[];
  readonly story: readonly string[];
  readonly counts: readonly (readonly [string, number])[];
};

const own = new URL('ids.ts', import.meta.url).href;
const real = new URL('../../server/ports/ids.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    return found.url === real && context.parentURL !== own ? { ...found, url: own } : found;
  },
});
// After the hook: what these import is resolved through it.
const { simulate } = await import('./simulate.ts');
const { beginIds } = await import('./ids.ts');

// Who stops all processes at once means the one that counts, which lets a seed come to its end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

const [url = ''] = process.argv.slice(2);
const database = connect(url, { ...databaseLimits, connections: 8 });
const shared = { real: database, metrics: createMetrics('parley') };

let current: number | null = null;
/** A promise that nobody waits for failed: in a real process that is its end. */
const unheard: string[] = [];
process.on('unhandledRejection', (error) => {
  if (current === null) return;
  unheard.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
});

process.on('message', ({ seed }: Job) => {
  beginIds();
  current = seed;
  unheard.length = 0;
  void simulate(seed, shared).then(({ violations, story, counts }) => {
    current = null;
    const more = unheard.map((what) => ({ rule: 'nothing unheard of happens', what }));
    const all = [...violations, ...more];
    const done: Done = { seed, violations: all, story, counts: [...counts] };
    process.send?.(done);
  });
});
process.send?.('loaded' satisfies Loaded);
// A market that died leaves requests behind that wait for ever: nothing is waited for.
process.once('disconnect', () => process.exit());
if (!process.connected) process.exit();
