// The dependencies of the server's rooms, for tests: a movable clock, dev settings, a quiet log,
// and chains without nodes unless the test brings its own.

import { randomBytes } from 'node:crypto';
import type { Database } from '@parley/market/db/database.ts';
import type { Deps } from '@parley/market/ports/deps.ts';
import { stocked } from '@parley/market/ports/ids.ts';
import { createMetrics } from '@parley/market/ports/metrics.ts';
import { readSettings, type Settings } from '@parley/market/settings/config.ts';
import { pino } from 'pino';
import { stubAdapter } from './adapter.ts';

/** `deps.now()` is the machine's time plus what `advance` added, unless `freeze` was called. */
export type TestDeps = Deps & {
  advance(milliseconds: number): void;
  /** From now on the clock stands, and only `advance` moves it. */
  freeze(at?: number): void;
};

export type DepsOverrides = Partial<Omit<Deps, 'settings' | 'db'>> & {
  readonly db: Database;
  readonly settings?: Partial<Settings>;
};

export function testDeps(overrides: DepsOverrides): TestDeps {
  const { settings, now, ...rest } = overrides;
  let offset = 0;
  let frozen: number | null = null;
  const chains = [stubAdapter('bitcoin', 'bitcoin'), stubAdapter('evm-dev', 'evm')];
  return {
    settings: { ...readSettings({ PARLEY_RATE_LIMIT: '10000000' }), ...settings },
    now: () => (frozen ?? (now ?? Date.now)()) + offset,
    randomBytes: stocked(randomBytes),
    adapters: new Map(chains.map((each) => [each.chain, each])),
    metrics: createMetrics('parley'),
    log: pino({ level: process.env.PARLEY_TEST_LOG ?? 'silent' }),
    ...rest,
    advance: (milliseconds) => {
      offset += milliseconds;
    },
    freeze: (at) => {
      frozen = at ?? (now ?? Date.now)() + offset;
      offset = 0;
    },
  };
}
