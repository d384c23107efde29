// Seeds spread over processes, one a core, each with a database of its own in one cluster that
// need not survive anything. Which process runs a seed makes no difference to it.

import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { testDatabase } from '../support/database.ts';
import type { Done, Job, Loaded } from './worker.ts';

const program = fileURLToPath(new URL('worker.ts', import.meta.url));

/** A seed that takes longer hangs: it takes one second or two. */
const seedLimitMs = 5 * 60_000;

export type Crew = {
  readonly seeds: readonly number[];
  readonly workers: number;
  /** Asked before each seed: whether another one is begun after so many. */
  readonly goesOn: (begun: number) => boolean;
  readonly onDone: (done: Done) => void;
};

export const mostWorkers = availableParallelism();

type Place = { readonly url: string; drop(): Promise<void> };

/** Before that no seed is to blame for the end of its process. */
const loaded: Loaded = 'loaded';

/** Whether nobody else uses the cluster, now or later. */
const isOwnCluster =
  process.env.PARLEY_TEST_DATABASE_URL === undefined &&
  process.env.PARLEY_TEST_CLUSTERS === undefined;

/** What is lost when the machine stops is of no use then. */
async function hurry({ db }: Awaited<ReturnType<typeof testDatabase>>): Promise<void> {
  const run = (text: string) => db.rows({ name: '', text, values: [] });
  if (isOwnCluster) {
    for (const name of ['fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum']) {
      await run(`alter system set ${name} = off`);
    }
    await run('select pg_reload_conf()');
    return;
  }
  await run(`do $$ begin execute format('alter database %I set synchronous_commit = off',
    current_database()); end $$`);
}

async function openPlaces(count: number): Promise<Place[]> {
  const places: Place[] = [];
  for (let made = 0; made < count; made += 1) {
    const place = await testDatabase({ connections: 1 });
    if (made === 0 || !isOwnCluster) await hurry(place);
    places.push(place);
  }
  return places;
}

type Next = () => number | undefined;

/** Processes, one after the other where one dies or hangs, until there is no seed left. */
async function work(url: string, next: Next, crew: Crew): Promise<void> {
  while (!(await workOn(url, next, crew)));
}

function workOn(url: string, next: Next, { onDone }: Crew): Promise<boolean> {
  // In a group of its own: what stops the whole group of this process leaves it alone, from its
  // first moment on.
  const options = { execArgv: process.execArgv, detached: true };
  const child: ChildProcess = fork(program, [url], options);
  return new Promise((resolve, reject) => {
    let current: number | undefined;
    let limit: NodeJS.Timeout | undefined;
    let isLoaded = false;
    const fail = (what: string) => {
      if (current === undefined) return;
      const violations = [{ rule: 'a seed comes to its end', what }];
      onDone({ seed: current, violations, story: [], counts: [] });
      current = undefined;
      child.kill('SIGKILL');
      resolve(false);
    };
    const begin = () => {
      clearTimeout(limit);
      current = next();
      if (current === undefined) {
        child.kill('SIGKILL');
        return resolve(true);
      }
      limit = setTimeout(() => fail('it hangs'), seedLimitMs);
      child.send({ seed: current } satisfies Job);
    };
    child.on('message', (said: Done | Loaded) => {
      if (said === loaded) {
        isLoaded = true;
        return;
      }
      onDone(said);
      begin();
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(limit);
      const what = `its process ended with ${code ?? signal}`;
      if (isLoaded) fail(what);
      else reject(new Error(`seed ${current} was not begun: ${what}`));
    });
    begin();
  });
}

export async function runCrew(crew: Crew): Promise<void> {
  const waiting = [...crew.seeds];
  const begun = () => crew.seeds.length - waiting.length;
  const next = () => (crew.goesOn(begun()) ? waiting.shift() : undefined);
  const places = await openPlaces(Math.min(crew.workers, Math.max(1, waiting.length)));
  try {
    await Promise.all(places.map(({ url }) => work(url, next, crew)));
  } finally {
    for (const place of places) await place.drop();
  }
}
