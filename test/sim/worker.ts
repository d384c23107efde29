// One of the processes that simulate: is given a database, then seeds, one after the other.

import { connect, databaseLimits } from '../../server/db/database.ts';
import { createMetrics } from '../../server/metrics.ts';
import { simulate } from './simulate.ts';

export type Job = { readonly seed: number };
export type Done = {
  readonly seed: number;
  readonly violations: readonly { readonly rule: string; readonly what: string }[];
  readonly story: readonly string[];
  readonly counts: readonly (readonly [string, number])[];
};

const [url = ''] = process.argv.slice(2);
const real = connect(url, { ...databaseLimits, connections: 6 });
const shared = { real, metrics: createMetrics('parley') };

process.on('message', ({ seed }: Job) => {
  void simulate(seed, shared).then(({ violations, story, counts }) => {
    const done: Done = { seed, violations, story, counts: [...counts] };
    process.send?.(done);
  });
});
// A market that died leaves requests behind that wait for ever: nothing is waited for.
process.once('disconnect', () => process.exit());
