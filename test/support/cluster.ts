// A PostgreSQL of this process's own in a temporary folder, for tests and benchmarks.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../server/db/embedded/postgres.ts';

/** `adminUrl` may create databases. */
export type Cluster = { readonly adminUrl: string; stop(): Promise<void> };

export async function startCluster(): Promise<Cluster> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-pg-'));
  const quiet = { info: () => {}, warn: () => {}, error: () => {} };
  const postgres = await startPostgres({ dir, log: quiet });
  return {
    adminUrl: postgres.url,
    stop: async () => {
      await postgres.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
