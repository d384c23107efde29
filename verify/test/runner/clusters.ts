// PostgreSQL for the processes of a run of tests: a client of a socket is given the URL of a
// cluster that nobody else uses, until it hangs up, however it ends. One is started when none is
// free, so that a run which asks for no database starts none.

import { mkdir } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { withClient } from '@parley/host/postgres/client.ts';
import { startPostgres } from '@parley/host/postgres/postgres.ts';

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
  const path = join(folder, 'socket');
  const give = async (socket: Socket) => {
    socket.on('error', () => {});
    const waiting = free.length === 0 ? start(join(folder, `${started.length}`), signal) : null;
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
      for (const each of await Promise.allSettled(started)) {
        if (each.status === 'fulfilled') await each.value.stop();
      }
    },
  };
}

async function start(dir: string, signal: AbortSignal) {
  await mkdir(dir);
  const postgres = await startPostgres({ dir, log: quiet, signal });
  await withClient({ connectionString: postgres.url }, async (client) => {
    for (const [name, value] of Object.entries(settings)) {
      await client.query(`alter system set ${name} = ${value}`);
    }
    await client.query('select pg_reload_conf()');
    // Each connection of a client hashes the password as often as it was hashed here.
    await client.query('set scram_iterations = 1');
    const { username, password } = new URL(postgres.url);
    const role = client.escapeIdentifier(username);
    await client.query(`alter role ${role} password ${client.escapeLiteral(password)}`);
  });
  return postgres;
}
