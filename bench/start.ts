// How long `npm start` takes from nothing, database, chains and contracts made anew, to the line
// that says it is ready, with all four families served.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Ready } from '@parley/market/start/boot.ts';
import { bars } from './bars.ts';
import { atMost, type Effort, inRounds, median, type Row } from './report.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const families = ['bitcoin', 'evm', 'solana', 'tron'];
const patienceMs = 120_000;

export async function benchStart({ rounds }: Pick<Effort, 'rounds'>): Promise<Row[]> {
  return [startRow(await inRounds(rounds, coldStart))];
}

export function startRow(seconds: readonly number[]): Row {
  return atMost(
    'start: npm start from nothing to a ready market with four chains',
    { value: median(seconds), unit: 's', limit: bars.start.readySeconds, bar: 1 },
    `limit; slowest ${Math.max(...seconds).toFixed(1)} s`,
  );
}

export function mustServeAll({ chains }: Ready): void {
  const served = chains.map(({ family }) => family).sort();
  if (String(served) !== String(families)) throw new Error(`only ${served} are served`);
}

async function coldStart(): Promise<number> {
  const home = await mkdtemp(join(tmpdir(), 'parley-start-'));
  const began = performance.now();
  const child = spawn('npm', ['run', '-s', 'start', '--', '--json'], {
    cwd: root,
    env: { ...process.env, PARLEY_HOME: home, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const ready = await readyLine(child, ended);
    const seconds = (performance.now() - began) / 1_000;
    mustServeAll(ready);
    return seconds;
  } finally {
    child.kill('SIGTERM');
    await ended;
    await rm(home, { recursive: true, force: true });
  }
}

/** The line it prints when it is ready. */
export async function readyLine(child: ChildProcess, ended: Promise<unknown>): Promise<Ready> {
  const { stdout } = child;
  if (stdout === null) throw new Error('npm start has no output');
  const signal = AbortSignal.timeout(patienceMs);
  const first = once(createInterface(stdout), 'line', { signal });
  const line = await Promise.race([first, ended.then(() => null)]);
  if (line === null) throw new Error('npm start ended before it was ready');
  return JSON.parse(String(line[0])) as Ready;
}
