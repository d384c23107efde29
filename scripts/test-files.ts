// `npm test` runs this for its test files: `node --test` begins with a, and each file of it is a
// process with a PostgreSQL of its own. Here the long ones begin first, those that mostly wait
// before all others, small ones share a process (test-groups.ts), and a process takes one of the
// run's clusters that nobody uses at that time (test/support/cluster.ts). Says at its end which
// took long.
//
//   node scripts/test-files.ts FILES_AT_ONCE FILE...

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { type EmbeddedPostgres, startPostgres } from '../host/postgres/postgres.ts';
import { entryOf, groupsOf } from './test-groups.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Of one process. */
const fileLimitMs = 360_000;
/** Files that take longer are named at the end. */
const longMs = 30_000;

/** By how long they take, those first that wait for most of it. */
const first: readonly string[] = [
  'test/conformance.test.ts',
  'test/faults-network.test.ts',
  'test/feed-market.test.ts',
  'test/restore.test.ts',
  'sdk/settle-families.test.ts',
  'scripts/doctor.test.ts',
  'test/secrets.test.ts',
  'test/start.test.ts',
  'test/faults-servers.test.ts',
  'test/crash-matrix.test.ts',
  'test/tour.test.ts',
  'devnet/devnet.test.ts',
  // When nothing is compiled any more: it counts what it gets done.
  'test/sim/sim.test.ts',
  'test/webhooks-order.test.ts',
  'test/webhooks-crashes.test.ts',
  'test/keeper-families.test.ts',
  'test/families.test.ts',
  'test/demo.test.ts',
  'test/adapters.test.ts',
  'test/crash-matrix/processes.test.ts',
  'test/faults-bitcoin.test.ts',
  'test/faults-database.test.ts',
  'test/faults-forks.test.ts',
  'test/crash-broadcast.test.ts',
  'sdk/evm-replacement.test.ts',
  'sdk/evm-reorganised.test.ts',
  'contracts/solana/program.test.ts',
  'scripts/command.test.ts',
  // Compiles what others of its folder read then.
  'chains/evm/inspect.test.ts',
];

function ordered(files: readonly string[]): string[] {
  // One that was renamed would lose its place without a word.
  const gone = first.filter((file) => !existsSync(join(root, file)));
  if (gone.length > 0) throw new Error(`of the files that begin first, not there: ${gone.join()}`);
  const long = first.filter((file) => files.includes(file));
  // Backward: those of test/ take longest of the rest, and one at the end leaves a core idle.
  return [...long, ...files.filter((file) => !first.includes(file)).toReversed()];
}

const quiet = { info: () => {}, warn: () => {}, error: () => {} };

/** Four clusters come to at most 2 GiB, half of it logs; what tests make, to a few hundred MB. */
const inMemoryBytes = 4 * 2 ** 30;
/** What `statfs` calls a tmpfs. */
const tmpfsType = 0x0102_1994;

/**
 * Where the run's temporary folders are. Most tests make a database of more than five hundred files
 * and drop it: on a disk that takes the kernel several times as long, a quarter of the whole run.
 */
async function openScratch(): Promise<string> {
  const memory = '/dev/shm';
  const found = await statfs(memory).catch(() => null);
  if (found !== null && found.type === tmpfsType) {
    const free = Math.min(found.bavail * found.bsize, process.availableMemory());
    if (free >= inMemoryBytes) {
      const inMemory = await newScratch(memory);
      if (await canRun(inMemory)) return inMemory;
      await rm(inMemory, { recursive: true });
    }
  }
  return newScratch(tmpdir());
}

/** Open to all, as the system's own: databases and ordinary users have folders in it. */
async function newScratch(parent: string): Promise<string> {
  const scratch = await mkdtemp(join(parent, 'parley-'));
  await chmod(scratch, 0o1777);
  return scratch;
}

/** Containers often mount it so that no program in it runs, and tests write some. */
async function canRun(folder: string): Promise<boolean> {
  const program = join(folder, 'program');
  await writeFile(program, '#!/bin/sh\n', { mode: 0o700 });
  const isRun = await promisify(execFile)(program).then(
    () => true,
    () => false,
  );
  await rm(program);
  return isRun;
}

type Clusters = { readonly folder: string; stop(): Promise<void> };

/** One for each file that runs at once: a file has it for itself while it runs. */
async function startClusters(
  folder: string,
  count: number,
  signal: AbortSignal,
): Promise<Clusters> {
  await mkdir(folder, { mode: 0o700 });
  const started: EmbeddedPostgres[] = [];
  const stop = async () => {
    await Promise.all(started.map((each) => each.stop()));
  };
  try {
    for (let at = 0; at < count; at += 1) {
      signal.throwIfAborted();
      const dir = join(folder, String(at));
      await mkdir(dir);
      const postgres = await startPostgres({ dir, log: quiet });
      started.push(postgres);
      await hurry(postgres.url);
      await writeFile(join(dir, 'url'), postgres.url, { mode: 0o600 });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { folder, stop };
}

/** What is lost when the machine stops is of no use then; what a process loses is as ever. */
async function hurry(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const name of ['fsync', 'full_page_writes']) {
    await client.query(`alter system set ${name} = off`);
  }
  await client.query('select pg_reload_conf()');
  await client.end();
}

function tell(durations: ReadonlyMap<string, number>): void {
  const long = [...durations].filter(([, ms]) => ms >= longMs).sort((a, b) => b[1] - a[1]);
  for (const [file, ms] of long) {
    const seconds = `${Math.round(ms / 1_000)}`.padStart(4);
    console.log(`${seconds} s  ${names.get(file) ?? file.replace(root, '')}`);
  }
}

const [atOnce = '1', ...given] = process.argv.slice(2);
const concurrency = Number(atOnce);
const isOwn = process.env.PARLEY_TEST_DATABASE_URL === undefined;
const groups = groupsOf(root, ordered(given), first);
const names = new Map<string, string>();
// Before anything is started, so that all of it is stopped: databases, and files that run.
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => stopping.abort(new Error(`ended by ${name}`)));
}
const { signal } = stopping;

/** Whether all passed. */
async function runIn(scratch: string): Promise<boolean> {
  process.env.TMPDIR = scratch;
  const entries = join(scratch, 'entries');
  await mkdir(entries);
  for (const group of groups) names.set(await entryOf(root, entries, group), group.name);
  const files = [...names.keys()];
  const count = Math.min(concurrency, files.length);
  const clusters = isOwn ? await startClusters(join(scratch, 'clusters'), count, signal) : null;
  if (clusters !== null) process.env.PARLEY_TEST_CLUSTERS = clusters.folder;
  const durations = new Map<string, number>();
  let isWell = false;
  // What tests make is soon of no use: a larger place for the young is a tenth of the time of some.
  const execArgv = ['--max-semi-space-size=32'];
  const stream = run({ files, concurrency, timeout: fileLimitMs, signal, execArgv });
  stream.on('test:summary', ({ file, duration_ms, success }) => {
    if (file === undefined) isWell = success;
    else durations.set(file, duration_ms);
  });
  for await (const text of stream.compose(spec)) process.stdout.write(text);
  tell(durations);
  await clusters?.stop();
  return isWell && !signal.aborted;
}

const scratch = await openScratch();
try {
  process.exitCode = (await runIn(scratch)) ? 0 : 1;
} finally {
  // In memory, what is left there is missing until the machine ends.
  await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
