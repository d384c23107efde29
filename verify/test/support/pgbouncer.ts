// Debian's PgBouncer before a database of tests, configured by nothing but its mode: one on the
// PATH, else the package, unpacked into the user's cache.

import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, obtainDebianProgram } from '@parley/dev/devnet/debian-package.ts';
import { loopback, programOnPath, startProgram } from '@parley/dev/devnet/processes.ts';
import { freePort } from '@parley/host/free-port.ts';
import pg from 'pg';

const run = promisify(execFile);
const readyLimitMs = 30_000;
const answerLimitMs = 20_000;

/** 1.18: Debian 12's refuses every startup parameter that it does not know. */
export const pgbouncerPackage = {
  program: 'pgbouncer',
  folder: 'sbin' as const,
  packages: ['pgbouncer'],
  suites: ['bookworm'],
};

export async function findPgbouncer() {
  const installed = programOnPath('pgbouncer');
  if (installed !== null) return { file: installed, leadingArgs: [] };
  const identify = async (file: string, leadingArgs: readonly string[]) => {
    await run(file, [...leadingArgs, '--version'], { timeout: answerLimitMs });
    return { file, leadingArgs };
  };
  const cache = await cacheFolder(join(tmpdir(), `parley-programs-${process.getuid?.() ?? 0}`));
  return obtainDebianProgram(pgbouncerPackage, cache, identify, undefined);
}

export type Pooled = { readonly url: string; stop(): Promise<void> };

/** The same database through the pooler. `more`: further lines of its `[pgbouncer]`. */
export async function startPgbouncer(
  databaseUrl: string,
  mode: 'session' | 'transaction' | 'statement',
  more = '',
): Promise<Pooled> {
  const { file, leadingArgs } = await findPgbouncer();
  const folder = await mkdtemp(join(tmpdir(), 'parley-pgbouncer-'));
  const target = new URL(databaseUrl);
  const port = await freePort();
  const users = join(folder, 'users.txt');
  const [user, password] = [target.username, target.password].map(decodeURIComponent);
  await writeFile(users, `"${user}" "${password}"\n`);
  const config = join(folder, 'pgbouncer.ini');
  const lines = `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = ${loopback}
listen_port = ${port}
auth_type = plain
auth_file = ${users}
pool_mode = ${mode}
unix_socket_dir =
${more}
`;
  await writeFile(config, lines);
  // It does not run as root, and reads both as the user that it becomes.
  const owner = process.getuid?.() === 0 ? ['--user', 'nobody'] : [];
  await chmod(folder, 0o755);
  const url = new URL(databaseUrl);
  url.host = `${loopback}:${port}`;
  const args = [...leadingArgs, ...owner, config];
  const program = { name: 'PgBouncer', file, args, folder };
  const { running } = await startProgram(program, readyLimitMs, () => answers(url.href));
  return {
    url: url.href,
    stop: async () => {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answers(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
  } finally {
    await client.end();
  }
}
