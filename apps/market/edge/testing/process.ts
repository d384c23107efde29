// A server process of its own on a given database, for tests of what two processes may do at once.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { nextEvent } from '@parley/verify/test/support/waiting.ts';
import { connect } from '../../db/database.ts';
import { buildApp } from '../app.ts';

const self = fileURLToPath(import.meta.url);

export type ServerProcess = {
  readonly url: string;
  readonly pid: number;
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
};

export async function startServerProcess(databaseUrl: string): Promise<ServerProcess> {
  const child = fork(self, [databaseUrl], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  const url = await Promise.race([once(child, 'message'), failure(child)]);
  return {
    url: String(url[0]),
    pid: child.pid as number,
    ended,
    stop: async () => {
      child.disconnect();
      await ended;
    },
  };
}

async function failure(child: ChildProcess): Promise<never> {
  const [code] = await nextEvent(child, 'exit');
  throw new Error(`the server process ended with ${code}`);
}

async function serve(databaseUrl: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'parley-process-'));
  const db = connect(databaseUrl);
  const app = await buildApp(testDeps({ db, settings: { home } }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  // Also when the test is killed: the channel closes with it.
  process.once('disconnect', async () => {
    app.server.closeAllConnections();
    await app.close();
    await db.close();
    rmSync(home, { recursive: true, force: true });
  });
  process.send?.(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
}

if (process.argv[1] === self && process.send !== undefined) await serve(process.argv[2] as string);
