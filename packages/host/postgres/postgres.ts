// The embedded database: a real PostgreSQL under a small supervisor. One owner a folder, data and
// password private to us, loopback only, every commit on disk (fsync on). The next start recovers
// from every end of the last run: Ctrl-C, kill -9 of us or of the database, a power cut.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, chown, mkdir, open, realpath, rename, stat } from 'node:fs/promises';
import { dirname, join, resolve as resolvePath } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFolder } from '../folder-lock.ts';
import { freePort } from '../free-port.ts';
import type { Log } from '../log.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { withClient } from './client.ts';
import {
  databaseEnvironment,
  dataOwner,
  endLeftovers,
  endOrphan,
  endPostmaster,
  isAlive,
  lastLine,
  type Places,
  placesUnder,
  prepareCluster,
  readIfThere,
  superuser,
} from './cluster.ts';
import { EmbeddedPostgresError } from './failure.ts';
import { chooseIdentity, type Identity } from './identity.ts';

const host = '127.0.0.1';
const databaseName = 'parley';
/** Long enough to replay the write-ahead log after a crash on a slow disk. */
const startLimitMs = 120_000;
const pollMs = 10;
const leftoverLimitMs = 30_000;
/** Those that can end by themselves have done so by then. */
const leftoverGraceMs = 2_000;
const leftoverPollMs = 100;
const portAttempts = 5;
/** Starts at once after so many ends within the window; from then on with pauses. */
const restartLimit = 5;
const restartWindowMs = 60_000;
const restartPauseMs = 5_000;
const logLimitBytes = 10 * 1024 * 1024;

/** Made for a small machine: about 200 MB in all. Durability stays at PostgreSQL's defaults. */
const settings: Readonly<Record<string, string>> = {
  listen_addresses: host,
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '200',
  shared_buffers: '128MB',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  effective_cache_size: '512MB',
  min_wal_size: '64MB',
  max_wal_size: '512MB',
  checkpoint_timeout: '5min',
  max_worker_processes: '4',
  max_parallel_workers_per_gather: '0',
  autovacuum_max_workers: '2',
  io_method: 'sync',
  jit: 'off',
  huge_pages: 'off',
  log_checkpoints: 'off',
};

export type PostgresOptions = {
  readonly dir: string;
  readonly log: Log;
  /** Gives up a start that is under way; afterwards it has no effect, call `stop`. */
  readonly signal?: AbortSignal;
  readonly port?: number;
};

export type EmbeddedPostgres = {
  readonly url: string;
  /** Changes when the supervisor had to start the database again. */
  readonly pid: number;
  /** Close the connection pools first. May be called more than once. */
  stop(): Promise<void>;
};

type Setup = {
  readonly places: Places;
  readonly binaries: Binaries;
  readonly identity: Identity;
  readonly log: Log;
};

