// Seeds spread over processes, one a core. Those of markets have a database each, in one cluster
// that need not survive anything. Which process runs a seed makes no difference to it.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { crashed } from '../planted/bugs.ts';
import { testDatabase } from '../support/database.ts';

export type Done = {
  readonly seed: number;
  readonly violations: readonly { readonly rule: string; readonly what: string }[];
  readonly story: readonly string[];
  readonly counts: readonly (readonly [string, number])[];
};

/** Markets have a database each; a driver of one side has none. */
export type World = 'markets' | 'driver' | 'python';
const programs: Readonly<Record<World, string>> = {
  markets: fileURLToPath(new URL('worker.ts', import.meta.url)),
  driver: fileURLToPath(new URL('driver/worker.ts', import.meta.url)),
  python: fileURLToPath(new URL('driver/python-worker.ts', import.meta.url)),
};

/** A seed that takes longer hangs: it takes one second or two. */
const seedLimitMs = 5 * 60_000;

/** Whether nobody else uses the cluster, now or later. */
const isOwnCluster =
  process.env.PARLEY_TEST_DATABASE_URL === undefined &&
  process.env.PARLEY_TEST_CLUSTERS === undefined;

/** Data lost when the machine stops is of no use then. */
async function openPlace() {
  const place = await testDatabase({ connections: 1 });
  const run = (text: string) => place.db.rows({ name: '', text, values: [] });
  await run(`do $$ begin execute format('alter database %I set synchronous_commit = off',
    current_database()); end $$`);
  if (!isOwnCluster) return place;
  for (const name of ['fsync', 'full_page_writes', 'autovacuum']) {
    await run(`alter system set ${name} = off`);
  }
  await run('select pg_reload_conf()');
  return place;
}

type Place = {
  readonly world: World;
  readonly url: string;
  /** More of its environment. */
  readonly env?: NodeJS.ProcessEnv | undefined;
};

/** Before that no seed is to blame for the end of its process. */
async function begin({ world, url, env }: Place) {
  const given = { execArgv: process.execArgv, env: { ...process.env, ...env } };
  const child = fork(programs[world], [url], given);
  const ended = once(child, 'exit').then(([code, signal]) => {
    return `its process ended with ${code ?? signal}`;
  });
  const said = await Promise.race([once(child, 'message'), ended]);
  if (typeof said === 'string') throw new Error(`no seed was begun: ${said}`);
  return { child, ended };
}

type Begun = { readonly child: ChildProcess; readonly ended: Promise<string> };

async function simulated({ child, ended }: Begun, seed: number): Promise<Done> {
  const limit = setTimeout(() => child.kill('SIGKILL'), seedLimitMs);
  child.send({ seed });
  const said = await Promise.race([once(child, 'message'), ended]);
  clearTimeout(limit);
  if (typeof said !== 'string') return said[0];
  const violations = [{ rule: crashed.ended, what: said }];
  return { seed, violations, story: [], counts: [] };
}

/** One process after the other where one dies, until there is no seed left. */
async function work(place: Place, seeds: Iterable<number>, onDone: (done: Done) => void) {
  let begun: Begun | null = null;
  for (const seed of seeds) {
    begun ??= await begin(place);
    onDone(await simulated(begun, seed));
    if (begun.child.exitCode !== null || begun.child.signalCode !== null) begun = null;
  }
  begun?.child.kill('SIGKILL');
}

export async function runCrew(
  seeds: readonly number[],
  { world, workers, env }: Omit<Place, 'url'> & { readonly workers: number },
  onDone: (done: Done) => void,
): Promise<void> {
  const waiting = seeds.values();
  const running = Array.from({ length: Math.min(workers, seeds.length) }, async () => {
    if (world !== 'markets') return work({ world, url: '', env }, waiting, onDone);
    const { url, drop } = await openPlace();
    await work({ world, url, env }, waiting, onDone).finally(drop);
  });
  await Promise.all(running);
}
