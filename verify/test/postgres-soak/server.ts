// A PostgreSQL server as an operator runs one: initdb or pg_basebackup of another makes it. It is
// started, promoted, and killed.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@parley/host/free-port.ts';
import { chooseIdentity, type Identity } from '@parley/host/postgres/identity.ts';
import pg from 'pg';
import type { Programs } from './programs.ts';

const run = promisify(execFile);
const commandMs = 300_000;
const startTries = 1_200;

export const user = 'parley';
export const databaseName = 'parley';

/** As on a small server; durability stays at PostgreSQL's defaults. */
const usual = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '64MB',
  timezone: 'UTC',
};

export type Place = {
  readonly programs: Programs;
  readonly identity: Identity;
  readonly data: string;
  readonly password: string;
};

/** Makes the market's database where there is none yet. */
async function haveDatabase(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const state = await client.query(
      `select pg_is_in_recovery() as "isStandby",
        exists (select from pg_database where datname = '${databaseName}') as "isThere"`,
    );
    const { isStandby, isThere } = state.rows[0];
    if (!isStandby && !isThere) await client.query(`create database ${databaseName}`);
  });
}

export type Server = Place & {
  readonly port: number;
  readonly url: string;
  /** A word to it, in the database of the market. */
  sql<Row extends pg.QueryResultRow>(text: string): Promise<Row[]>;
  stop(): Promise<void>;
};

async function placeIn(dir: string, programs: Programs, password: string): Promise<Place> {
  const identity = await chooseIdentity(null, [dir, programs.bin]);
  const data = join(dir, 'data');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await chmod(dir, 0o700);
  if (identity.owner !== null) await chown(dir, identity.owner.uid, identity.owner.gid);
  return { programs, identity, data, password };
}

/** Runs one of its programs as the owner of the data. */
async function command(place: Place, program: string, args: readonly string[]): Promise<string> {
  const { programs, identity, password } = place;
  const { file, args: all, uid, gid } = identity.command(join(programs.bin, program), args);
  const env = { ...process.env, ...programs.env, PGPASSWORD: password, TZ: 'UTC', LC_ALL: 'C' };
  const who = uid === undefined ? {} : { uid, gid: gid ?? uid };
  const { stdout } = await run(file, [...all], { cwd: '/', env, timeout: commandMs, ...who });
  return stdout;
}

/** An empty server, not started, that others may copy. */
export async function makeServer(dir: string, programs: Programs): Promise<Place> {
  const password = randomBytes(24).toString('base64url');
  const place = await placeIn(dir, programs, password);
  const words = join(dir, 'password');
  await writeFile(words, password, { mode: 0o600 });
  const { owner } = place.identity;
  if (owner !== null) await chown(words, owner.uid, owner.gid);
  const how = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'];
  await command(place, 'initdb', ['-D', place.data, '-U', user, `--pwfile=${words}`, ...how]);
  return place;
}

export async function startServer(place: Place): Promise<Server> {
  const { programs, identity, data, password } = place;
  const port = await freePort();
  const args = ['-D', data, '-p', String(port)];
  for (const [name, value] of Object.entries(usual)) {
    args.push('-c', `${name}=${value}`);
  }
  const log = `${data}.log`;
  const out = await open(log, 'a', 0o600);
  const { file, args: all, uid, gid } = identity.command(join(programs.bin, 'postgres'), args);
  const child = spawn(file, [...all], {
    cwd: '/',
    env: { ...process.env, ...programs.env, TZ: 'UTC', LC_ALL: 'C' },
    stdio: ['ignore', out.fd, out.fd],
    ...(uid === undefined ? {} : { uid, gid: gid ?? uid }),
  });
  await out.close();
  const at = (name: string) => `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;
  await ready(child, at('postgres'), log);
  await haveDatabase(at('postgres'));
  const sql = async <Row extends pg.QueryResultRow>(text: string) =>
    withClient(at(databaseName), async (client) => (await client.query<Row>(text)).rows);
  return {
    ...place,
    port,
    sql,
    url: at(databaseName),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
    },
  };
}

async function withClient<R>(url: string, work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Until it answers; a standby does when it is consistent. */
async function ready(child: ChildProcess, url: string, log: string): Promise<void> {
  for (let tries = 0; tries < startTries; tries += 1) {
    const isReady = await withClient(url, (client) => client.query('select 1')).then(
      () => true,
      () => false,
    );
    if (isReady) return;
    if (child.exitCode !== null || child.signalCode !== null) break;
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error(`PostgreSQL did not start:\n${(await readFile(log, 'utf8')).slice(-4_000)}`);
}