export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { log, signal } = options;
  const base = resolvePath(options.dir, 'postgres');
  await mkdir(base, { recursive: true, mode: 0o700 });
  const places = placesUnder(await realpath(base));
  const lock = await lockFolder(places.base, 'postgres');
  if (lock === null) {
    throw new EmbeddedPostgresError(
      'in_use',
      `Another running process uses the database in ${places.base}. Stop it first, or choose ` +
        'another folder.',
      { folder: places.base },
    );
  }
  try {
    const setup = await prepare(places, log);
    const { password } = await prepareCluster(places, setup.binaries, setup.identity, signal);
    const orphan = await endOrphan(places);
    if (orphan === 'stopped') log.warn({}, 'stopped the database that a crash had left running');
    const { child, port } = await launchWhereFree(setup, options.port, signal);
    try {
      await ensureDatabase(connection(port, password, 'postgres'));
    } catch (error) {
      await endPostmaster(child.pid!);
      throw error;
    }
    const url = connection(port, password, databaseName);
    return supervise(setup, child, port, url, lock.release);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

export async function runningPostgres(dir: string): Promise<string | null> {
  const places = placesUnder(resolvePath(dir, 'postgres'));
  const note = ((await readIfThere(join(places.data, 'postmaster.pid'))) ?? '').split('\n');
  const pid = Number(note[0]);
  const port = Number(note[3]);
  const password = (await readIfThere(places.password))?.trim() ?? '';
  const runs = note[7]?.trim() === 'ready' && pid > 0 && isAlive(pid);
  return runs && password !== '' ? connection(port, password, databaseName) : null;
}

async function prepare(places: Places, log: Log): Promise<Setup> {
  const binaries = await findBinaries(places.libraries);
  const reachable = [places.base, dirname(binaries.postgres)];
  const identity = await chooseIdentity(await dataOwner(places), reachable);
  await chmod(places.base, 0o700);
  const { owner } = identity;
  if (owner !== null) await chown(places.base, owner.uid, owner.gid);
  return { places, binaries, identity, log };
}

/**
 * On a free port unless one is wanted. Another process may take it before the database binds; and
 * backends outlive a killed postmaster for a moment, beside which PostgreSQL does not start.
 */
async function launchWhereFree(
  setup: Setup,
  wanted: number | undefined,
  signal: AbortSignal | undefined,
): Promise<{ child: ChildProcess; port: number }> {
  const began = performance.now();
  for (let attempt = 1; ; ) {
    const port = wanted ?? (await freePort());
    try {
      return { child: await launch(setup, port, signal), port };
    } catch (error) {
      const { portTaken, leftover } = error instanceof EmbeddedPostgresError ? error.facts : {};
      if (leftover === true) {
        const waitedMs = performance.now() - began;
        if (waitedMs > leftoverLimitMs || signal?.aborted) throw error;
        const ended = waitedMs > leftoverGraceMs ? await endLeftovers(setup.places) : 0;
        if (ended > 0) setup.log.warn({ ended }, 'ended what a killed database had left running');
        await sleep(leftoverPollMs);
      } else if (portTaken !== true || wanted !== undefined || attempt === portAttempts) {
        throw error;
      } else attempt += 1;
    }
  }
}

async function launch(
  setup: Setup,
  port: number,
  signal: AbortSignal | undefined,
): Promise<ChildProcess> {
  const { places, binaries, identity } = setup;
  const args = ['-D', places.data, '-p', String(port)];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  const command = identity.command(binaries.postgres, args);
  await rotateLog(places.log);
  // A file, not a pipe: the database must not lose its log with us.
  const logFile = await open(places.log, 'a', 0o600);
  try {
    const logStart = (await logFile.stat()).size;
    const child = spawn(command.file, command.args, {
      cwd: places.base,
      // Its own process group: Ctrl-C in the terminal must not reach it before our pool closed.
      detached: true,
      env: databaseEnvironment(binaries),
      stdio: ['ignore', logFile.fd, logFile.fd],
      ...(command.uid === undefined ? {} : { uid: command.uid, gid: command.gid ?? command.uid }),
    });
    child.unref();
    await untilReady(child, places, logStart, signal);
    return child;
  } finally {
    await logFile.close();
  }
}

async function untilReady(
  child: ChildProcess,
  places: Places,
  logStart: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  let failure = null as Error | null;
  child.once('error', (error) => {
    failure = error;
  });
  const note = join(places.data, 'postmaster.pid');
  for (let waited = 0; waited < startLimitMs; waited += pollMs) {
    if (failure !== null || hasEnded(child)) throw await startFailure(places, logStart, failure);
    if (signal?.aborted) {
      await endPostmaster(child.pid!);
      throw new EmbeddedPostgresError('aborted', 'The start of the database was given up.');
    }
    const lines = ((await readIfThere(note)) ?? '').split('\n');
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return;
    await sleep(pollMs);
  }
  await endPostmaster(child.pid!);
  throw await startFailure(places, logStart, null);
}

async function startFailure(
  places: Places,
  logStart: number,
  cause: Error | null,
): Promise<EmbeddedPostgresError> {
  const text = ((await readIfThere(places.log)) ?? '').slice(logStart).slice(-8_000);
  const portTaken = /could not bind|could not create any TCP/.test(text);
  const leftover = /pre-existing shared memory block/.test(text);
  return new EmbeddedPostgresError(
    'start_failed',
    `The database in ${places.data} did not start: ${cause?.message ?? lastLine(text)} ` +
      `(see ${places.log})`,
    { portTaken, leftover, log: text },
    cause === null ? undefined : { cause },
  );
}

function ensureDatabase(connectionString: string): Promise<void> {
  return withClient({ connectionString }, async (client) => {
    const asked = 'select 1 from pg_database where datname = $1';
    const found = await client.query(asked, [databaseName]);
    if (found.rowCount === 0) await client.query(`create database ${databaseName}`);
  });
}

function supervise(
  setup: Setup,
  first: ChildProcess,
  port: number,
  url: string,
  release: () => Promise<void>,
): EmbeddedPostgres {
  const { log, places } = setup;
  const halt = new AbortController();
  const isHalted = () => halt.signal.aborted;
  const endings: number[] = [];
  let child = first;
  let restarting: Promise<void> = Promise.resolve();
  let stopping: Promise<void> | null = null;

  const watch = () => {
    if (hasEnded(child)) restarting = restart();
    else
      child.once('exit', () => {
        restarting = restart();
      });
  };
  const restart = async () => {
    // For as long as it takes: a full disk may have space again when nobody is there.
    while (!isHalted()) {
      const now = performance.now();
      endings.push(now);
      while (now - (endings[0] ?? now) > restartWindowMs) endings.shift();
      log.error({ recent: endings.length, log: places.log }, 'the database ended by itself');
      if (endings.length > restartLimit) {
        await sleep(restartPauseMs, undefined, { signal: halt.signal }).catch(() => {});
      }
      try {
        ({ child } = await launchWhereFree(setup, port, halt.signal));
        log.warn({ pid: child.pid }, 'the database is running again');
        watch();
        return;
      } catch (cause) {
        if (isHalted()) return;
        log.error({ err: cause }, 'the database could not be started again');
      }
    }
  };
  const stop = async () => {
    halt.abort();
    await restarting;
    if (!hasEnded(child) && isAlive(child.pid!)) await endPostmaster(child.pid!);
    await release();
  };
  watch();
  return {
    url,
    get pid() {
      return child.pid!;
    },
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function connection(port: number, password: string, database: string): string {
  return `postgres://${superuser}:${encodeURIComponent(password)}@${host}:${port}/${database}`;
}

async function rotateLog(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found !== null && found.size > logLimitBytes) await rename(file, `${file}.old`);
}
