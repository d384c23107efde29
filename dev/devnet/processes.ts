// Child processes of the dev network: tied to our life, ended by steps, found again after a crash.
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endBySteps, type Step } from '@parley/host/end-process.ts';
import { DevnetError } from '@parley/host/failure.ts';
import { freePort } from '@parley/host/free-port.ts';

export const loopback = '127.0.0.1';

const pollMs = 20;
const logLimitBytes = 10 * 1024 * 1024;
const failureTailBytes = 2_000;
const termLimitMs = 20_000;
const killLimitMs = 5_000;
/** The names that programs of the dev network may have; no other process is ever signalled. */
const ourPrograms = /^(anvil(\.exe)?|bitcoind|ld-linux.*|setpriv)$/;

export type Program = {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** Where it runs, what it calls its home, and where its words are kept. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
};

export type Running = {
  readonly child: ChildProcess;
  hasEnded(): boolean;
  stop(): Promise<void>;
};

/**
 * Starts a program that ends when we end, however we end (where `setpriv` is there: Linux). Polls
 * until `probe` gives a value, and fails at once when the program ends.
 */
export async function startProgram<T>(
  program: Program,
  limitMs: number,
  probe: () => Promise<T>,
): Promise<{ readonly running: Running; readonly found: T }> {
  const { name, folder } = program;
  const logFile = join(folder, 'output.log');
  await rotateLog(logFile);
  const log = await open(logFile, 'a', 0o600);
  const logStart = (await log.stat()).size;
  const child = spawned(program, log.fd);
  await log.close();
  let failure: Error | null = null;
  child.once('error', (error) => {
    failure = error;
  });
  const hasEnded = () => failure !== null || child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    if (!hasEnded() && child.pid !== undefined) await endProcess(child.pid);
  };
  let problem: unknown;
  for (const until = performance.now() + limitMs; performance.now() < until && !hasEnded(); ) {
    try {
      return { running: { child, hasEnded, stop }, found: await probe() };
    } catch (error) {
      problem = error;
    }
    await sleep(pollMs);
  }
  const text = (await readFile(logFile)).subarray(logStart).subarray(-failureTailBytes);
  const words = (failure as Error | null)?.message ?? text.toString().trim();
  await stop();
  throw new DevnetError(
    `${name} did not start: ${words.split('\n').at(-1) || 'no answer'}`,
    { log: logFile, words },
    { cause: problem },
  );
}

function spawned({ file, args, folder, env = {} }: Program, output: number): ChildProcess {
  const [first = file, ...rest] = [...tieToParent(), file, ...args];
  const child = spawn(first, rest, {
    cwd: folder,
    // Its own process group: Ctrl-C must reach us alone, we stop it in order.
    detached: true,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', HOME: folder, ...env },
    stdio: ['ignore', output, output],
  });
  child.unref();
  return child;
}

function tieToParent(): readonly string[] {
  if (process.platform !== 'linux') return [];
  for (const file of ['/usr/bin/setpriv', '/bin/setpriv']) {
    // SIGTERM is an orderly end for both programs: anvil and bitcoind save their state.
    if (isExecutable(file)) return [file, '--pdeathsig=TERM', '--'];
  }
  return [];
}

async function endProcess(pid: number): Promise<void> {
  const steps: Step[] = [
    { signal: 'SIGTERM', limitMs: termLimitMs },
    { signal: 'SIGKILL', limitMs: killLimitMs },
  ];
  await endBySteps(pid, steps, isGone);
}

/** Ends what a crash of ours left running: our programs that carry exactly this argument. */
export async function endOrphans(argument: string): Promise<readonly number[]> {
  const ended: number[] = [];
  for (const { pid, command } of await listProcesses()) {
    if (pid === process.pid || !ourPrograms.test(basename(command[0] ?? ''))) continue;
    if (!command.includes(argument)) continue;
    await endProcess(pid);
    ended.push(pid);
  }
  return ended;
}

type Listed = { readonly pid: number; readonly command: readonly string[] };

async function listProcesses(): Promise<readonly Listed[]> {
  if (process.platform !== 'linux') return listWithPs();
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  return Promise.all(pids.map(async (pid) => ({ pid, command: await commandLine(pid) })));
}

/** Empty for a process that is gone or only waits to be reaped. */
async function commandLine(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.split('\0').filter((part) => part !== '');
}

function listWithPs(): Promise<readonly Listed[]> {
  return new Promise((resolve, reject) => {
    const child = spawn('ps', ['-axo', 'pid=,command='], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', () => {
      const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
      resolve(lines.map(([pid, ...command]) => ({ pid: Number(pid), command })));
    });
  });
}

async function isGone(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  return process.platform === 'linux' && (await commandLine(pid)).length === 0;
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first file of this name in a folder of PATH that may be run. */
export function programOnPath(name: string): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name);
    if (folder !== '' && isExecutable(file)) return file;
  }
  return null;
}

async function rotateLog(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found !== null && found.size > logLimitBytes) await rename(file, `${file}.old`);
}

/** The port of the last run from this folder, where it is free. */
export async function keptPort(folder: string): Promise<number> {
  const file = join(folder, 'port');
  const port = await freePort(Number(await readFile(file, 'utf8').catch(() => '0')));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(file, String(port));
  return port;
}
