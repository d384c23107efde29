// Starts the whole market as `npm start` does: a process of its own, with real chains and database.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Ready } from '@parley/market/start/boot.ts';
import { shared } from './shared.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const launcher = fileURLToPath(new URL('../../../scripts/launch.mjs', import.meta.url));
/** Generous: test files share two cores. */
const startLimitMs = 120_000;

export type RunningMarket = {
  readonly ready: Ready;
  readonly home: string;
  readonly child: ChildProcess;
  /** Its standard error so far. */
  log(): string;
  /** SIGTERM, waits for the end, gives the exit code. */
  stop(): Promise<number | null>;
  /** kill -9 of the process alone: its children are left behind. */
  kill(): Promise<void>;
};

/** The steps that end the processes of each home. */
const ends = new Map<string, (() => Promise<unknown>)[]>();

/** A fresh PARLEY_HOME, gone when the test ends, after the markets that were started in it. */
export async function newHome(t: Ending): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'parley-market-'));
  t.after(async () => {
    for (const end of ends.get(home) ?? []) await end();
    ends.delete(home);
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  return home;
}

/** The end of a test, or of whoever undoes its steps by itself. */
export type Ending = { after(step: () => Promise<unknown>): void };

/** Throws with what it printed when it does not get ready. The end of `t` ends it. */
export async function startMarketProcess(
  t: Ending,
  home: string,
  env: Readonly<Record<string, string>> = {},
  command: readonly string[] = [process.execPath, launcher, 'apps/market/main.ts', '--json'],
): Promise<RunningMarket> {
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: root,
    env: { ...process.env, PARLEY_HOME: home, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
  };
  ends.set(home, [...(ends.get(home) ?? []), end]);
  t.after(end);
  const line = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const first = await Promise.race([line, ended.then(() => null), limit()]);
  if (first === null) {
    child.kill('SIGKILL');
    throw new Error(`the market did not get ready:\n${errors}`);
  }
  return {
    ready: JSON.parse(first[0]) as Ready,
    home,
    child,
    log: () => errors,
    stop: async () => {
      child.kill('SIGTERM');
      return (await ended)[0];
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * The market of the files of a process, each with people of its own: clocks are where others moved
 * them.
 */
export const sharedMarket = shared(openMarket, ({ close }) => close());

/** Between two looks of the market at a chain; its own 300 ms are an eighth more of its time. */
const slower = { PARLEY_FOLLOW_INTERVAL_MS: '1000' };

export type OpenMarket = RunningMarket & { close(): Promise<void> };

/** In a home of its own, which `close` removes. */
export async function openMarket(env: Readonly<Record<string, string>> = {}): Promise<OpenMarket> {
  const undo: (() => Promise<unknown>)[] = [];
  const end: Ending = { after: (step) => undo.unshift(step) };
  const close = async () => {
    for (const step of undo) await step();
  };
  try {
    const market = await startMarketProcess(end, await newHome(end), { ...slower, ...env });
    return { ...market, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function limit(): Promise<null> {
  await sleep(startLimitMs, undefined, { ref: false });
  return null;
}

/** Processes whose command line names the folder: those that a market started and left. */
export async function processesIn(home: string): Promise<string[]> {
  const ps = spawn('ps', ['-eo', 'pid=,args='], { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  ps.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  await once(ps, 'close');
  return output.split('\n').filter((each) => each.includes(home) && !each.includes('ps -eo'));
}
