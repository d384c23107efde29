// Finds the market that the demo plays on: a running one, or one that it starts and stops itself.

import { type ChildProcess, spawn } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export type Stage = {
  readonly url: string;
  /** Control address of the dev network. */
  readonly dev: string;
  stop(): Promise<void>;
};

/** A real node takes a minute by itself before it makes a block. */
const { PARLEY_JAVA_TRON, PARLEY_SOLANA_VALIDATOR } = process.env;
const startLimitMs = PARLEY_JAVA_TRON || PARLEY_SOLANA_VALIDATOR ? 600_000 : 90_000;
const stopLimitMs = 20_000;
const root = resolve(import.meta.dirname, '..', '..');

type Ready = { ready?: unknown; url?: unknown; dev?: unknown };

/** A running market: its control address is given, or in the file that it writes when ready. */
export async function runningMarket(url: string, dev: string | undefined): Promise<Stage> {
  const control = dev ?? (await announced(url));
  return { url, dev: control, stop: async () => undefined };
}

async function announced(url: string): Promise<string> {
  const file = join(resolve(process.env.PARLEY_HOME ?? join(root, '.parley')), 'ready.json');
  const how = 'say where its dev network is with --dev URL (it prints the address when ready)';
  let ready: Ready;
  try {
    ready = JSON.parse(await readFile(file, 'utf8')) as Ready;
  } catch (cause) {
    throw new Error(`no market has written ${file}: ${how}`, { cause });
  }
  const same = typeof ready.url === 'string' && (await isSamePlace(ready.url, url));
  if (same && typeof ready.dev === 'string') return ready.dev;
  throw new Error(`${file} is of ${String(ready.url)}, not of ${url}: ${how}`);
}

/** Whether both lead to one server: `localhost` is as good as the address that it stands for. */
export async function isSamePlace(a: string, b: string): Promise<boolean> {
  const [one, other] = [new URL(a), new URL(b)];
  if (one.protocol !== other.protocol || one.port !== other.port) return false;
  if (one.hostname === other.hostname) return true;
  const [ones, others] = await Promise.all([addressesOf(one), addressesOf(other)]);
  return ones.some((address) => others.includes(address));
}

async function addressesOf({ hostname }: URL): Promise<string[]> {
  const bare = hostname.replace(/^\[|\]$/g, '');
  const found = await lookup(bare, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/** Starts a market of its own on free ports, its state in a temporary folder; `signal` gives up. */
export async function ownMarket(signal?: AbortSignal): Promise<Stage> {
  const home = await mkdtemp(join(tmpdir(), 'parley-demo-'));
  const child = spawn(process.execPath, [join(root, 'server', 'main.ts'), '--json'], {
    cwd: root,
    env: { ...process.env, ...fresh, PARLEY_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async () => {
    await end(child);
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    const { url, dev } = await readyLine(child, signal);
    return { url, dev, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Settings that a market of one's own must not inherit. */
const fresh = {
  PORT: '0',
  HOST: '127.0.0.1',
  PARLEY_NETWORK: 'dev',
  PARLEY_CHAINS: '',
  PARLEY_ASSETS: '',
  PARLEY_DEV_PORT: '0',
  // Parties settle by themselves here: with the clock moved by days a keeper would be first.
  PARLEY_KEEPER: 'off',
  DATABASE_URL: '',
  PARLEY_LOG_LEVEL: 'warn',
};

function readyLine(
  child: ChildProcess,
  signal: AbortSignal | undefined,
): Promise<{ url: string; dev: string }> {
  return new Promise((accept, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    let said = '';
    const fail = (why: string) => reject(new Error(`the market did not start: ${why}\n${said}`));
    const timer = setTimeout(() => fail(`not ready after ${startLimitMs} ms`), startLimitMs);
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`it ended with ${code}`));
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
    });
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const ready = parsed(line);
      if (ready?.ready !== true) return;
      clearTimeout(timer);
      const { url, dev } = ready;
      if (typeof url === 'string' && typeof dev === 'string') accept({ url, dev });
      else fail(`its ready line names no dev network: ${line}`);
    });
  });
}

function parsed(line: string): Ready | null {
  try {
    return JSON.parse(line) as Ready;
  } catch {
    return null;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
  await ended;
  clearTimeout(timer);
}
