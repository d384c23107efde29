// Programs as `npm run` starts them, each in a process of its own, and what they say.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '../support/waiting.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const cli = join(root, 'cli/main.ts');
const limitMs = 900_000;

type Env = Readonly<Record<string, string>>;

/** `npm run -s NAME -- ARGS`; rejects with what it said where its status is not 0. */
export async function npm(name: string, args: readonly string[], env: Env = {}): Promise<string> {
  const options = { cwd: root, env: { ...process.env, ...env }, timeout: limitMs };
  const { stdout } = await run('npm', ['run', '-s', name, '--', ...args], options).catch(failed);
  return stdout;
}

function failed(error: Error & { stdout?: string; stderr?: string }): never {
  const { stdout = '', stderr = '' } = error;
  throw new Error(`${error.message.split('\n')[0]}\n${stdout}${stderr}`, { cause: error });
}

export type Program = {
  readonly child: ChildProcess;
  /** Lines of JSON with this event. */
  events(event: string): Record<string, string>[];
  /** Lines of this level: what somebody has to look at. */
  errors(): Record<string, string>[];
  until(event: string): Promise<Record<string, string>>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
};

/** One that runs until it is told to stop, and writes lines of JSON. */
export function started(entry: string, args: readonly string[], env: Env = {}): Program {
  const flags = ['--disable-warning=ExperimentalWarning', join(root, entry), ...args];
  const child = spawn(process.execPath, flags, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const exited = once(child, 'exit');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const lines = () =>
    out
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Record<string, string>);
  const events = (event: string) => lines().filter((line) => line.event === event);
  return {
    child,
    events,
    errors: () => lines().filter(({ level }) => level === 'error'),
    until: async (event) => {
      await waitUntil(() => hasEnded() || events(event).length > 0);
      const found = events(event).at(-1);
      if (found === undefined) throw new Error(`${entry} ended:\n${out}${errors}`);
      return found;
    },
    kill: async (signal) => {
      if (!hasEnded()) child.kill(signal);
      await exited;
    },
  };
}

export type Person = (...args: string[]) => Promise<Record<string, unknown>>;

/** A customer with a home: each call is a command of `parley`, its answer the last JSON. */
export async function person(home: string): Promise<Person> {
  await mkdir(home, { recursive: true });
  const { NODE_OPTIONS: _, XDG_CONFIG_HOME: __, XDG_DATA_HOME: ___, ...rest } = process.env;
  const options = { cwd: home, env: { ...rest, HOME: home }, timeout: limitMs };
  return async (...args) => {
    const command = [cli, ...args, '--json', '--yes'];
    const { stdout } = await run(process.execPath, command, options).catch(failed);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown>;
  };
}

/** Of one's own nodes alone: no public network is reached here. */
export async function ownNodes(home: string, nodes: Readonly<Record<string, unknown>>) {
  const file = join(home, '.config/parley/default.json');
  const profile = JSON.parse(await readFile(file, 'utf8'));
  for (const [chain, of] of Object.entries(profile.chains)) {
    (of as { nodes: unknown }).nodes = [nodes[chain]];
  }
  await writeFile(file, JSON.stringify(profile), { mode: 0o600 });
}
