// The test files of `npm test`. `node --test` begins with a, and each file of it is a process with
// modules and a PostgreSQL of its own. Here the long ones begin first, those of a room share a
// process (groups.ts), modules are compiled once, and a process that asks for a database is
// given a cluster that nobody else uses (clusters.ts). Ends with what used the processor most.

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { serveClusters } from './clusters.ts';
import { entryOf, groupsOf } from './groups.ts';
import { apart, idleOver, processorSeconds, sumsOf, type Used, watchCores } from './usage.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
/** The compile cache, of use as long as the sources stay. */
const cacheFolder = join(root, 'node_modules/.cache/parley');
/**
 * Four more than cores, as most files wait for chains and clocks half of the time: with two more
 * again all took a tenth more of the processor, whose caches they share.
 */
const concurrency = Math.max(2, availableParallelism()) + 4;
/**
 * The limit of one test, or of what is before it: the longest took two minutes on a shared machine.
 */
const limitMs = 300_000;
const mostNamed = 20;

export type Outcome = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly notTested: readonly string[];
};

type Wanted = {
  readonly files: readonly string[];
  readonly name: RegExp | undefined;
  readonly isWatching: boolean;
  readonly signal: AbortSignal;
  /** By what was before the tests. */
  readonly used: readonly Used[];
};

export async function runFiles(wanted: Wanted): Promise<Outcome> {
  const compiled = join(cacheFolder, 'modules');
  const solidity = join(cacheFolder, 'solidity');
  for (const folder of [compiled, solidity]) mkdirSync(folder, { recursive: true });
  const scratch = await openScratch();
  const cores = watchCores();
  const usage = join(scratch, 'usage');
  await writeFile(usage, wanted.used.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const clusters = await serveClusters(join(scratch, 'clusters'), wanted.signal);
  const env = {
    ...process.env,
    TMPDIR: scratch,
    NODE_COMPILE_CACHE: compiled,
    PARLEY_TEST_COMPILED: solidity,
    PARLEY_TEST_USAGE: usage,
    PARLEY_TEST_CLUSTERS: clusters.path,
  };
  try {
    return await runIn(scratch, env, wanted);
  } finally {
    // The processes of tests have noted theirs: these two are counted from here on.
    await apart('PostgreSQL', () => clusters.stop(), usage);
    tell(usage);
    console.log(`cores idle, a half minute each, in %: ${idleOver(cores()).join(' ')}`);
    // In memory, what is left there is missing until the machine ends.
    await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function runIn(scratch: string, env: NodeJS.ProcessEnv, wanted: Wanted): Promise<Outcome> {
  const { name, isWatching: watch, signal } = wanted;
  const entries = join(scratch, 'entries');
  await mkdir(entries);
  // Watched, each file is run again by itself.
  const groups = watch ? wanted.files.map((file) => [file]) : groupsOf(root, wanted.files);
  const files = await Promise.all(groups.map((group) => entryOf(root, entries, group)));
  const patterns = name === undefined ? {} : { testNamePatterns: name };
  // Objects of tests are soon of no use: a larger place for the young is a tenth of the time of
  // some.
  const execArgv = ['--max-semi-space-size=32'];
  const limits = watch ? {} : { timeout: limitMs };
  const stream = run({ files, concurrency, signal, env, execArgv, watch, ...limits, ...patterns });
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const notTested: string[] = [];
  const hear = ({ message }: { message: string }) => {
    notTested.push(...(message.match(/NOT TESTED: .*/g) ?? []));
  };
  stream.on('test:stdout', hear);
  stream.on('test:stderr', hear);
  stream.on('test:pass', (test) => {
    // No test of it has the name that is asked for.
    if (files.includes(test.name)) counts.passed -= 1;
  });
  stream.on('test:summary', (summary) => {
    if (summary.file !== undefined) return;
    const { tests, passed, skipped, todo } = summary.counts;
    counts.passed += passed;
    counts.skipped += skipped + todo;
    // A file that is broken fails without any test.
    counts.failed += Math.max(tests - passed - skipped - todo, summary.success ? 0 : 1);
  });
  for await (const text of stream.compose(spec)) process.stdout.write(text);
  return { ...counts, failed: counts.failed + (signal.aborted ? 1 : 0), notTested };
}

function tell(usage: string): void {
  const sums = sumsOf(readFileSync(usage, 'utf8'));
  const whole = processorSeconds() / 60;
  console.log(`\nprocessor time: ${whole.toFixed(1)} minutes, of it, in seconds:`);
  for (const { what, seconds } of sums.slice(0, mostNamed)) {
    console.log(`${seconds.toFixed(1).padStart(7)}  ${what}`);
  }
}

/** Eight clusters come to at most 4 GiB, half of it logs; files of tests, to a few hundred MB. */
const inMemoryBytes = 5 * 2 ** 30;
/** The type that `statfs` calls a tmpfs. */
const tmpfsType = 0x0102_1994;

/** In memory where it can be: on a disk, making and dropping databases is a quarter of a run. */
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
