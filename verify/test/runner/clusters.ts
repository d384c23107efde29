// PostgreSQL for the processes of a run of tests: a client of a socket is given the URL of a
// cluster that nobody else uses, until it hangs up, however it ends. One is started when none is
// free, so that a run which asks for no database starts none. Each is a copy of the first one's
// folder, with the migrated template in it: initdb and the migrations run once.

import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withClient } from '@parley/host/postgres/client.ts';
import { startPostgres } from '@parley/host/postgres/postgres.ts';
import type pg from 'pg';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * Data may be lost when the machine stops, since it is of no use then; a process loses no more than
 * ever. A database lives for seconds: nothing of it is worth cleaning.
 */
const settings = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' };

export type Clusters = { readonly path: string; stop(): Promise<void> };

export async function serveClusters(folder: string, signal: AbortSignal): Promise<Clusters> {
  await mkdir(folder, { mode: 0o700 });
  const free: string[] = [];
  const started: ReturnType<typeof start>[] = [];
  let model: Promise<string> | null = null;
  const path = join(folder, 'socket');
  const give = async (socket: Socket) => {
    socket.on('error', () => {});
    model ??= makeModel(join(folder, 'model'), signal);
    const from = await model;
    const waiting =
      free.length === 0 ? start(from, join(folder, `${started.length}`), signal) : null;
    if (waiting !== null) started.push(waiting);
    const url = free.pop() ?? (await waiting)?.url ?? '';
    if (socket.destroyed) free.push(url);
    else socket.once('close', () => free.push(url)).write(`${url}\n`);
  };
  const server = createServer((socket) => {
    give(socket).catch((error: Error) => socket.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    stop: async () => {
      server.close();
      await model?.catch(() => {});
      for (const each of await Promise.allSettled(started)) {
        if (each.status === 'fulfilled') await each.value.stop();
      }
    },
  };
}

async function start(from: string, dir: string, signal: AbortSignal) {
  // Its files belong to the user of the database.
  await promisify(execFile)('cp', ['-a', from, dir]);
  return startPostgres({ dir, log: quiet, signal });
}

/** The folder of a cluster that is stopped, with these settings. */
async function makeModel(dir: string, signal: AbortSignal): Promise<string> {
  await mkdir(dir);
  const postgres = await startPostgres({ dir, log: quiet, signal });
  try {
    await withClient({ connectionString: postgres.url }, (client) => prepare(client, postgres.url));
    // Its modules are a market's: a run without a database loads none of them.
    const { makeTemplate } = await import('../support/database.ts');
    await makeTemplate(postgres.url);
  } finally {
    await postgres.stop();
  }
  return dir;
}

async function prepare(client: pg.Client, url: string): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    await client.query(`alter system set ${name} = ${value}`);
  }
  // Each connection of a client hashes the password as often as it was hashed here.
  await client.query('set scram_iterations = 1');
  const { username, password } = new URL(url);
  const role = client.escapeIdentifier(username);
  await client.query(`alter role ${role} password ${client.escapeLiteral(password)}`);
}
