// A PostgreSQL of this process's own in a temporary folder, for tests and benchmarks; in a run of
// many files one of the run's (verify/test/runner/clusters.ts), for as long as this process uses it.

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startPostgres } from '@parley/host/postgres/postgres.ts';

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

/** One that nobody else uses meanwhile. Databases that others left in it have other names. */
export async function openCluster(shared = process.env.PARLEY_TEST_CLUSTERS): Promise<Cluster> {
  if (shared === undefined) return startCluster();
  const socket = connect(shared);
  const [adminUrl] = await Promise.race([
    once(createInterface(socket), 'line'),
    once(socket, 'close').then(() => {
      throw new Error('no cluster could be started for this process');
    }),
  ]);
  // The kernel gives it back, however this process ends; it does not keep the process.
  socket.unref();
  return { adminUrl, stop: async () => void socket.destroy() };
}
