// A PostgreSQL of this process's own in a temporary folder, for tests and benchmarks; in a run of
// many files one of the run's (scripts/test-files.ts), for as long as this process uses it.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '../../host/folder-lock.ts';
import { startPostgres } from '../../host/postgres/postgres.ts';

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

/** One that nobody else uses meanwhile. What others left in it are databases of other names. */
export async function openCluster(): Promise<Cluster> {
  const shared = process.env.PARLEY_TEST_CLUSTERS;
  const names = shared === undefined ? [] : await readdir(shared);
  for (const name of names) {
    const dir = join(shared ?? '', name);
    // The kernel gives it back, however this process ends.
    const lock = await lockFolder(dir, 'tests');
    if (lock === null) continue;
    const adminUrl = await readFile(join(dir, 'url'), 'utf8');
    return { adminUrl, stop: () => lock.release() };
  }
  return startCluster();
}
